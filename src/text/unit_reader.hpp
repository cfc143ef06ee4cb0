#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "braid/text/char_info.hpp"

namespace braid::text {

/// A character as readers see it: a base character and its marks, folded and composed.
struct Unit {
    std::string text;  // UTF-8
    CharKind kind = CharKind::Separator;
    LetterCase letter_case = LetterCase::None;
    PairScript script = PairScript::None;
    std::uint32_t begin = 0;  // bytes of the text it comes from
    std::uint32_t end = 0;

    /// The ASCII character it is; '\0' if it is none.
    char ascii() const noexcept { return text.size() == 1 ? text[0] : '\0'; }
    bool is_word() const noexcept { return kind == CharKind::Letter || kind == CharKind::Digit; }
};

/// Walks a text unit by unit. Ignored characters are passed over, bytes that are no UTF-8 read as
/// separators; a mark without a base is a separator too. `text` must outlive the reader and be
/// shorter than 4 GiB.
class UnitReader {
public:
    /// Turkish and Azeri fold I to ı, and İ to i.
    UnitReader(std::string_view text, bool turkish) noexcept;

    /// Goes to the unit that starts at byte `at`, a character boundary.
    void seek(std::size_t at);

    bool at_end() const noexcept { return at_end_; }
    /// Requires !at_end().
    const Unit& unit() const noexcept { return unit_; }
    void advance();

    /// Whether unit() is the first that its character of the text gave, so that seek(unit().begin)
    /// would come back to it. (`㏂` gives four units, a, ., m and .)
    bool at_boundary() const noexcept { return unit_is_first_; }

private:
    /// A folded character and where it came from.
    struct Char {
        CharInfo info;
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        bool first = true;  // of those its character of the text gave
        bool present = false;
    };

    void read_char();
    CharInfo folded(char32_t code_point) const noexcept;
    void read_unit();

    std::string_view text_;
    bool turkish_;
    std::size_t next_ = 0;  // byte after what was decoded
    Char ahead_;
    Expansion expansion_;
    std::size_t expanded_ = 0;  // of expansion_ already handed out
    Unit unit_;
    bool unit_is_first_ = true;
    bool at_end_ = false;
};

}  // namespace braid::text
