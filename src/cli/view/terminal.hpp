#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "braid/text/columns.hpp"

namespace braid::cli {

/// A text fit to be shown: each stretch of white space and control characters becomes one space,
/// marks that change the direction of writing and bytes that are no UTF-8 are dropped. What a
/// document holds can thus neither move the cursor nor break a line.
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
/// `width` columns (4 at least); the last one ends in " …" if more follows. Marked pieces are put
/// in the style's match colour, or between asterisks without colours.
std::vector<std::string> wrapped(const std::vector<Piece>& pieces, std::size_t width,
                                 std::size_t max_lines, const Style& style);

/// A text as it was written, line by line: blank lines and indents stay, lines longer than `width`
/// columns are broken between words. Other white space and control characters are as in plain().
std::vector<std::string> text_lines(std::string_view text, std::size_t width);

/// Columns of the terminal `descriptor`, or COLUMNS, or 80; from 40 to 200.
std::size_t terminal_width(int descriptor);

}  // namespace braid::cli
