#include "braid/rank/model.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "braid/rank/model_json.hpp"
#include "rank/random_model.hpp"

namespace braid::rank {
namespace {

/// Node by node, as the trees are written. What features weigh is part of the explanation alone,
/// and tested below.
double walked(const Model& model, const Vector& row) {
    double sum = 0;
    const Model weights =
        Model::create({.prior = 0, .linear = model.linear(), .trees = model.trees(), .made = {}})
            .value();
    const Model trees =
        Model::create({.prior = 0, .linear = {}, .trees = model.trees(), .made = {}}).value();
    EXPECT_EQ(trees.trees(), model.trees());
    const Vector whole = weights.contributions(row).features;
    const Vector part = trees.contributions(row).features;
    for (std::size_t f = 0; f < kFeatures; ++f) sum += whole[f] - part[f];
    for (const Tree& tree : model.trees()) {
        std::int32_t at = tree.nodes.empty() ? -1 : 0;
        while (at >= 0) {
            const Tree::Node& node = tree.nodes[static_cast<std::size_t>(at)];
            at = row[node.feature] <= node.threshold ? node.left : node.right;
        }
        sum += tree.leaves[static_cast<std::size_t>(~at)];
    }
    return sum + model.prior() * row[feature_index("fused_norm")];
}

TEST(RankModel, FastScoresExplainedScoresAndTreesAgreeToTheLastBit) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Model model = random_model(rng, rng() % 120);
        std::vector<Vector> rows;
        for (std::size_t i = rng() % 300; i > 0; --i) rows.push_back(random_row(rng));
        const std::vector<double> scores = model.scores(rows);
        ASSERT_EQ(scores.size(), rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(scores[i], walked(model, rows[i]));
            Contributions parts = model.contributions(rows[i]);
            EXPECT_EQ(scores[i], Model::score(parts));
            // In whatever order the parts are added.
            std::ranges::shuffle(parts.features, rng);
            EXPECT_EQ(scores[i], Model::score(parts));
        }
    }
}

TEST(RankModel, WeighsFeatures) {
    Model::Parts parts;
    parts.prior = 2;
    parts.linear[feature_index("named")] = 3;
    parts.linear[feature_index("window")] = 0.1;
    const Model model = Model::create(parts).value();
    Vector row{};
    row[feature_index("fused_norm")] = 0.75;
    row[feature_index("named")] = 0.5;
    row[feature_index("window")] = 1.0 / 3;
    const Contributions found = model.contributions(row);
    EXPECT_EQ(found.bias, 0);
    EXPECT_EQ(found.features[feature_index("named")], 1.5);
    EXPECT_NEAR(found.features[feature_index("window")], 0.1 / 3, 1e-14);
    EXPECT_EQ(found.prior, 1.5);
    EXPECT_EQ(model.scores(std::span(&row, 1)).front(), Model::score(found));
    // Never more than a weight, whatever a row holds.
    row[feature_index("named")] = 7;
    EXPECT_EQ(model.contributions(row).features[feature_index("named")], 3);
}

TEST(RankModel, WeighsOnlyWhatIsFromZeroToOne) {
    Model::Parts parts;
    parts.linear[feature_index("sparse_score")] = 1;
    EXPECT_FALSE(Model::create(parts));
    parts.linear = {};
    parts.linear[feature_index("named")] = 1001;
    EXPECT_FALSE(Model::create(parts));
    parts.linear[feature_index("named")] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(Model::create(parts));
}

TEST(RankModel, ScoresDoNotDependOnTheCandidatesBeside) {
    std::mt19937_64 rng(5);
    const Model model = random_model(rng, 100);
    std::vector<Vector> rows;
    for (int i = 0; i < 131; ++i) rows.push_back(random_row(rng));
    const std::vector<double> together = model.scores(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(model.scores(std::span(&rows[i], 1)).front(), together[i]);
    }
}

TEST(RankModel, RoundsValuesByLessThanAnyoneCouldSee) {
    std::mt19937_64 rng(9);
    const Tree tree = random_tree(rng, 12);
    const Model model = Model::create({.prior = 0, .trees = {tree}, .made = {}}).value();
    for (std::size_t i = 0; i < tree.leaves.size(); ++i) {
        EXPECT_NEAR(model.trees().front().leaves[i], tree.leaves[i], 1e-14);
    }
    // Rounding what is rounded changes nothing.
    const Model again = Model::create({.prior = 0, .trees = model.trees(), .made = {}}).value();
    EXPECT_EQ(again.trees(), model.trees());
}

TEST(RankModel, IsReadBackAsItWasWritten) {
    std::mt19937_64 rng(3);
    const Model model = random_model(rng, 40);
    const auto read = read_model(write_model(model));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->trees(), model.trees());
    EXPECT_EQ(read->prior(), model.prior());
    EXPECT_EQ(read->linear(), model.linear());
    EXPECT_EQ(write_model(*read), write_model(model));
}

TEST(RankModel, RefusesWhatIsNoModel) {
    const auto refused = [](std::string_view text) { return !read_model(text).has_value(); };
    EXPECT_TRUE(refused(""));
    EXPECT_TRUE(refused("{}"));
    EXPECT_TRUE(refused(R"({"braid_ranker": 2, "features": [], "prior": 1, "trees": []})"));
    EXPECT_TRUE(refused(R"({"braid_ranker": 1, "features": ["x"], "prior": 1, "trees": []})"));
    EXPECT_TRUE(refused(R"({"braid_ranker": 1, "features": [], "prior": -1, "trees": []})"));
    EXPECT_TRUE(refused(R"({"braid_ranker": 1, "features": [], "prior": 1, "trees": [{}]})"));
    const auto weighing = [](const std::string& linear) {
        return R"({"braid_ranker": 1, "features": [], "prior": 1, "linear": )" + linear +
               R"(, "trees": []})";
    };
    EXPECT_FALSE(refused(weighing(R"({"named": 1})")));
    EXPECT_TRUE(refused(weighing(R"({"x": 1})")));
    EXPECT_TRUE(refused(weighing(R"({"named": "1"})")));
    EXPECT_TRUE(refused(weighing(R"({"sparse_gap": 1})")));
    EXPECT_TRUE(refused(weighing("[1]")));
    // A ring: node 1 and 2 are each other's children.
    EXPECT_TRUE(refused(
        R"({"braid_ranker": 1, "features": ["fused"], "prior": 1, "trees": [{"feature": [0, 0, 0],
        "threshold": [0, 0, 0], "left": [-1, 2, 1], "right": [-2, -3, -4], "value": [0, 0, 0],
        "leaves": [0, 0, 0, 0]}]})"));
    EXPECT_TRUE(refused(
        R"({"braid_ranker": 1, "features": ["fused"], "prior": 1, "trees": [{"feature": [0],
        "threshold": [0], "left": [0], "right": [-1], "value": [0], "leaves": [0, 0]}]})"));
    EXPECT_TRUE(refused(
        R"({"braid_ranker": 1, "features": ["fused"], "prior": 1, "trees": [{"feature": [7],
        "threshold": [0], "left": [-1], "right": [-2], "value": [0], "leaves": [0, 0]}]})"));
}

TEST(RankModel, HasNoTroubleWithDamagedText) {
    std::mt19937_64 rng(11);
    const std::string whole = write_model(random_model(rng, 3));
    for (std::size_t i = 0; i < whole.size(); i += 7) {
        (void)read_model(whole.substr(0, i));
        std::string changed = whole;
        changed[i] = static_cast<char>(rng());
        if (const auto model = read_model(changed)) {
            const Vector row = random_row(rng);
            EXPECT_EQ(model->scores(std::span(&row, 1)).front(), walked(*model, row));
        }
    }
}

}  // namespace
}  // namespace braid::rank
