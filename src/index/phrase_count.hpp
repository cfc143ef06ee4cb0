#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "braid/text/analyzer.hpp"

namespace braid::index {

/// A phrase: one of the terms of each place, at the offsets of the places.
struct Phrase {
    std::vector<std::vector<std::string_view>> places;
    std::span<const std::uint32_t> offsets;
    std::uint32_t between = 0;
};

/// How often a text holds a phrase. With words allowed in between: in how many stretches, none of
/// which overlap, all of its words stand in any order, with at most so many others among them.
std::uint32_t count_phrase(const Phrase& phrase, std::span<const text::Token> tokens);

}  // namespace braid::index
