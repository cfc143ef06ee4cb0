#include "braid/rank/model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

namespace braid::rank {
namespace {

tl::unexpected<Error> no_tree(std::size_t tree, const std::string& why) {
    return invalid_argument("tree " + std::to_string(tree) + " of the model is invalid: " + why);
}

/// Every node and every leaf is reached exactly once from the root.
Result<> check_shape(const Tree& tree, std::size_t number) {
    if (tree.leaves.size() != tree.nodes.size() + 1 || tree.leaves.size() > kMaxLeaves) {
        return no_tree(number, std::to_string(tree.nodes.size()) + " nodes and " +
                                   std::to_string(tree.leaves.size()) + " leaves, of at most " +
                                   std::to_string(kMaxLeaves));
    }
    std::vector<bool> node_seen(tree.nodes.size(), false);
    std::vector<bool> leaf_seen(tree.leaves.size(), false);
    if (!node_seen.empty()) node_seen[0] = true;
    for (const Tree::Node& node : tree.nodes) {
        for (const std::int32_t child : {node.left, node.right}) {
            std::vector<bool>& seen = child < 0 ? leaf_seen : node_seen;
            const auto place = static_cast<std::size_t>(child < 0 ? ~child : child);
            if (place >= seen.size() || seen[place]) {
                return no_tree(number, "its nodes do not form a tree");
            }
            seen[place] = true;
        }
    }
    // Each child once and the root never: a part that hangs together in a ring has no way in.
    std::vector<std::size_t> open{0};
    std::size_t reached = 0;
    while (!open.empty() && !tree.nodes.empty()) {
        const Tree::Node& node = tree.nodes[open.back()];
        open.pop_back();
        ++reached;
        for (const std::int32_t child : {node.left, node.right}) {
            if (child >= 0) open.push_back(static_cast<std::size_t>(child));
        }
    }
    if (reached != tree.nodes.size()) return no_tree(number, "its nodes do not form a tree");
    return {};
}

Result<> check_values(const Tree& tree, std::size_t number) {
    for (const Tree::Node& node : tree.nodes) {
        if (node.feature >= kFeatures) {
            return no_tree(number, "there is no feature " + std::to_string(node.feature));
        }
        if (!std::isfinite(node.threshold) || !std::isfinite(node.value)) {
            return no_tree(number, "a number is not finite");
        }
    }
    if (!std::ranges::all_of(tree.leaves, [](double x) { return std::isfinite(x); })) {
        return no_tree(number, "a number is not finite");
    }
    return {};
}

/// The values of a tree's leaves and nodes.
template <class Use>
void for_each_value(Tree& tree, const Use& use) {
    for (double& leaf : tree.leaves) use(leaf);
    for (Tree::Node& node : tree.nodes) use(node.value);
}

/// Rounds all values to multiples of the finest power of two that keeps every sum of theirs, and of
/// weighted features, exact. Says which: 2 to the power of minus that.
Result<int> round_values(std::vector<Tree>& trees, const Vector& linear) {
    double bound = 0;
    for (const double weight : linear) bound += 2 * std::abs(weight);
    for (Tree& tree : trees) {
        double largest = 0;
        for_each_value(tree, [&](const double& x) { largest = std::max(largest, std::abs(x)); });
        bound += 2 * largest;  // steps from node to node have up to twice a value
    }
    if (!std::isfinite(bound) || bound > 1e6) {
        return invalid_argument("the values of the model's trees are too large");
    }
    if (bound == 0) return 0;
    // 53 bits of a double, one of them for the sum.
    const int finest = 52 - (std::ilogb(bound) + 1);
    for (Tree& tree : trees) {
        for_each_value(tree, [&](double& x) {
            x = std::ldexp(std::nearbyint(std::ldexp(x, finest)), -finest);
        });
    }
    return finest;
}

Result<> check_weights(const Vector& linear) {
    constexpr double kLargest = 1000;
    for (std::size_t i = 0; i < kFeatures; ++i) {
        if (linear[i] == 0) continue;
        const std::string name(features()[i].name);
        if (!features()[i].unit) {
            return invalid_argument("the model weighs \"" + name +
                                    "\", which is not always from 0 to 1");
        }
        if (!(std::abs(linear[i]) <= kLargest)) {
            return invalid_argument("the model's weight of \"" + name +
                                    "\" must be from -1000 to 1000");
        }
    }
    return {};
}

}  // namespace

Result<Model> Model::create(Parts parts) {
    if (!std::isfinite(parts.prior) || parts.prior < 0 || parts.prior > 1e6) {
        return invalid_argument("the weight of the model's prior must be from 0 to 1000000");
    }
    if (parts.trees.size() > kMaxTrees) {
        return invalid_argument("the model has " + std::to_string(parts.trees.size()) +
                                " trees; at most " + std::to_string(kMaxTrees) + " are allowed");
    }
    for (std::size_t i = 0; i < parts.trees.size(); ++i) {
        BRAID_CHECK(check_shape(parts.trees[i], i));
        BRAID_CHECK(check_values(parts.trees[i], i));
    }
    BRAID_CHECK(check_weights(parts.linear));
    BRAID_TRY(const int finest, round_values(parts.trees, parts.linear));
    Model model(std::move(parts));
    // Of a double with 52 bits behind the first, the last one is what products are rounded to.
    model.rounding_ = std::ldexp(1.5, 52 - finest);
    model.prepare();
    return model;
}

/// Rounded to a multiple of what trees are rounded to, by an addition that leaves no finer bits.
double Model::weighted(std::size_t feature, double value) const noexcept {
    return (parts_.linear[feature] * std::clamp(value, 0.0, 1.0) + rounding_) - rounding_;
}

// Leaves get bits from left to right. A row starts with all of them; each node whose condition it
// fails takes away the leaves on its left; the lowest that is left is the row's (QuickScorer:
// Lucchese et al., SIGIR 2015). Nodes can be looked at in any order, for all rows at once.
void Model::prepare() {
    for (const Tree& tree : parts_.trees) {
        for (const Tree::Node& node : tree.nodes) steps_[node.feature].push_back(node.threshold);
    }
    for (std::vector<double>& steps : steps_) {
        std::ranges::sort(steps);
        steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    }
    for (const Tree& tree : parts_.trees) {
        Flat flat;
        flat.cuts = static_cast<std::uint32_t>(cuts_.size());
        flat.leaves = static_cast<std::uint32_t>(leaves_.size());
        unsigned next = 0;
        const auto walk = [&](const auto& self, std::int32_t child) -> void {
            if (child < 0) {
                leaves_.push_back(tree.leaves[static_cast<std::size_t>(~child)]);
                ++next;
                return;
            }
            const Tree::Node& node = tree.nodes[static_cast<std::size_t>(child)];
            const unsigned begin = next;
            self(self, node.left);
            const unsigned gone = ((1U << next) - 1) & ~((1U << begin) - 1);
            const std::vector<double>& steps = steps_[node.feature];
            const auto step = std::ranges::lower_bound(steps, node.threshold) - steps.begin();
            cuts_.push_back({node.feature, static_cast<std::uint16_t>(step),
                             static_cast<std::uint16_t>(~gone)});
            self(self, node.right);
        };
        walk(walk, tree.nodes.empty() ? -1 : 0);
        flat.end = static_cast<std::uint32_t>(cuts_.size());
        flat_.push_back(flat);
    }
}

std::vector<double> Model::scores(std::span<const Vector> rows) const {
    constexpr std::size_t kBlock = 128;
    std::vector<double> scores(rows.size(), 0);
    std::array<std::array<std::uint16_t, kBlock>, kFeatures> steps{};
    std::array<std::uint16_t, kBlock> possible{};
    for (std::size_t first = 0; first < rows.size(); first += kBlock) {
        const std::size_t count = std::min(kBlock, rows.size() - first);
        for (std::size_t f = 0; f < kFeatures; ++f) {
            if (steps_[f].empty()) continue;
            for (std::size_t i = 0; i < count; ++i) {
                // How many thresholds lie below the value.
                const auto above = std::ranges::lower_bound(steps_[f], rows[first + i][f]);
                steps[f][i] = static_cast<std::uint16_t>(above - steps_[f].begin());
            }
        }
        for (const Flat& tree : flat_) {
            possible.fill(0xffff);
            for (std::uint32_t c = tree.cuts; c < tree.end; ++c) {
                const Cut cut = cuts_[c];
                const auto& step = steps[cut.feature];
                // All of the block, whatever `count`: a loop of known length becomes vector code.
                for (std::size_t i = 0; i < kBlock; ++i) {
                    const auto right = static_cast<std::uint16_t>(step[i] > cut.step ? 0xffff : 0);
                    possible[i] &= static_cast<std::uint16_t>(cut.leaves | ~right);
                }
            }
            const double* const leaves = &leaves_[tree.leaves];
            for (std::size_t i = 0; i < count; ++i) {
                scores[first + i] += leaves[std::countr_zero(possible[i])];
            }
        }
    }
    for (std::size_t f = 0; f < kFeatures; ++f) {
        if (parts_.linear[f] == 0) continue;
        for (std::size_t i = 0; i < rows.size(); ++i) scores[i] += weighted(f, rows[i][f]);
    }
    const std::size_t fused = feature_index("fused_norm");
    for (std::size_t i = 0; i < rows.size(); ++i) scores[i] += parts_.prior * rows[i][fused];
    return scores;
}

Contributions Model::contributions(const Vector& row) const {
    Contributions out;
    for (const Tree& tree : parts_.trees) {
        if (tree.nodes.empty()) {
            out.bias += tree.leaves.front();
            continue;
        }
        double value = tree.nodes.front().value;
        out.bias += value;
        std::int32_t at = 0;
        while (at >= 0) {
            const Tree::Node& node = tree.nodes[static_cast<std::size_t>(at)];
            at = row[node.feature] <= node.threshold ? node.left : node.right;
            const double next = at < 0 ? tree.leaves[static_cast<std::size_t>(~at)]
                                       : tree.nodes[static_cast<std::size_t>(at)].value;
            out.features[node.feature] += next - value;
            value = next;
        }
    }
    for (std::size_t f = 0; f < kFeatures; ++f) {
        if (parts_.linear[f] != 0) out.features[f] += weighted(f, row[f]);
    }
    out.prior = parts_.prior * row[feature_index("fused_norm")];
    return out;
}

double Model::score(const Contributions& parts) noexcept {
    double sum = parts.bias;
    for (const double x : parts.features) sum += x;
    return sum + parts.prior;
}

}  // namespace braid::rank
