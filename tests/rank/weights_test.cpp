#include "braid/rank/weights.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace braid::rank {
namespace {

/// One relevant row of ten in each query; one feature tells which, now and then wrongly.
TrainingData queries_with_a_sign(std::size_t queries, double direction) {
    std::mt19937_64 rng(4);
    std::uniform_real_distribution<double> unit(0, 1);
    TrainingData data;
    for (std::size_t q = 0; q < queries; ++q) {
        const std::size_t right = rng() % 10;
        for (std::size_t i = 0; i < 10; ++i) {
            Vector& row = data.rows.emplace_back();
            row[feature_index("fused_norm")] = unit(rng);
            row[feature_index("window")] = 0.5 + direction * (i == right ? 0.3 : 0.0) * unit(rng);
            row[feature_index("early")] = 0.5 + direction * (i == right ? 0.3 : 0.0) * unit(rng);
            row[feature_index("sparse_score")] = i == right ? 9 : 0;
            data.grades.push_back(i == right ? 1 : 0);
        }
        data.queries.push_back(10);
    }
    return data;
}

TEST(Weights, FindWhatTells) {
    const Weights found =
        learn_weights(queries_with_a_sign(50, 1), {.prior = 1, .l2 = 0.01}).value();
    EXPECT_GT(found.linear[feature_index("window")], 1);
    EXPECT_GT(found.linear[feature_index("early")], 1);
    EXPECT_GE(found.prior, 0);
    // Only features that are always from 0 to 1 have weights; the fused score's is the prior.
    EXPECT_EQ(found.linear[feature_index("sparse_score")], 0);
    EXPECT_EQ(found.linear[feature_index("fused_norm")], 0);
}

TEST(Weights, NeverLowerAScoreWhereMoreIsBetter) {
    const Weights found =
        learn_weights(queries_with_a_sign(50, -1), {.prior = 1, .l2 = 0.01}).value();
    EXPECT_EQ(found.linear[feature_index("window")], 0);
    EXPECT_LT(found.linear[feature_index("early")], -1);  // may go either way
}

TEST(Weights, StayNearTheFusedScoreIfThatIsDear) {
    const TrainingData data = queries_with_a_sign(50, 1);
    const Weights near = learn_weights(data, {.prior = 5, .l2 = 1e4}).value();
    EXPECT_NEAR(near.prior, 5, 0.01);
    EXPECT_NEAR(near.linear[feature_index("window")], 0, 0.01);
    const Weights far = learn_weights(data, {.prior = 5, .l2 = 0.001}).value();
    const Weights between = learn_weights(data, {.prior = 5, .l2 = 0.1}).value();
    EXPECT_GT(far.linear[feature_index("window")], between.linear[feature_index("window")]);
    EXPECT_GT(between.linear[feature_index("window")], near.linear[feature_index("window")]);
}

/// The loss that is described, written down once more.
double loss(const TrainingData& data, const Weights& weights, const Weights& scaled, double l2) {
    double sum = 0;
    std::size_t first = 0;
    for (const std::int32_t rows : data.queries) {
        std::vector<double> scores;
        double others = 0;
        for (std::int32_t i = 0; i < rows; ++i) {
            const Vector& row = data.rows[first + static_cast<std::size_t>(i)];
            double score = weights.prior * row[feature_index("fused_norm")];
            for (std::size_t f = 0; f < kFeatures; ++f) score += weights.linear[f] * row[f];
            scores.push_back(score);
            if (data.grades[first + static_cast<std::size_t>(i)] == 0) others += std::exp(score);
        }
        for (std::size_t i = 0; i < scores.size(); ++i) {
            if (data.grades[first + i] == 0) continue;
            sum -= std::log(std::exp(scores[i]) / (std::exp(scores[i]) + others));
        }
        first += static_cast<std::size_t>(rows);
    }
    double moved = scaled.prior * scaled.prior;
    for (const double x : scaled.linear) moved += x * x;
    return sum / static_cast<double>(data.queries.size()) + l2 * moved;
}

TEST(Weights, AreTheBestThereAre) {
    const TrainingData data = queries_with_a_sign(20, 1);
    // Deviations within a query, as the penalty counts them.
    Vector scale{};
    for (std::size_t q = 0; q < data.queries.size(); ++q) {
        for (std::size_t f = 0; f < kFeatures; ++f) {
            double mean = 0;
            double squares = 0;
            for (std::size_t i = 0; i < 10; ++i) mean += data.rows[10 * q + i][f] / 10;
            for (std::size_t i = 0; i < 10; ++i) {
                squares += std::pow(data.rows[10 * q + i][f] - mean, 2) / 10;
            }
            scale[f] += squares / static_cast<double>(data.queries.size());
        }
    }
    const double l2 = 0.02;
    const double prior = 2;
    const auto value = [&](const Weights& weights) {
        Weights scaled;
        scaled.prior = (weights.prior - prior) * std::sqrt(scale[feature_index("fused_norm")]);
        for (std::size_t f = 0; f < kFeatures; ++f) {
            scaled.linear[f] = weights.linear[f] * std::sqrt(scale[f]);
        }
        return loss(data, weights, scaled, l2);
    };
    const Weights found = learn_weights(data, {.prior = prior, .l2 = l2}).value();
    const double least = value(found);
    for (const double step : {-0.05, 0.05}) {
        Weights other = found;
        other.prior += step;
        EXPECT_GT(value(other), least);
        for (const char* const name : {"window", "early"}) {
            other = found;
            other.linear[feature_index(name)] += step;
            EXPECT_GT(value(other), least) << name;
        }
    }
}

TEST(Weights, NeedSomethingRelevant) {
    TrainingData data = queries_with_a_sign(2, 1);
    data.grades.assign(data.grades.size(), 0);
    EXPECT_FALSE(learn_weights(data, {}));
    EXPECT_FALSE(learn_weights({}, {}));
}

}  // namespace
}  // namespace braid::rank
