#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace braid::core {

/// The text with A to Z as a to z; other bytes stay.
std::string ascii_lower(std::string_view text);

/// How many bytes must be inserted, deleted, replaced or swapped with their neighbour to turn `a`
/// into `b` (optimal string alignment). A distance above `limit` is returned as limit + 1. Costs
/// O(|a| * |b|).
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// The known word that `word` was probably meant to be: the one at the least edit distance, the
/// first among equals; nullopt if every one differs in more than a third of the longer word's
/// length. Case is ignored. None for a word of more than 64 bytes.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> known);

}  // namespace braid::core
