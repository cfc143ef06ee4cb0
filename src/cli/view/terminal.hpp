#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "braid/text/columns.hpp"

namespace braid::cli {

/// A text made safe to show: each stretch of white space and control characters becomes one space;
/// marks that change the direction of writing, and bytes that are not UTF-8, are dropped. So
/// nothing in a document can move the cursor or break a line.
std::string plain(std::string_view text);

using text::clipped;
using text::padded;
using text::padded_left;

/// Text styles; empty strings when there are no colours.
struct Style {
    std::string_view bold;
    std::string_view dim;
    std::string_view accent;  // ranks, bars
    std::string_view match;   // words of the query
    std::string_view warning;
    std::string_view reset;

    bool colored() const noexcept { return !reset.empty(); }

    static Style colors();
    static Style none() { return {}; }
};

/// Part of a text that is shown in one way.
struct Piece {
    std::string text;
    bool marked = false;
};

/// Breaks a text between words, or between wide characters, into at most `max_lines` lines of
/// `width` columns (at least 4); the last one ends in " …" if more follows. Marked pieces get the
/// style's match colour, or asterisks if there are no colours.
std::vector<std::string> wrapped(const std::vector<Piece>& pieces, std::size_t width,
                                 std::size_t max_lines, const Style& style);

/// A text as written, line by line: blank lines and indents stay, lines longer than `width` columns
/// are broken between words. Other white space and control characters are treated as in plain().
std::vector<std::string> text_lines(std::string_view text, std::size_t width);

/// Columns of the terminal `descriptor`, or COLUMNS, or 80; from 40 to 200.
std::size_t terminal_width(int descriptor);

}  // namespace braid::cli
