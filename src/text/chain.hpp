#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/text/unit_reader.hpp"

namespace braid::text {

/// A piece of a text: its folded form and the bytes it came from.
struct Piece {
    std::string_view text;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

/// What stands between two separators: a word, or several joined by punctuation, case or digits.
///
/// Joiners: `_`, one of `- . @`, `::`, between letters also `& '`, between digits also `,`. A chain
/// may start with `.` (`.NET`) or `_`, and end with `_`, `+`, `++` or `#` (`C++`, `C#`).
///
/// One object reads one chain after the other, and never keeps more than a few hundred bytes: a
/// longer word is cut, a longer chain ends at its next joiner.
class Chain {
public:
    struct Part : Piece {
        Piece with_suffix{};  // `C++` of the part `C`; empty text if nothing was attached
    };

    /// Reads the chain that starts at reader.unit(), a word or a joiner, and leaves the reader
    /// after it; at least one unit is read. False if no word was in it. A leading `.` counts only
    /// if `may_start_with_dot`.
    bool read(UnitReader& reader, bool may_start_with_dot);

    /// Words in order: split at joiners, where lower case turns to upper, and between letters and
    /// digits if these meet but once. Contractions (`don't`) and numbers (`3.14`) are one part.
    /// Initials (`U.S.A.`) are one part, the letters. The views hold until the next read().
    std::span<const Part> parts() const noexcept { return parts_; }

    /// A chain that is more than its one part: all of it as written, but for a possessive `'s`.
    /// Empty text for a plain word, and for what is longer than kMaxTermBytes.
    const Piece& whole() const noexcept { return whole_; }

    /// Whether there is no punctuation in whole(): `getUserName`, `utf8`.
    bool is_one_word() const noexcept { return one_word_; }

private:
    /// One unit of the chain.
    struct Link {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        std::uint32_t text = 0;  // offset into text_
        CharKind kind = CharKind::Joiner;
        LetterCase letter_case = LetterCase::None;
        char ascii = '\0';

        bool is_word() const noexcept { return kind != CharKind::Joiner; }
    };
    /// Links [first, last) are one word; its suffix, if any, ends before suffix_last.
    struct Atom {
        std::size_t first = 0;
        std::size_t last = 0;
        std::size_t suffix_last = 0;
    };

    void push(const Unit& unit);
    bool may_push_joiner(char joiner, bool may_start_with_dot) const noexcept;
    bool may_push_word(const Unit& unit) const noexcept;
    void drop_tail(bool before_word);
    std::string_view tail() const noexcept;

    void find_atoms();
    bool is_number_point(std::size_t link) const noexcept;
    std::size_t contraction_end(std::size_t apostrophe) const noexcept;
    bool is_initials() const noexcept;
    void collapse_initials();
    void split(const Atom& atom);
    bool case_turns(std::size_t link, const Atom& atom) const noexcept;
    void split_digits(std::size_t first, std::size_t last);
    Piece piece(std::size_t first, std::size_t last) const noexcept;
    void find_whole();

    std::string text_;
    std::vector<Link> links_;
    std::size_t words_end_ = 0;   // links from here on are joiners after the last word
    std::size_t word_start_ = 0;  // in text_, of the word being read
    std::vector<Atom> atoms_;
    std::vector<Part> parts_;
    Piece whole_;
    std::string initials_;
    bool one_word_ = false;
};

}  // namespace braid::text
