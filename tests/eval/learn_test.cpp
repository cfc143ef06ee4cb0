#include "braid/eval/learn.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace braid::eval {
namespace {

constexpr std::size_t kSignal = 24;  // the feature that tells which document is right

/// Lists in a random order; the right document has a high value of one feature, more or less.
std::vector<FeatureList> made_up(std::size_t queries, double noise, Qrels& qrels) {
    std::mt19937_64 rng(3);
    std::uniform_real_distribution<double> unit(0, 1);
    std::vector<FeatureList> lists;
    for (std::size_t q = 0; q < queries; ++q) {
        FeatureList list{"q" + std::to_string(q), {}};
        const std::size_t right = rng() % 20;
        for (std::size_t i = 0; i < 20; ++i) {
            FeatureRow& row = list.rows.emplace_back();
            row.chunk = row.document = "d" + std::to_string(i);
            row.features[1] = 1 - static_cast<double>(i) / 20;
            row.features[kSignal] = (i == right ? 1.0 : 0.0) + noise * unit(rng);
            row.relevance = i == right ? 1 : 0;
        }
        qrels.queries.push_back({list.query, {{"d" + std::to_string(right), 1}}});
        lists.push_back(std::move(list));
    }
    return lists;
}

/// Splits the signal's feature where relevant and other rows are best told apart.
Result<std::vector<rank::Tree>> stumps(const rank::TrainingData& data,
                                       const rank::TrainingOptions& options) {
    double relevant = 0;
    double others = 0;
    double n = 0;
    for (std::size_t i = 0; i < data.rows.size(); ++i) {
        (data.grades[i] > 0 ? relevant : others) += data.rows[i][kSignal];
        n += data.grades[i] > 0 ? 1 : 0;
    }
    const double all = static_cast<double>(data.rows.size());
    const double middle = (relevant / n + others / (all - n)) / 2;
    rank::Tree stump;
    stump.nodes.push_back({kSignal, middle, -1, -2, 0});
    stump.leaves = {-0.1, 0.1};
    return std::vector<rank::Tree>(static_cast<std::size_t>(options.trees), stump);
}

LearnOptions options() {
    LearnOptions out;
    out.ways = usual_ways();
    out.compare.resamples = 500;
    return out;
}

TEST(Learn, FindsWhatThereIsAndSaysByHowMuch) {
    Qrels qrels;
    const auto lists = made_up(60, 1.2, qrels);
    const auto outcome = learn(lists, qrels, options(), stumps);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE(clearly_better(outcome->held_out));
    EXPECT_EQ(outcome->chosen.size(), 5U);
    EXPECT_GT(outcome->final_choice.trees, 0U);
    const auto& runs = outcome->held_out.runs;
    EXPECT_GT(runs[1].evaluation.means.front(), runs[0].evaluation.means.front() + 0.1);
    const Object described = describe_model(outcome->model, lists);
    EXPECT_EQ(described.find("importance")->as_object().size(), 1U);
    const Value* const curve = described.find("dependence")->find(rank::features()[kSignal].name);
    ASSERT_NE(curve, nullptr);
    EXPECT_LT(curve->as_array().front().as_array()[1].as_double(),
              curve->as_array().back().as_array()[1].as_double());
}

TEST(Learn, WeightsNeedNoTrees) {
    Qrels qrels;
    auto lists = made_up(60, 1.2, qrels);
    const std::size_t unit = rank::feature_index("window");
    for (FeatureList& list : lists) {
        for (FeatureRow& row : list.rows) row.features[unit] = row.features[kSignal] / 2.2;
    }
    LearnOptions without = options();
    without.ways = usual_ways(false);
    const auto learner = [](const rank::TrainingData&, const rank::TrainingOptions&) {
        return Result<std::vector<rank::Tree>>(invalid_argument("no trees were asked for"));
    };
    const auto outcome = learn(lists, qrels, without, learner);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE(clearly_better(outcome->held_out));
    EXPECT_TRUE(outcome->model.trees().empty());
    EXPECT_GT(outcome->model.linear()[unit], 0);
}

TEST(Learn, DoesNotClaimWhatIsNotThere) {
    Qrels qrels;
    auto lists = made_up(60, 1.2, qrels);
    std::mt19937_64 rng(5);
    for (FeatureList& list : lists) {
        for (FeatureRow& row : list.rows) {
            row.features[kSignal] = std::uniform_real_distribution<double>(0, 1)(rng);
        }
    }
    const auto outcome = learn(lists, qrels, options(), stumps);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_FALSE(clearly_better(outcome->held_out));
}

TEST(Learn, NoQueryHelpsToLearnWhatItIsMeasuredBy) {
    Qrels qrels;
    const auto lists = made_up(60, 0.5, qrels);
    std::vector<std::size_t> sizes;
    const auto watching = [&](const rank::TrainingData& data, const rank::TrainingOptions& way) {
        sizes.push_back(data.queries.size());
        return stumps(data, way);
    };
    ASSERT_TRUE(learn(lists, qrels, options(), watching));
    // Outer models see at most 48 of 60 queries, inner ones less; only the last one sees all.
    EXPECT_EQ(std::ranges::count(sizes, 60U), 1);
    EXPECT_EQ(sizes.back(), 60U);
    for (const std::size_t size : sizes) EXPECT_TRUE(size <= 48 || size == 60);
}

TEST(Learn, FewQueriesGrowNoTrees) {
    Qrels qrels;
    const auto lists = made_up(35, 0.5, qrels);
    const auto learner = [](const rank::TrainingData& data, const rank::TrainingOptions& way) {
        EXPECT_GE(data.queries.size(), 30U);
        return stumps(data, way);
    };
    const auto outcome = learn(lists, qrels, options(), learner);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE(outcome->model.trees().empty());
}

TEST(Learn, RefusesWhatCannotBeLearntFrom) {
    Qrels qrels;
    auto lists = made_up(10, 0.5, qrels);
    LearnOptions many = options();
    many.folds = 11;
    EXPECT_FALSE(learn(lists, qrels, many, stumps));
    for (FeatureList& list : lists) {
        for (FeatureRow& row : list.rows) row.relevance = 0;
    }
    EXPECT_FALSE(learn(lists, qrels, options(), stumps));
    EXPECT_FALSE(learn({}, qrels, options(), stumps));
}

}  // namespace
}  // namespace braid::eval
