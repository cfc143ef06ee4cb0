#include "braid/rank/lightgbm_model.hpp"

#include <cstdlib>
#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "braid/rank/lightgbm.hpp"
#include "rank/random_model.hpp"

namespace braid::rank {
namespace {

std::filesystem::path library() {
    if (const char* const named = std::getenv("BRAID_LIGHTGBM")) return named;
    return std::filesystem::path(BRAID_MODEL_DIR) / "lightgbm" / "lib_lightgbm.so";
}

/// Queries whose relevant rows have a high dense score and a long text.
TrainingData made_up(std::uint64_t seed, int queries) {
    std::mt19937_64 rng(seed);
    TrainingData data;
    for (int q = 0; q < queries; ++q) {
        constexpr int kRows = 20;
        data.queries.push_back(kRows);
        for (int i = 0; i < kRows; ++i) {
            Vector row = random_row(rng);
            const double merit = row[feature_index("dense_norm")] +
                                 2 * row[feature_index("length")] + 0.3 * in_unit(rng);
            data.rows.push_back(row);
            data.grades.push_back(merit > 1.5 ? 2 : merit > 0.8 ? 1 : 0);
        }
    }
    return data;
}

constexpr std::string_view kTwoTrees = R"(tree
version=v4
Tree=0
num_leaves=3
num_cat=0
split_feature=3 24
threshold=0.25 -1.5
decision_type=2 2
left_child=-1 -2
right_child=1 -3
leaf_value=-0.5 0.25 0.125
internal_value=0.01 0.2

Tree=1
num_leaves=1
num_cat=0
leaf_value=0.75

end of trees

parameters:
)";

TEST(LightgbmModel, IsReadAsTrees) {
    const auto trees = read_lightgbm(kTwoTrees);
    ASSERT_TRUE(trees) << trees.error().message;
    ASSERT_EQ(trees->size(), 2U);
    EXPECT_EQ((*trees)[0].nodes[1], (Tree::Node{24, -1.5, -2, -3, 0.2}));
    EXPECT_EQ((*trees)[1].leaves, std::vector{0.75});
    EXPECT_TRUE(Model::create({.prior = 1, .trees = *trees, .made = {}}));
}

TEST(LightgbmModel, IsRefusedWhereItIsCutOrStrange) {
    const std::string whole(kTwoTrees);
    const std::size_t end = whole.find("end of trees");
    for (std::size_t i = 0; i <= end; ++i) EXPECT_FALSE(read_lightgbm(whole.substr(0, i)));
    const auto with = [&](std::string_view old, std::string_view other) {
        std::string text = whole;
        text.replace(text.find(old), old.size(), other);
        return read_lightgbm(text);
    };
    EXPECT_FALSE(with("num_cat=0", "num_cat=1"));
    EXPECT_FALSE(with("decision_type=2 2", "decision_type=2 10"));
    EXPECT_FALSE(with("threshold=0.25 -1.5", "threshold=0.25"));
    EXPECT_FALSE(with("leaf_value=-0.5", "leaf_value=x"));
}

TEST(Lightgbm, ThatIsNotThereIsNotFound) {
    const auto missing = Lightgbm::load("/nonexistent/lib_lightgbm.so");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
}

class LightgbmLibrary : public testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(library())) {
            GTEST_SKIP() << "no " << library() << ": tools/fetch_lightgbm brings it";
        }
        auto loaded = Lightgbm::load(library());
        ASSERT_TRUE(loaded) << loaded.error().message;
        lightgbm_.emplace(*std::move(loaded));
    }

    std::optional<Lightgbm> lightgbm_;
};

TEST_F(LightgbmLibrary, AndWeGiveTheSameScores) {
    const TrainingData data = made_up(1, 60);
    TrainingOptions options;
    options.leaves = static_cast<int>(kMaxLeaves);
    options.min_rows_per_leaf = 5;
    options.trees = 200;
    const auto text = lightgbm_->train(data, options);
    ASSERT_TRUE(text) << text.error().message;
    auto trees = read_lightgbm(*text);
    ASSERT_TRUE(trees) << trees.error().message;
    EXPECT_GT(trees->size(), 50U);
    const Model model = Model::create({.prior = 0, .trees = *std::move(trees), .made = {}}).value();
    std::mt19937_64 rng(2);
    std::vector<Vector> rows = data.rows;
    for (int i = 0; i < 2000; ++i) rows.push_back(random_row(rng));
    const auto theirs = lightgbm_->predict(*text, rows);
    ASSERT_TRUE(theirs) << theirs.error().message;
    const std::vector<double> ours = model.scores(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(ours[i], (*theirs)[i], 1e-12);
}

TEST_F(LightgbmLibrary, LearnsWhatThereIsToLearnAndKeepsTheConstraints) {
    const TrainingData data = made_up(3, 80);
    TrainingOptions options;
    options.prior = 0;
    options.min_rows_per_leaf = 10;
    const auto text = lightgbm_->train(data, options);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(*text, lightgbm_->train(data, options).value());  // the same once more
    const Model model =
        Model::create({.prior = 0, .trees = read_lightgbm(*text).value(), .made = {}}).value();
    const std::vector<double> scores = model.scores(data.rows);
    double relevant = 0;
    double others = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        (data.grades[i] > 0 ? relevant : others) += scores[i];
    }
    EXPECT_GT(relevant, others);
    // A larger value of a score never lowers the ranking.
    std::mt19937_64 rng(4);
    for (int i = 0; i < 500; ++i) {
        Vector row = random_row(rng);
        const std::size_t feature = rng() % kFeatures;
        const int direction = features()[feature].monotone;
        if (direction == 0) continue;
        const double before = model.scores(std::span(&row, 1)).front();
        row[feature] += direction * std::abs(in_unit(rng));
        EXPECT_GE(model.scores(std::span(&row, 1)).front(), before) << features()[feature].name;
    }
}

TEST_F(LightgbmLibrary, RefusesDataThatDoNotFit) {
    TrainingData data = made_up(5, 4);
    data.grades.pop_back();
    EXPECT_FALSE(lightgbm_->train(data, {}));
    data = made_up(5, 4);
    std::ranges::fill(data.grades, 0);
    EXPECT_FALSE(lightgbm_->train(data, {}));
    data = made_up(5, 4);
    data.queries.push_back(0);
    EXPECT_FALSE(lightgbm_->train(data, {}));
}

}  // namespace
}  // namespace braid::rank
