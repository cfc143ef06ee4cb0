#include "braid/engine/language_guess.hpp"

#include "braid/core/utf8.hpp"
#include "braid/text/language.hpp"

namespace braid::engine {

void LanguageGuess::add(std::string_view text) {
    if (sample_.size() >= kSampleBytes) return;
    sample_ += core::cut_at_most(text, kSampleBytes - sample_.size());
    sample_ += '\n';
}

std::optional<std::string> LanguageGuess::foreign() const {
    if (sample_.size() < kEnoughBytes) return std::nullopt;
    const auto language = text::foreign_language(sample_);
    return language ? std::optional<std::string>(*language) : std::nullopt;
}

}  // namespace braid::engine
