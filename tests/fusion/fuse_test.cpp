#include "braid/fusion/fuse.hpp"

#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "core/present.hpp"

namespace braid::fusion {
namespace {

using Ids = std::vector<std::string>;

Ids ids_of(const Fused& fused) {
    Ids ids;
    for (const FusedHit& hit : fused.hits) ids.emplace_back(hit.id);
    return ids;
}

TEST(Fuse, GivesReciprocalRanksOnKnownInputs) {
    const std::vector<Entry> dense{{"a", 0.9}, {"b", 0.8, 1}};
    const std::vector<Entry> sparse{{"b", 7.0}, {"c", 3.0, 1}};
    const std::vector<RankedList> lists{{"dense", 0.7, dense}, {"sparse", 0.3, sparse}};

    const auto fused = fuse(lists, {});

    ASSERT_TRUE(fused);
    EXPECT_EQ(ids_of(*fused), (Ids{"b", "a", "c"}));
    EXPECT_EQ(fused->hits[0].score, 0.7 / 62 + 0.3 / 61);
    EXPECT_EQ(fused->hits[1].score, 0.7 / 61);
    EXPECT_EQ(fused->hits[2].score, 0.3 / 62);
    ASSERT_EQ(fused->hits[0].parts.size(), 2U);
    EXPECT_EQ(fused->hits[0].parts[1].rank, 1U);
}

TEST(Fuse, NeverSortsItsInputsAndBreaksTiesBySmallerId) {
    const std::vector<Entry> list{{"z", 0.1}, {"y", 0.9, 1}};
    const std::vector<Entry> other{{"y", 1.0}, {"z", 0.5, 1}};
    const auto fused = fuse(std::vector<RankedList>{{"a", 1, list}, {"b", 1, other}}, {});
    ASSERT_TRUE(fused);
    EXPECT_EQ(ids_of(*fused), (Ids{"y", "z"}));
    EXPECT_EQ(fused->hits[0].score, fused->hits[1].score);
}

TEST(Fuse, KeepsALoneMatchAndAdmitsHitsOfAListOfWeightZero) {
    const std::vector<Entry> lone{{"only", 3.5}};
    const std::vector<Entry> muted{{"quiet", 1.0}};
    const auto fused = fuse(std::vector<RankedList>{{"dense", 1, lone}, {"sparse", 0, muted}},
                            {.method = FusionMethod::WeightedSum});
    ASSERT_TRUE(fused);
    EXPECT_EQ(ids_of(*fused), (Ids{"only", "quiet"}));
    EXPECT_EQ(fused->hits[0].score, 1.0);
    EXPECT_EQ(fused->hits[1].score, 0.0);
}

TEST(Fuse, AnswersEmptyListsWithNothing) {
    EXPECT_TRUE(fuse({}, {})->hits.empty());
    for (const auto method : {FusionMethod::Rrf, FusionMethod::WeightedSum, FusionMethod::Dbsf}) {
        const auto fused =
            fuse(std::vector<RankedList>{{"dense", 1, {}}, {"sparse", 1, {}}}, {.method = method});
        EXPECT_TRUE(fused && fused->hits.empty());
    }
}

TEST(Fuse, RefusesWhatHasNoMeaning) {
    const std::vector<Entry> list{{"a", 1.0}};
    const std::vector<Entry> twice{{"a", 1.0}, {"a", 0.5}};
    const std::vector<Entry> nan{{"a", std::nan("")}};
    EXPECT_FALSE(fuse(std::vector<RankedList>{{"dense", -1, list}}, {}));
    EXPECT_FALSE(fuse(std::vector<RankedList>{{"dense", 1, twice}}, {}));
    EXPECT_FALSE(fuse(std::vector<RankedList>{{"dense", 1, nan}}, {}));
    EXPECT_FALSE(fuse(std::vector<RankedList>{{"dense", 1, list}}, {.k = -1}));
    EXPECT_FALSE(fuse(std::vector<RankedList>{{"dense", 1, list}}, {.k = 0, .rank_base = 0}));
    EXPECT_FALSE(fuse(std::vector<RankedList>{{"dense", 1, list}}, {.method = FusionMethod::Auto}));
}

TEST(Fuse, AddsItsPartsToTheScoreBitForBit) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::vector<std::string> owned;
        owned.reserve(40);
        for (int i = 0; i < 40; ++i) owned.push_back("d" + std::to_string(i));
        std::vector<std::string_view> names(owned.begin(), owned.end());
        std::vector<std::vector<Entry>> entries(1 + seed % 4);
        for (auto& list : entries) {
            std::shuffle(names.begin(), names.end(), rng);
            for (std::size_t i = 0; i < rng() % 40; ++i) {
                list.push_back({names[i], std::uniform_real_distribution(-3.0, 9.0)(rng), i});
            }
        }
        std::vector<RankedList> lists;
        lists.reserve(entries.size());
        for (const auto& list : entries) {
            lists.push_back({"s", 0.25 * static_cast<double>(rng() % 5), list});
        }
        const auto method = static_cast<FusionMethod>(rng() % 3);
        const auto fused = fuse(lists, {.method = method});
        ASSERT_TRUE(fused);
        for (const FusedHit& hit : fused->hits) {
            double sum = 0;
            for (const Part& part : hit.parts) sum += part.contribution;
            if (method == FusionMethod::Dbsf) sum /= static_cast<double>(hit.parts.size());
            EXPECT_EQ(sum, hit.score);
        }
    }
}

/// The 400 worked cases: every method, weights, empty and degenerate lists.
TEST(Fuse, EqualsTheGoldenCases) {
    std::ifstream file(BRAID_GOLDEN_FUSION);
    ASSERT_TRUE(file) << BRAID_GOLDEN_FUSION;
    std::map<std::string, int> cases;
    for (std::string line; std::getline(file, line);) {
        const auto json = json::parse(line);
        ASSERT_TRUE(json) << json.error().message;
        const std::string name = json->find("method")->as_string();
        SCOPED_TRACE(::testing::Message() << name << " case " << cases[name]);
        ++cases[name];
        const Value& params = *json->find("params");
        Options options;
        options.method = present(fusion_by_name(name == "rrf_zero_based" ? "rrf" : name));
        options.rank_base = name == "rrf_zero_based" ? 0 : 1;
        if (const Value* k = params.find("k")) options.k = k->as_double();
        std::vector<std::vector<Entry>> entries;
        std::vector<RankedList> lists;
        for (const auto& [source, list] : json->find("lists")->as_object()) {
            auto& into = entries.emplace_back();
            for (const Value& pair : list.as_array()) {
                into.push_back(
                    {pair.as_array()[0].as_string(), pair.as_array()[1].as_double(), into.size()});
            }
            const Value* weights = params.find("weights");
            const Value* weight = weights != nullptr ? weights->find(source) : nullptr;
            lists.push_back({source, weight != nullptr ? weight->as_double() : 1.0, {}});
        }
        for (std::size_t i = 0; i < lists.size(); ++i) lists[i].entries = entries[i];

        const auto fused = fuse(lists, options);

        ASSERT_TRUE(fused) << fused.error().message;
        const Array& expected = json->find("expect")->as_array();
        ASSERT_EQ(fused->hits.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_EQ(fused->hits[i].id, expected[i].as_array()[0].as_string()) << "at " << i;
            const double score = expected[i].as_array()[1].as_double();
            EXPECT_NEAR(fused->hits[i].score, score, 1e-12 * std::abs(score)) << "at " << i;
        }
    }
    EXPECT_EQ(cases["rrf"] + cases["rrf_zero_based"] + cases["weighted_sum"] + cases["dbsf"], 400);
}

}  // namespace
}  // namespace braid::fusion
