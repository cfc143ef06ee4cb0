#pragma once

#include "braid/rank/lightgbm.hpp"
#include "braid/result.hpp"

namespace braid::rank {

struct WeightOptions {
    /// Weight of "fused_norm" to start from and to stay near.
    double prior = 10;
    /// How dear it is to leave the start: of each weight the square, times the feature's variance
    /// within a query.
    double l2 = 0.01;
};

/// A ranking without trees: weights of the features that are always from 0 to 1.
struct Weights {
    double prior = 0;
    Vector linear{};
};

/// Weights that set relevant candidates above the others: for each relevant one, the logarithm of
/// its share among itself and all irrelevant ones (softmax), the mean over queries. Weights of
/// features that are not to lower a score are not below 0. Convex: the same data give the same
/// weights, up to rounding, from wherever one starts. InvalidArgument as Lightgbm::train.
Result<Weights> learn_weights(const TrainingData& data, const WeightOptions& options);

}  // namespace braid::rank
