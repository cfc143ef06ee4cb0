#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace braid::engine {

/// Notices text that a model of English does not understand: counts letters by script and the small
/// words that give a language away. Cheap, coarse, and silent until it has seen enough.
class LanguageGuess {
public:
    void add(std::string_view text);

    /// "German", "a script other than Latin", or nothing while the text looks English, is too short
    /// to tell, or is no prose at all.
    std::optional<std::string> foreign() const;

private:
    static constexpr std::size_t kLanguages = 7;

    void count_word(std::string_view word);

    std::uint64_t latin_letters_ = 0;
    std::uint64_t other_letters_ = 0;
    std::uint64_t words_ = 0;
    std::array<std::uint64_t, kLanguages> small_words_{};  // English first
};

}  // namespace braid::engine
