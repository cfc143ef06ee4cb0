#pragma once

#include <cstddef>
#include <string_view>

namespace braid::text {

/// The longest prefix of at most `bytes` bytes that ends between two characters as readers see
/// them: not between a letter and its accent, nor inside an emoji of several code points. Where the
/// first such character is longer than that, the longest prefix that ends between code points.
std::string_view cut_at_grapheme(std::string_view text, std::size_t bytes) noexcept;

}  // namespace braid::text
