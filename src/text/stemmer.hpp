#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sb_stemmer;

namespace braid::text {

/// Snowball stemming of one language, with a memory of recent words. Not safe for concurrent use:
/// each thread needs its own.
class Stemmer {
public:
    /// `language` by full name, as language_by_name() gives it. "none" stems nothing.
    explicit Stemmer(std::string_view language);

    /// Replaces a case-folded, composed word by its stem.
    void stem(std::string& word);

private:
    struct Delete {
        void operator()(sb_stemmer* stemmer) const noexcept;
    };
    /// Words follow Zipf's law: most of a text is made of words seen shortly before.
    struct Remembered {
        static constexpr std::size_t kBytes = 15;
        std::uint8_t word_size = 0;
        std::uint8_t stem_size = 0;
        std::array<char, kBytes> word{};
        std::array<char, kBytes> stem{};
    };

    void stem_unremembered(std::string& word);

    std::unique_ptr<sb_stemmer, Delete> stemmer_;  // null: "none"
    std::vector<Remembered> memory_;
};

/// The languages that can be stemmed, sorted, and "none".
std::span<const std::string_view> stemmer_languages() noexcept;

/// The full name of a language given by name, ISO 639 code (`de`, `deu`) or locale (`de-AT`), in
/// any case.
std::optional<std::string_view> language_by_name(std::string_view name);

}  // namespace braid::text
