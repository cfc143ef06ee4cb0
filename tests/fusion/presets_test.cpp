#include "braid/fusion/presets.hpp"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/fusion/fuse.hpp"

namespace braid::fusion {
namespace {

using Scores = std::map<std::string, double>;

// "a" stands first and third, "b" second and first, "c" and "d" in one list only.
const std::vector<Entry> kDense{{"a", 5.0, 0}, {"b", 4.0, 1}, {"c", 0.0, 2}};
const std::vector<Entry> kSparse{{"b", 10.0, 0}, {"d", 6.0, 1}, {"a", 2.0, 2}};

Result<Fused> fused_by(std::string_view preset, FusionMethod method,
                       const std::vector<RankedList>& lists) {
    BRAID_TRY(const Options options, preset_options(preset, method));
    return fuse(lists, options);
}

Scores scores(std::string_view preset, FusionMethod method, double dense_weight = 1,
              double sparse_weight = 1) {
    const auto fused = fused_by(
        preset, method, {{"dense", dense_weight, kDense}, {"sparse", sparse_weight, kSparse}});
    EXPECT_TRUE(fused) << (fused ? "" : fused.error().message);
    Scores by_id;
    if (!fused) return by_id;
    for (const FusedHit& hit : fused->hits) by_id[std::string(hit.id)] = hit.score;
    return by_id;
}

/// The one hit's score in a list of equal scores.
double lone(std::string_view preset, FusionMethod method, double score) {
    const std::vector<Entry> entries{{"x", score, 0}, {"y", score, 1}};
    return fused_by(preset, method, {{"only", 1, entries}})->hits.front().score;
}

void expect_near(const Scores& found, const Scores& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [id, score] : expected) EXPECT_NEAR(found.at(id), score, 1e-15) << id;
}

TEST(Presets, QdrantCountsFromZeroWithConstantTwo) {
    expect_near(
        scores("qdrant", FusionMethod::Rrf),
        {{"a", 1.0 / 2 + 1.0 / 4}, {"b", 1.0 / 3 + 1.0 / 2}, {"c", 1.0 / 4}, {"d", 1.0 / 3}});
}

TEST(Presets, QdrantPutsTheWeightInsideTheRank) {
    // Weight 2: ranks 0, 1, 2 become k - 1/2, k, k + 1/2; weight 0.5: k + 1, k + 3, k + 5.
    expect_near(
        scores("qdrant", FusionMethod::Rrf, 2, 0.5),
        {{"a", 1 / 1.5 + 1.0 / 7}, {"b", 1.0 / 2 + 1.0 / 3}, {"c", 1 / 2.5}, {"d", 1.0 / 5}});
    EXPECT_EQ(scores("qdrant", FusionMethod::Rrf, 0, 1).at("c"), 0.0);
}

TEST(Presets, QdrantAddsScoresOverSixSampleDeviations) {
    // dense: mean 3, squares 4 + 1 + 9 over 2, std sqrt(7); sparse: mean 6, std 4.
    const double root = std::sqrt(7.0);
    expect_near(scores("qdrant", FusionMethod::Dbsf, 3, 1),
                {{"a", 0.5 + 2 / (6 * root) + 0.5 - 4.0 / 24},
                 {"b", 0.5 + 1 / (6 * root) + 0.5 + 4.0 / 24},
                 {"c", 0.5 - 3 / (6 * root)},
                 {"d", 0.5}});
    EXPECT_EQ(lone("qdrant", FusionMethod::Dbsf, 3), 0.5);
}

TEST(Presets, ElasticWeighsReciprocalRanksFromOne) {
    expect_near(
        scores("elastic", FusionMethod::Rrf, 2, 1),
        {{"a", 2.0 / 61 + 1.0 / 63}, {"b", 2.0 / 62 + 1.0 / 61}, {"c", 2.0 / 63}, {"d", 1.0 / 62}});
}

TEST(Presets, ElasticKeepsTheScoresOfAListThatHardlyDiffers) {
    expect_near(scores("elastic", FusionMethod::WeightedSum, 2, 1),
                {{"a", 2.0}, {"b", 2 * 0.8 + 1}, {"c", 0.0}, {"d", 0.5}});
    EXPECT_EQ(lone("elastic", FusionMethod::WeightedSum, 3.5), 3.5);
    const std::vector<Entry> close{{"x", 0.50000001, 0}, {"y", 0.5, 1}};
    const auto fused = fused_by("elastic", FusionMethod::WeightedSum, {{"only", 2, close}});
    ASSERT_TRUE(fused);
    EXPECT_EQ(fused->hits[1].score, 1.0);
}

TEST(Presets, LangChainCountsAnIdTwiceThatStandsTwice) {
    expect_near(
        scores("langchain", FusionMethod::Rrf, 0.5, 0.5),
        {{"a", 0.5 / 61 + 0.5 / 63}, {"b", 0.5 / 62 + 0.5 / 61}, {"c", 0.5 / 63}, {"d", 0.5 / 62}});
    const std::vector<Entry> twice{{"x", 2.0, 0}, {"y", 1.5, 1}, {"x", 1.0, 2}};
    const auto fused = fused_by("langchain", FusionMethod::Rrf, {{"only", 1, twice}});
    ASSERT_TRUE(fused) << fused.error().message;
    EXPECT_EQ(fused->hits[0].id, "x");
    EXPECT_EQ(fused->hits[0].score, 1.0 / 61 + 1.0 / 63);
    EXPECT_EQ(fused->hits[0].parts.size(), 2U);
    EXPECT_FALSE(fused_by("elastic", FusionMethod::Rrf, {{"only", 1, twice}}));
}

TEST(Presets, LlamaIndexIgnoresWeightsOfReciprocalRanks) {
    expect_near(
        scores("llamaindex", FusionMethod::Rrf, 9, 0),
        {{"a", 1.0 / 60 + 1.0 / 62}, {"b", 1.0 / 61 + 1.0 / 60}, {"c", 1.0 / 62}, {"d", 1.0 / 61}});
}

TEST(Presets, LlamaIndexWeighsNormalisedScores) {
    expect_near(scores("llamaindex", FusionMethod::WeightedSum, 0.5, 0.25),
                {{"a", 0.5}, {"b", 0.4 + 0.25}, {"c", 0.0}, {"d", 0.125}});
    // dense: mean 3, population std sqrt(14/3); sparse: mean 6, std sqrt(32/3).
    const double dense = 6 * std::sqrt(14.0 / 3);
    const double sparse = 6 * std::sqrt(32.0 / 3);
    expect_near(scores("llamaindex", FusionMethod::Dbsf, 0.5, 0.25),
                {{"a", 0.5 * (0.5 + 2 / dense) + 0.25 * (0.5 - 4 / sparse)},
                 {"b", 0.5 * (0.5 + 1 / dense) + 0.25 * (0.5 + 4 / sparse)},
                 {"c", 0.5 * (0.5 - 3 / dense)},
                 {"d", 0.125}});
    for (const auto method : {FusionMethod::WeightedSum, FusionMethod::Dbsf}) {
        EXPECT_EQ(lone("llamaindex", method, 0.2), 1.0);
        EXPECT_EQ(lone("llamaindex", method, 0.0), 0.0);
        EXPECT_EQ(lone("llamaindex", method, -0.2), 0.0);
    }
}

TEST(Presets, HaystackScalesTheBestPossibleToOne) {
    expect_near(scores("haystack", FusionMethod::Rrf), {{"a", (1.0 / 61 + 1.0 / 63) / (2.0 / 61)},
                                                        {"b", (1.0 / 62 + 1.0 / 61) / (2.0 / 61)},
                                                        {"c", (1.0 / 63) / (2.0 / 61)},
                                                        {"d", (1.0 / 62) / (2.0 / 61)}});
    // Weights 3 and 1 are shares 0.75 and 0.25; times two lists: 1.5 and 0.5.
    expect_near(scores("haystack", FusionMethod::Rrf, 3, 1),
                {{"a", (1.5 / 61 + 0.5 / 63) / (2.0 / 61)},
                 {"b", (1.5 / 62 + 0.5 / 61) / (2.0 / 61)},
                 {"c", (1.5 / 63) / (2.0 / 61)},
                 {"d", (0.5 / 62) / (2.0 / 61)}});
    EXPECT_EQ(scores("haystack", FusionMethod::Rrf, 0, 0).at("a"), 0.0);
}

TEST(Presets, HaystackKeepsTheLargestOfTheScaledScores) {
    const double dense = 6 * std::sqrt(14.0 / 3);
    const double sparse = 6 * std::sqrt(32.0 / 3);
    expect_near(
        scores("haystack", FusionMethod::Dbsf, 5, 0),
        {{"a", 0.5 + 2 / dense}, {"b", 0.5 + 4 / sparse}, {"c", 0.5 - 3 / dense}, {"d", 0.5}});
    EXPECT_EQ(lone("haystack", FusionMethod::Dbsf, 3), 0.0);
}

TEST(Presets, NamesWhatThereIsWhenAskedForWhatThereIsNot) {
    const auto typo = preset_options("qdrnat", FusionMethod::Rrf);
    ASSERT_FALSE(typo);
    EXPECT_EQ(typo.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(typo.error().message.find("did you mean \"qdrant\""), std::string::npos);
    for (const std::string_view name : preset_names()) {
        EXPECT_NE(typo.error().message.find(name), std::string::npos) << name;
        const auto options = preset_options(name, FusionMethod::Rrf);
        ASSERT_TRUE(options);
        EXPECT_EQ(name_of(options->preset), name);
        EXPECT_FALSE(preset_options(name, FusionMethod::Auto));
    }
    const auto lacking = preset_options("langchain", FusionMethod::Dbsf);
    ASSERT_FALSE(lacking);
    EXPECT_NE(lacking.error().message.find("it has rrf"), std::string::npos);
    EXPECT_FALSE(preset_options("", FusionMethod::Rrf));
    EXPECT_FALSE(fuse({}, {.method = FusionMethod::Dbsf, .preset = Preset::LangChain}));
}

TEST(Presets, SayWhetherTheyUseWeights) {
    EXPECT_FALSE(uses_weights(*preset_options("llamaindex", FusionMethod::Rrf)));
    EXPECT_TRUE(uses_weights(*preset_options("llamaindex", FusionMethod::Dbsf)));
    EXPECT_TRUE(uses_weights({}));
    EXPECT_FALSE(uses_weights({.method = FusionMethod::Dbsf}));
}

TEST(Presets, QdrantRefusesAConstantThatMakesNoSense) {
    Options options = *preset_options("qdrant", FusionMethod::Rrf);
    options.k = 0.5;
    EXPECT_TRUE(fuse(std::vector<RankedList>{{"dense", 1, kDense}}, options));
    EXPECT_FALSE(fuse(std::vector<RankedList>{{"dense", 4, kDense}}, options));
}

}  // namespace
}  // namespace braid::fusion
