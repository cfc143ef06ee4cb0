#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace braid::engine {

/// Notices text that an English model does not understand, from the first few thousand bytes it is
/// given. Silent until it has seen enough.
class LanguageGuess {
public:
    void add(std::string_view text);

    /// "German", "a script other than Latin", or nothing while the text looks English, is too short
    /// to tell, or is no prose at all.
    std::optional<std::string> foreign() const;

private:
    static constexpr std::size_t kSampleBytes = 4000;
    static constexpr std::size_t kEnoughBytes = 1000;

    std::string sample_;
};

}  // namespace braid::engine
