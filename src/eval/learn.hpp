#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "braid/eval/compare.hpp"
#include "braid/eval/feature_lists.hpp"
#include "braid/eval/measures.hpp"
#include "braid/rank/lightgbm.hpp"
#include "braid/rank/model.hpp"
#include "braid/rank/weights.hpp"
#include "braid/result.hpp"

namespace braid::eval {

/// Makes trees of judged rows: rank::Lightgbm, or another in tests. The first n trees must be those
/// that it would make if only n were asked for.
using Learner = std::function<Result<std::vector<rank::Tree>>(const rank::TrainingData&,
                                                              const rank::TrainingOptions&)>;

/// A way to learn: weights, trees, or trees that correct what weights say.
struct LearnWay {
    std::optional<rank::WeightOptions> weights;  // none: `trees.prior` times the fused score
    rank::TrainingOptions trees;  // trees.trees 0: none; nor are there any of fewer than 30 queries
};

struct LearnOptions {
    Measure measure{MeasureKind::NDcg, 10, 1};
    std::size_t folds = 5;        // of what is reported, by query
    std::size_t inner_folds = 3;  // of each choice of how to learn
    CompareOptions compare;
    /// Ways to learn, to choose from; each with any number of its first trees. Not empty. The first
    /// without trees leaves the fused order as it is, unless it has weights.
    std::vector<LearnWay> ways;
};

/// The ways that `braid rank train` tries: small trees that start from the fused score, weights
/// that stay near it or go far, and trees that start from weights. Without trees, the others.
std::vector<LearnWay> usual_ways(bool with_trees = true);

/// A way to learn and how many trees of it.
struct LearnChoice {
    std::size_t way = 0;
    std::size_t trees = 0;
};

struct LearnOutcome {
    Comparison held_out;              // "fused" and "learned", each fold by a model without it
    std::vector<LearnChoice> chosen;  // [fold], by the other folds alone
    LearnChoice final_choice;
    rank::Model model;  // of all queries
};

/// Learns a ranking of the lists, whose rows are graded, and measures what to expect of it: nested
/// cross-validation, queries whole. InvalidArgument if there are too few queries for the folds, or
/// nothing relevant among the candidates.
Result<LearnOutcome> learn(std::span<const FeatureList> lists, const Qrels& qrels,
                           const LearnOptions& options, const Learner& learner);

/// The lists ordered by the model's scores, or as they are without one; a document once.
Run ranked_run(std::span<const FeatureList> lists, const rank::Model* model, std::string name);

rank::TrainingData training_data(std::span<const FeatureList> lists);

/// What the model does, for people: `{"importance": {feature: mean absolute contribution},
/// "dependence": {feature: [[value, mean score], ...]}}` over the lists' rows, features by
/// importance, those that it does not use left out.
Object describe_model(const rank::Model& model, std::span<const FeatureList> lists);

}  // namespace braid::eval
