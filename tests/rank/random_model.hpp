#pragma once

#include <random>
#include <vector>

#include "braid/rank/model.hpp"

namespace braid::rank {

inline double in_unit(std::mt19937_64& rng) {
    return std::uniform_real_distribution<double>(-1, 1)(rng);
}

/// A tree that leaves grow on at random places; thresholds are few, so that rows meet them.
inline Tree random_tree(std::mt19937_64& rng, std::size_t leaves) {
    Tree tree;
    tree.leaves.push_back(in_unit(rng));
    // Where each leaf hangs: its node and side. The first has none yet.
    std::vector<std::int32_t*> hangs{nullptr};
    tree.nodes.reserve(leaves);
    while (tree.leaves.size() < leaves) {
        const std::size_t split = rng() % tree.leaves.size();
        const auto node = static_cast<std::int32_t>(tree.nodes.size());
        tree.nodes.push_back({static_cast<std::uint16_t>(rng() % kFeatures),
                              static_cast<double>(rng() % 9) / 4 - 1,
                              ~static_cast<std::int32_t>(split),
                              ~static_cast<std::int32_t>(tree.leaves.size()), in_unit(rng)});
        if (hangs[split] != nullptr) *hangs[split] = node;
        hangs[split] = &tree.nodes.back().left;
        hangs.push_back(&tree.nodes.back().right);
        tree.leaves.push_back(in_unit(rng));
    }
    return tree;
}

inline Model random_model(std::mt19937_64& rng, std::size_t trees) {
    Model::Parts parts;
    parts.prior = 3.7;
    for (std::size_t f = 0; f < kFeatures; ++f) {
        if (features()[f].unit && rng() % 2 == 0) parts.linear[f] = 9 * in_unit(rng);
    }
    for (std::size_t i = 0; i < trees; ++i) {
        parts.trees.push_back(random_tree(rng, 1 + rng() % kMaxLeaves));
    }
    return Model::create(std::move(parts)).value();
}

/// Values that often equal a threshold.
inline Vector random_row(std::mt19937_64& rng) {
    Vector row;
    for (double& x : row) {
        x = rng() % 3 == 0 ? in_unit(rng) : static_cast<double>(rng() % 9) / 4 - 1;
    }
    return row;
}

}  // namespace braid::rank
