#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace braid::text {

/// What a character is to the standard analyzer.
enum class CharKind : std::uint8_t {
    Separator,  // ends a word
    Ignored,    // as if it were not there: joiners and soft hyphens, direction marks
    Letter,
    Digit,
    Pair,    // of a script written without spaces between words: indexed in pairs
    Symbol,  // a pictograph: a word of its own
    Mark,    // belongs to the character before it
    Joiner,  // may stand inside a compound: one of ' - . , _ @ : & + #
};

enum class LetterCase : std::uint8_t { None, Lower, Upper };

/// The script of a CharKind::Pair character; pairs never span two scripts.
enum class PairScript : std::uint8_t {
    None,
    Han,
    Hiragana,
    Katakana,
    Hangul,
    Thai,
    Lao,
    Khmer,
    Myanmar,
    Flags,  // regional indicators: two of them show a flag
};

/// A character after NFKC and case folding, where the result is a single character.
struct CharInfo {
    char32_t folded = 0;
    CharKind kind = CharKind::Separator;
    LetterCase letter_case = LetterCase::None;  // before folding
    PairScript script = PairScript::None;
    bool expands = false;  // folds to several characters: ask expand()
};

/// The longest expansion is that of U+FDFA (18 characters); a fraction gets a separator in front.
inline constexpr std::size_t kMaxExpansion = 24;

struct Expansion {
    std::array<CharInfo, kMaxExpansion> chars;
    std::size_t size = 0;
};

/// Requires a Unicode scalar value.
CharInfo char_info(char32_t code_point) noexcept;

/// The characters that `code_point` folds to, for one whose CharInfo says `expands`.
Expansion expand(char32_t code_point) noexcept;

/// Composes a base character and the marks after it (NFC), in place; returns how many remain.
std::size_t compose(char32_t* code_points, std::size_t count) noexcept;

}  // namespace braid::text
