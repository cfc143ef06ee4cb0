#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "braid/fusion/fuse.hpp"

namespace braid::fusion {

/// One thing that tells which leg to trust for a query. It moves the dense leg's weight by
/// coefficient * (value - usual).
struct Signal {
    std::string_view name;
    double value = 0;
    double usual = 0;
    double coefficient = 0;
};

/// How the two legs of one query are weighed: `base`, moved by each signal in this order and kept
/// from `lowest` to `highest`, is the dense leg's weight; the sparse leg has what is left of 1.
struct Choice {
    double base = 0;
    std::vector<Signal> signals;
    double lowest = 0;
    double highest = 1;
    double dense_weight = 0;
};

/// Weighs the legs by their scores over the union of both, as Reader::score completes them:
///   agreement  the correlation of the two scores, over the chunks that have both. Legs that
///              contradict each other speak for the dense one: words then match by chance.
///   lead       by how much of the best sparse score the tenth is below it. A passage that stands
///              out by its words speaks for the sparse leg.
/// A pure function of the scores, in any order: what is not in the lists, or hidden from who asks,
/// has no say. Decision 0049 has the constants' origin.
/// The dense leg has at most `most`.
Choice choose_weights(std::span<const Entry> dense, std::span<const Entry> sparse, double most = 1);

}  // namespace braid::fusion
