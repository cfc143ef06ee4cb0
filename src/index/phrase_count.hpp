#pragma once

#include <cstdint>
#include <span>

namespace braid::index {

/// A phrase: one word at each of its places, at their offsets.
struct Phrase {
    std::span<const std::uint32_t> offsets;  // of the places, in words, from the first
    /// For each place, the first place with the same word.
    std::span<const std::uint32_t> same;
    std::uint32_t between = 0;
};

/// How often a text contains a phrase. If words are allowed in between: the number of
/// non-overlapping stretches in which all of its words occur in any order with at most that many
/// others among them. `positions`: for each place, the ascending positions of its word; the same
/// list may be given several times.
std::uint32_t count_phrase(const Phrase& phrase,
                           std::span<const std::span<const std::uint32_t>> positions);

}  // namespace braid::index
