#pragma once

#include <cstddef>
#include <string_view>

namespace braid::text {

/// Columns a character takes on a terminal: 2 for CJK and most emoji, 0 for combining marks,
/// joiners and controls.
std::size_t display_width(char32_t code_point) noexcept;

/// The same of a whole text; bytes that are no UTF-8 take one column where they stand.
std::size_t display_width(std::string_view text) noexcept;

}  // namespace braid::text
