#include "braid/eval/diagnostics.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "braid/eval/measures.hpp"
#include "eval/random_case.hpp"

namespace braid::eval {
namespace {

TEST(RecallCurve, EqualsTheMeasureAtEveryCutoff) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const Qrels qrels = testing_data::random_qrels(rng);
        const eval::Run run = testing_data::random_run(rng, "run");
        const std::vector<double> curve = recall_curve(qrels, run, 30);
        for (std::int32_t k = 1; k <= 30; ++k) {
            const std::vector<Measure> measure{{MeasureKind::Recall, k}};
            EXPECT_NEAR(curve[static_cast<std::size_t>(k) - 1],
                        evaluate(qrels, run, measure).means[0], 1e-12);
        }
    }
}

TEST(ScoreDistribution, SharesOfEachKindSumToOne) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const Qrels qrels = testing_data::random_qrels(rng);
        const eval::Run run = testing_data::random_run(rng, "run");
        const ScoreDistribution scores = score_distribution(qrels, run, 12);
        const auto sum = [](const std::vector<double>& shares) {
            return std::accumulate(shares.begin(), shares.end(), 0.0);
        };
        EXPECT_NEAR(sum(scores.relevant), scores.relevant_count > 0 ? 1.0 : 0.0, 1e-9);
        EXPECT_NEAR(sum(scores.other), scores.other_count > 0 ? 1.0 : 0.0, 1e-9);
        EXPECT_GE(scores.separation, 0.0);
        EXPECT_LE(scores.separation, 1.0);
    }
}

TEST(ScoreDistribution, TellsHowWellScoresSeparate) {
    const Qrels qrels{{{"q", {{"a", 1}, {"b", 0}, {"c", 2}}}}};
    const eval::Run run{"r", {{"q", {{"a", 4.0}, {"x", 3.0}, {"c", 2.0}, {"b", 2.0}, {"y", 0.0}}}}};

    const ScoreDistribution scores = score_distribution(qrels, run, 4);

    EXPECT_EQ(scores.low, 0.0);
    EXPECT_EQ(scores.high, 4.0);
    EXPECT_EQ(scores.relevant, (std::vector<double>{0.0, 0.0, 0.5, 0.5}));
    EXPECT_EQ(scores.relevant_count, 2U);
    EXPECT_EQ(scores.other_count, 3U);
    // Of the six pairs "a" wins three, "c" wins one and half of another.
    EXPECT_DOUBLE_EQ(scores.separation, 4.5 / 6.0);
}

TEST(ScoreDistribution, TakesEqualHugeAndNoScores) {
    const Qrels qrels{{{"q", {{"a", 1}}}}};
    const eval::Run equal{"r", {{"q", {{"a", 2.0}, {"b", 2.0}}}}};
    EXPECT_EQ(score_distribution(qrels, equal, 3).separation, 0.5);
    const eval::Run huge{"r", {{"q", {{"a", 1.7e308}, {"b", -1.7e308}}}}};
    EXPECT_EQ(score_distribution(qrels, huge, 2).relevant, (std::vector<double>{0.0, 1.0}));
    EXPECT_EQ(score_distribution(qrels, {}, 3).relevant, (std::vector<double>{0.0, 0.0, 0.0}));
}

}  // namespace
}  // namespace braid::eval
