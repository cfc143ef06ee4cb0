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
    const std::vector<Candidate> candidates{{&first, &chunk, {}, {}, {}, {}},
                                            {&second, &newer, {}, {}, {}, {}},
                                            {&third, &chunk, {}, {}, {}, {}}};
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
    const QueryTerms query{{"red", "fox", "hunt"}, {{"red", 1}, {"fox", 2}, {"hunt", 5}}, 0};
    const Receipt any = receipt(1, 1, 1, 1, 1);
    const Chunk chunk;
    const std::vector<Candidate> candidates{
        {&any, &chunk, {"fox"}, {"fox"}, {}, {"a", "red", "fox", "sleep"}},
        {&any, &chunk, {}, {}, {"hunt"}, {"owl"}},
        {&any, &chunk, {}, {}, {}, {}}};
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

TEST(Features, LookAtWhereTheWordsStand) {
    QueryTerms query{{"red", "fox", "hunt"}, {{"red", 1}, {"fox", 2}, {"hunt", 5}}, 40};
    const Receipt any = receipt(1, 1, 1, 1, 1);
    const Chunk chunk;
    std::vector<std::string> far(40, "and");
    far[0] = "red";
    far[15] = "fox";
    far[31] = "hunt";
    const std::vector<Candidate> candidates{
        {&any, &chunk, {"fox", "den"}, {}, {}, far},
        {&any, &chunk, {}, {}, {}, {"hunt", "hunt", "red"}},
    };
    const auto vectors = feature_vectors(query, candidates);
    EXPECT_DOUBLE_EQ(value(vectors[0], "window"), 5.0 / 8);  // "fox" is 16 terms before "hunt"
    EXPECT_DOUBLE_EQ(value(vectors[0], "opening"), 3.0 / 8);
    EXPECT_DOUBLE_EQ(value(vectors[0], "title_share"), 0.5);
    EXPECT_DOUBLE_EQ(value(vectors[0], "content_score"), 1 / 1.6);  // of the usual length
    EXPECT_DOUBLE_EQ(value(vectors[1], "window"), 6.0 / 8);
    const double norm = 0.6 * (0.6 + 0.4 * 3 / 40);
    EXPECT_DOUBLE_EQ(value(vectors[1], "content_score"), (5 * 2 / (2 + norm) + 1 / (1 + norm)) / 8);
    EXPECT_EQ(value(vectors[1], "rest"), 0);  // the first one lacks nothing
    query.weight["den"] = 4;
    query.weight["hole"] = 12;
    EXPECT_EQ(value(feature_vectors(query, candidates)[1], "rest"), 0);
    const std::vector<Candidate> turned{candidates[1], candidates[0]};
    EXPECT_DOUBLE_EQ(value(feature_vectors(query, turned)[1], "rest"), (2.0 + 4) / (2 + 4 + 12));
}

TEST(Features, LookAtTheOtherCandidates) {
    const QueryTerms query{{"who", "wrote", "dune", "messiah"}, {{"dune", 3}, {"messiah", 2}}, 10};
    const Receipt first = receipt(0.9, 0.8, 1, 7.0, 1);
    const Receipt second = receipt(0.5, 0.7, 2, 3.0, 2);
    const Receipt third = receipt(0.1, 0.6, 3, 1.0, 3);
    Chunk book;
    book.document_id = "book";
    book.title = "Dune Messiah (novel)";
    Chunk author;
    author.document_id = "author";
    author.title = "Frank Herbert";
    Chunk other = book;
    other.title = "Dune";
    const std::vector<Candidate> candidates{
        {&first,
         &book,
         {"dune", "messiah", "novel"},
         {"dune", "messiah"},
         {},
         {"a", "novel", "by", "frank", "herbert"}},
        {&second,
         &author,
         {"frank", "herbert"},
         {"frank", "herbert"},
         {},
         {"he", "wrote", "dune", "messiah"}},
        {&third, &other, {"dune"}, {"dune"}, {}, {"sand"}},
    };
    const auto vectors = feature_vectors(query, candidates);
    EXPECT_EQ(value(vectors[0], "asked"), 1);
    EXPECT_EQ(value(vectors[1], "asked"), 0);
    EXPECT_EQ(value(vectors[2], "asked"), 1);
    EXPECT_EQ(value(vectors[1], "named"), 1);  // by the best one
    EXPECT_EQ(value(vectors[0], "named"), 0.5);
    EXPECT_EQ(value(vectors[2], "named"), 0.5);
    EXPECT_EQ(value(vectors[0], "naming"), 0.5);
    EXPECT_EQ(value(vectors[1], "naming"), 1);
    EXPECT_EQ(value(vectors[2], "naming"), 0);
    const double best = 1;
    const double middle = std::exp(-4.0);
    const double least = std::exp(-8.0);
    EXPECT_NEAR(value(vectors[0], "kin"), least / (middle + least), 1e-12);
    EXPECT_EQ(value(vectors[1], "kin"), 0);
    EXPECT_NEAR(value(vectors[2], "kin"), best / (best + middle), 1e-12);
    EXPECT_GT(value(vectors[0], "alike"), value(vectors[2], "alike") / 2);
    EXPECT_GT(value(vectors[2], "alike"), 0);
    for (const Vector& vector : vectors) {
        for (std::size_t f = 0; f < kFeatures; ++f) {
            if (!features()[f].unit) continue;
            EXPECT_GE(vector[f], 0) << features()[f].name;
            EXPECT_LE(vector[f], 1) << features()[f].name;
        }
    }
}

TEST(Features, CandidatesThatSayTheSameAreAlike) {
    const Receipt any = receipt(1, 1, 1, 1, 1);
    const Chunk chunk;
    const std::vector<std::string> text{"one", "two", "two"};
    const std::vector<Candidate> candidates{{&any, &chunk, {}, {}, {}, text},
                                            {&any, &chunk, {}, {}, {}, text},
                                            {&any, &chunk, {}, {}, {}, {"three"}}};
    const auto vectors = feature_vectors({}, candidates);
    const double second = 1 / std::sqrt(2.0);
    const double third = 1 / std::sqrt(3.0);
    EXPECT_NEAR(value(vectors[0], "alike"), second / (second + third), 1e-12);
    EXPECT_NEAR(value(vectors[1], "alike"), 1 / (1 + third), 1e-12);
    EXPECT_EQ(value(vectors[2], "alike"), 0);
}

TEST(Features, FindTheLegsOfACollectionsOwnList) {
    Receipt outer;
    outer.fused = 1.0 / 60;
    outer.rank_base = 0;
    ReceiptSource& source = outer.sources.emplace_back();
    source.source = "notes";
    source.nested = std::make_shared<Receipt>(receipt(0.4, 0.7, 2, std::nullopt, 0));
    const Chunk chunk;
    const std::vector<Candidate> candidates{{&outer, &chunk, {}, {}, {}, {}}};
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
