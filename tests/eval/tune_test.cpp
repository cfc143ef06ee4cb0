#include "braid/eval/tune.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace braid::eval {
namespace {

std::string query_name(std::size_t q) {
    return "q" + std::to_string(q);
}

/// One relevant document, "right", per query.
Qrels one_right_each(std::size_t queries) {
    Qrels qrels;
    for (std::size_t q = 0; q < queries; ++q)
        qrels.queries.push_back({query_name(q), {{"right", 1}}});
    return qrels;
}

/// Finds the right document at rank 1 with the given chance, else at rank 5.
Run run_with_chance(std::string name, std::size_t queries, double chance, std::mt19937_64& rng) {
    Run run{.name = std::move(name), .lists = {}};
    for (std::size_t q = 0; q < queries; ++q) {
        const bool first = static_cast<double>(rng() % 1000) < chance * 1000;
        RankedList list{query_name(q), {}};
        for (int rank = 1; rank <= 5; ++rank) {
            const bool here = rank == (first ? 1 : 5);
            list.hits.push_back({here ? "right" : "wrong" + std::to_string(rank),
                                 10.0 - static_cast<double>(rank)});
        }
        run.lists.push_back(std::move(list));
    }
    return run;
}

TEST(Tune, FindsTheRunThatIsBetterAndSaysByHowMuch) {
    std::mt19937_64 rng(7);
    const Qrels qrels = one_right_each(200);
    const std::vector<eval::Run> runs{run_with_chance("now", 200, 0.3, rng),
                                      run_with_chance("worse", 200, 0.1, rng),
                                      run_with_chance("better", 200, 0.9, rng)};
    const auto outcome = tune(qrels, runs, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->best, 2U);
    EXPECT_EQ(outcome->chosen, std::vector<std::size_t>(5, 2));
    EXPECT_TRUE(clearly_better(outcome->held_out));
    ASSERT_EQ(outcome->held_out.runs.size(), 2U);
    EXPECT_DOUBLE_EQ(outcome->held_out.runs[1].evaluation.means[0], outcome->means[2])
        << "one choice for all folds is that run itself";
}

TEST(Tune, ChanceIsNoImprovement) {
    // Among many equally good runs one looks best on the queries it was chosen by. On those held
    // out it is not, in the mean over many trials.
    double gain_seen = 0;
    double gain_held_out = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        std::vector<eval::Run> runs;
        runs.reserve(20);
        for (int i = 0; i < 20; ++i) {
            runs.push_back(run_with_chance("run" + std::to_string(i), 60, 0.5, rng));
        }
        TuneOptions options;
        options.compare.resamples = 100;
        const auto outcome = tune(one_right_each(60), runs, options);
        ASSERT_TRUE(outcome) << outcome.error().message;
        gain_seen += outcome->means[outcome->best] - outcome->means[0];
        gain_held_out += outcome->held_out.runs[1].differences[0].mean;
    }
    EXPECT_GT(gain_seen / 20, 0.05);
    EXPECT_LT(gain_held_out / 20, gain_seen / 40);
}

TEST(Tune, OfEqualRunsTheOneInUseStays) {
    std::mt19937_64 rng(1);
    std::vector<eval::Run> runs{run_with_chance("now", 20, 0.5, rng)};
    runs.push_back(runs.front());
    runs.back().name = "same";
    const auto outcome = tune(one_right_each(20), runs, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->best, 0U);
    EXPECT_FALSE(clearly_better(outcome->held_out));
}

TEST(Tune, RefusesFoldsThatCannotBe) {
    std::mt19937_64 rng(1);
    const std::vector<eval::Run> runs{run_with_chance("now", 4, 0.5, rng)};
    for (const std::size_t folds : {0U, 1U, 5U}) {
        TuneOptions options;
        options.folds = folds;
        const auto outcome = tune(one_right_each(4), runs, options);
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code, ErrorCode::InvalidArgument);
    }
    EXPECT_FALSE(tune(one_right_each(4), {}, {.folds = 2})) << "no runs";
}

TEST(Tune, QueriesARunLacksCountAsNothingFound) {
    std::mt19937_64 rng(3);
    std::vector<eval::Run> runs{run_with_chance("now", 10, 1.0, rng)};
    runs.front().lists.resize(6);
    const auto outcome = tune(one_right_each(10), runs, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_DOUBLE_EQ(outcome->means[0], 0.6);
    EXPECT_DOUBLE_EQ(outcome->held_out.runs[1].evaluation.means[0], 0.6);
}

}  // namespace
}  // namespace braid::eval
