#include "braid/rank/features.hpp"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace braid::rank {
namespace {

double value(const Vector& vector, std::string_view name) {
    EXPECT_LT(feature_index(name), kFeatures) << name;
    return vector[feature_index(name)];
}

Receipt receipt(double fused, std::optional<double> dense, std::size_t dense_rank,
                std::optional<double> sparse, std::size_t sparse_rank) {
    Receipt out;
    out.fused = fused;
    const auto add = [&](const char* name, double score, std::size_t rank, double weight) {
        ReceiptSource& source = out.sources.emplace_back();
        source.source = name;
        source.score = score;
        source.rank = rank;
        source.filled = rank == 0;
        source.weight = weight;
    };
    if (dense) add("dense", *dense, dense_rank, 0.6);
    if (sparse) add("sparse", *sparse, sparse_rank, 0.2);
    return out;
}

TEST(Features, HaveNamesThatDiffer) {
    std::set<std::string_view> names;
    for (const Feature& feature : features()) {
        EXPECT_TRUE(names.insert(feature.name).second) << feature.name;
        EXPECT_FALSE(feature.meaning.empty());
    }
    EXPECT_EQ(feature_index("no such"), kFeatures);
}

TEST(Features, CompareACandidateWithTheOthers) {
    const Receipt first = receipt(0.9, 0.8, 1, 7.0, 4);
    const Receipt second = receipt(0.5, 0.6, 2, 3.0, 0);
    const Receipt third = receipt(0.1, std::nullopt, 0, 11.0, 1);
    Chunk chunk;
    chunk.chunk_index = 3;
    chunk.created_at = Timestamp{0};
    Chunk newer = chunk;
    newer.created_at = Timestamp{86'400'000'000};
    const std::vector<Candidate> candidates{
        {&first, &chunk, {}, {}, {}}, {&second, &newer, {}, {}, {}}, {&third, &chunk, {}, {}, {}}};
    const auto vectors = feature_vectors({}, candidates);
    ASSERT_EQ(vectors.size(), 3U);
    EXPECT_EQ(value(vectors[0], "fused"), 0.9);
    EXPECT_EQ(value(vectors[0], "fused_norm"), 1);
    EXPECT_EQ(value(vectors[2], "fused_norm"), 0);
    EXPECT_EQ(value(vectors[0], "dense_norm"), 1);
    EXPECT_EQ(value(vectors[1], "dense_norm"), 0);
    EXPECT_EQ(value(vectors[2], "dense_norm"), 0);
    EXPECT_EQ(value(vectors[2], "dense_score"), 0);
    EXPECT_EQ(value(vectors[1], "dense_reciprocal_rank"), 0.5);
    EXPECT_EQ(value(vectors[1], "sparse_reciprocal_rank"), 0);  // scored afterwards
    EXPECT_EQ(value(vectors[0], "sparse_gap"), 4);
    EXPECT_EQ(value(vectors[2], "sparse_gap"), 0);
    EXPECT_EQ(value(vectors[0], "legs"), 2);
    EXPECT_EQ(value(vectors[1], "legs"), 1);
    EXPECT_DOUBLE_EQ(value(vectors[0], "dense_weight"), 0.75);
    EXPECT_DOUBLE_EQ(value(vectors[0], "chunk_index"), std::log(4.0));
    EXPECT_DOUBLE_EQ(value(vectors[0], "age"), std::log(2.0));
    EXPECT_EQ(value(vectors[1], "age"), 0);
}

TEST(Features, LookAtTheWords) {
    const QueryTerms query{{"red", "fox", "hunt"}, {{"red", 1}, {"fox", 2}, {"hunt", 5}}};
    const Receipt any = receipt(1, 1, 1, 1, 1);
    const Chunk chunk;
    const std::vector<Candidate> candidates{
        {&any, &chunk, {"fox"}, {}, {"a", "red", "fox", "sleep"}},
        {&any, &chunk, {}, {"hunt"}, {"owl"}},
        {&any, &chunk, {}, {}, {}}};
    const auto vectors = feature_vectors(query, candidates);
    EXPECT_EQ(value(vectors[0], "query_terms"), 3);
    EXPECT_EQ(value(vectors[0], "idf_mass"), 8);
    EXPECT_DOUBLE_EQ(value(vectors[0], "coverage"), 2.0 / 3);
    EXPECT_DOUBLE_EQ(value(vectors[0], "idf_coverage"), 3.0 / 8);
    EXPECT_DOUBLE_EQ(value(vectors[0], "title_coverage"), 2.0 / 8);
    EXPECT_DOUBLE_EQ(value(vectors[0], "phrase"), 0.5);
    EXPECT_DOUBLE_EQ(value(vectors[0], "early"), 0.75);
    EXPECT_DOUBLE_EQ(value(vectors[0], "length"), std::log(5.0));
    EXPECT_DOUBLE_EQ(value(vectors[1], "title_coverage"), 5.0 / 8);
    EXPECT_EQ(value(vectors[2], "early"), 0);
    EXPECT_EQ(value(vectors[2], "age"), -1);
    for (const Vector& vector : vectors) {
        for (const double x : vector) EXPECT_TRUE(std::isfinite(x));
    }
}

TEST(Features, FindTheLegsOfACollectionsOwnList) {
    Receipt outer;
    outer.fused = 1.0 / 60;
    outer.rank_base = 0;
    ReceiptSource& source = outer.sources.emplace_back();
    source.source = "notes";
    source.nested = std::make_shared<Receipt>(receipt(0.4, 0.7, 2, std::nullopt, 0));
    const Chunk chunk;
    const std::vector<Candidate> candidates{{&outer, &chunk, {}, {}, {}}};
    const auto vectors = feature_vectors({}, candidates);
    EXPECT_EQ(value(vectors[0], "fused"), 1.0 / 60);
    EXPECT_EQ(value(vectors[0], "dense_score"), 0.7);
    EXPECT_EQ(value(vectors[0], "dense_reciprocal_rank"), 0.5);
    EXPECT_EQ(value(vectors[0], "sparse_score"), 0);
}

TEST(Features, OfNoCandidatesAreNone) {
    EXPECT_TRUE(feature_vectors({}, {}).empty());
}

}  // namespace
}  // namespace braid::rank
