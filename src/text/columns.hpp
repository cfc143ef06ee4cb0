#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace braid::text {

/// The text if it fits `width` columns, else its start and "…".
std::string clipped(std::string_view text, std::size_t width);
/// Clipped, and filled with spaces on the right (or left) to exactly `width` columns.
std::string padded(std::string_view text, std::size_t width);
std::string padded_left(std::string_view text, std::size_t width);

/// One cell of a table.
struct Cell {
    std::string text;
    bool right = false;             // numbers
    std::string_view style = {};    // written before it
    std::string_view unstyle = {};  // and after it
};
using Cells = std::vector<Cell>;

/// The widest cell of each column.
std::vector<std::size_t> column_widths(std::span<const Cells> rows);
/// A row with its cells in columns of these widths, two spaces between them, none at the end.
std::string aligned(const Cells& row, std::span<const std::size_t> widths);

inline constexpr std::size_t kColumnGap = 2;

}  // namespace braid::text
