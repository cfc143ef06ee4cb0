#pragma once

#include <cstdint>
#include <span>

namespace braid::index {

/// A phrase: one word at each of its places, at their offsets.
struct Phrase {
    std::span<const std::uint32_t> offsets;  // of the places, in words, from the first
    /// Of each place, the first place with the same word.
    std::span<const std::uint32_t> same;
    std::uint32_t between = 0;
};

/// How often a text holds a phrase. With words allowed in between: in how many stretches, none of
/// which overlap, all of its words stand in any order, with at most so many others among them.
/// `positions`: where the word of each place stands, ascending; one may be named several times.
std::uint32_t count_phrase(const Phrase& phrase,
                           std::span<const std::span<const std::uint32_t>> positions);

}  // namespace braid::index
