#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "braid/rank/features.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::rank {

/// Of one tree.
inline constexpr std::size_t kMaxLeaves = 16;
inline constexpr std::size_t kMaxTrees = 1000;

/// A regression tree. Node 0 is the root. A row goes left where its feature is at most the
/// threshold. A child below 0 is the leaf ~child.
struct Tree {
    struct Node {
        std::uint16_t feature = 0;
        double threshold = 0;
        std::int32_t left = 0;
        std::int32_t right = 0;
        double value = 0;  // the mean of what is below it, for explanations

        friend bool operator==(const Node&, const Node&) = default;
    };
    std::vector<Node> nodes;  // empty: one leaf
    std::vector<double> leaves;

    friend bool operator==(const Tree&, const Tree&) = default;
};

/// Why one candidate has its score: the score is bias + the sum of `features` + prior, exactly,
/// the first ones in any order and `prior` last.
struct Contributions {
    double bias = 0;
    Vector features{};
    double prior = 0;
};

/// A learned ranking: the fused score times a weight, other features times weights, corrected by
/// trees.
///
/// Values of trees and weighted features are multiples of one power of two, fine enough to differ
/// from what was trained by less than 1e-12 in all, and coarse enough that no sum of them is
/// rounded: in whatever order they are added, the bits are the same. That is what lets the fast
/// evaluation skip the explanation, and a receipt prove its score. Safe for concurrent use.
class Model {
public:
    struct Parts {
        double prior = 0;  // weight of the feature "fused_norm"
        Vector linear{};   // weights of features from 0 to 1
        std::vector<Tree> trees;
        Object made;  // when, from what, how good: what `braid rank show` tells
    };

    /// Rounds the values of the trees as said above. InvalidArgument for trees that are none:
    /// children that form no tree, too many leaves or trees, features there are not, numbers that
    /// are not finite; and for weights of features that may be outside 0 to 1.
    static Result<Model> create(Parts parts);

    /// The scores of some candidates.
    std::vector<double> scores(std::span<const Vector> rows) const;
    /// The same score with its reasons, more slowly.
    Contributions contributions(const Vector& row) const;
    static double score(const Contributions& parts) noexcept;

    const std::vector<Tree>& trees() const noexcept { return parts_.trees; }
    double prior() const noexcept { return parts_.prior; }
    const Vector& linear() const noexcept { return parts_.linear; }
    const Object& made() const noexcept { return parts_.made; }

private:
    explicit Model(Parts parts) : parts_(std::move(parts)) {}
    void prepare();
    double weighted(std::size_t feature, double value) const noexcept;

    /// A node as the fast evaluation sees it: where a row's feature is above the threshold, the
    /// leaves on the left cannot be its own.
    struct Cut {
        std::uint16_t feature = 0;
        std::uint16_t step = 0;    // rows whose step of the feature is above this go right
        std::uint16_t leaves = 0;  // that stay possible then, one bit each
    };
    struct Flat {
        std::uint32_t cuts = 0;  // the first
        std::uint32_t end = 0;
        std::uint32_t leaves = 0;  // the first, in the order of their bits
    };

    Parts parts_;
    double rounding_ = 0;  // what is added to a product and taken away again rounds it
    std::array<std::vector<double>, kFeatures> steps_;  // the thresholds of each feature, ascending
    std::vector<Cut> cuts_;
    std::vector<Flat> flat_;
    std::vector<double> leaves_;
};

}  // namespace braid::rank
