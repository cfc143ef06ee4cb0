#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace braid::text {

/// The known name a user most likely meant, for "did you mean" in errors: core::nearest.
std::optional<std::string_view> nearest_name(std::string_view wanted,
                                             std::span<const std::string_view> known);

/// Up to `count` known names, nearest first (edit distance without ASCII case, then their order in
/// `known`), however far they are.
std::vector<std::string_view> nearest_names(std::string_view wanted,
                                            std::span<const std::string_view> known,
                                            std::size_t count);

}  // namespace braid::text
