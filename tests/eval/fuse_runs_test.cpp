#include "braid/eval/fuse_runs.hpp"

#include <gtest/gtest.h>

namespace braid::eval {
namespace {

Run run_of(std::string name, std::vector<RankedList> lists) {
    return {std::move(name), std::move(lists)};
}

TEST(FuseRuns, AddsReciprocalRanksQueryByQuery) {
    const std::vector<eval::Run> runs{
        run_of("a", {{"q1", {{"x", 5}, {"y", 4}}}, {"q2", {{"z", 1}}}}),
        run_of("b", {{"q3", {{"w", 1}}}, {"q1", {{"y", 9}}}}),
    };
    const auto fused = fuse_runs(runs, {}, {});
    ASSERT_TRUE(fused) << fused.error().message;
    ASSERT_EQ(fused->lists.size(), 3U);
    EXPECT_EQ(fused->lists[0].query, "q1");
    EXPECT_EQ(fused->lists[0].hits[0], (ScoredDocument{"y", 1.0 / 62 + 1.0 / 61}));
    EXPECT_EQ(fused->lists[0].hits[1], (ScoredDocument{"x", 1.0 / 61}));
    EXPECT_EQ(fused->lists[1].query, "q2");
    EXPECT_EQ(fused->lists[2].query, "q3");
}

TEST(FuseRuns, WeighsTheRuns) {
    const std::vector<eval::Run> runs{run_of("a", {{"q", {{"x", 2}, {"y", 1}}}}),
                                      run_of("b", {{"q", {{"y", 7}, {"x", 3}}}})};
    const std::vector<double> weights{0.25, 0.75};
    const auto fused = fuse_runs(runs, weights, {.method = FusionMethod::WeightedSum});
    ASSERT_TRUE(fused);
    EXPECT_EQ(fused->lists[0].hits[0], (ScoredDocument{"y", 0.75}));
    EXPECT_EQ(fused->lists[0].hits[1], (ScoredDocument{"x", 0.25}));
}

TEST(FuseRuns, RefusesWeightsThatDoNotFit) {
    const std::vector<eval::Run> runs{run_of("a", {{"q", {{"x", 2}}}})};
    const std::vector<double> two{1, 2};
    const std::vector<double> negative{-1};
    EXPECT_FALSE(fuse_runs(runs, two, {}));
    const auto fused = fuse_runs(runs, negative, {});
    ASSERT_FALSE(fused);
    EXPECT_NE(fused.error().message.find("\"q\""), std::string::npos) << fused.error().message;
    EXPECT_FALSE(fuse_runs({}, {}, {}));
}

}  // namespace
}  // namespace braid::eval
