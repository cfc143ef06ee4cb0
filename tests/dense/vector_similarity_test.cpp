#include "braid/vector_similarity.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace braid {
namespace {

using Vector = std::vector<float>;

TEST(VectorSimilarity, ComparesDirections) {
    EXPECT_EQ(cosine_similarity(Vector{1, 0}, Vector{3, 0}), 1.0);
    EXPECT_EQ(cosine_similarity(Vector{1, 0}, Vector{0, 2}), 0.0);
    EXPECT_EQ(cosine_similarity(Vector{1, 0}, Vector{-5, 0}), -1.0);
    EXPECT_EQ(cosine_similarity(Vector{0, 0}, Vector{1, 1}), 0.0) << "it has no direction";
    EXPECT_EQ(cosine_similarity(Vector{}, Vector{}), 0.0);
}

TEST(VectorSimilarity, MeasuresDistances) {
    EXPECT_EQ(euclidean_distance(Vector{0, 0}, Vector{3, 4}), 5.0);
    EXPECT_EQ(euclidean_distance(Vector{1, 2}, Vector{1, 2}), 0.0);
}

TEST(VectorSimilarity, RefusesVectorsOfDifferentLengths) {
    for (const auto& result : {cosine_similarity(Vector{1}, Vector{1, 2}),
                               euclidean_distance(Vector{1}, Vector{1, 2})}) {
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code, ErrorCode::InvalidArgument);
        EXPECT_EQ(result.error().message, "vectors of 1 and 2 numbers cannot be compared");
    }
}

TEST(VectorSimilarity, NormalizesToLengthOne) {
    EXPECT_EQ(normalize(Vector{3, 4}), (Vector{0.6F, 0.8F}));
    EXPECT_EQ(normalize(Vector{0, 0}), (Vector{0, 0}));
}

TEST(VectorSimilarity, IsThatOfThePlainFormulas) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 random(seed);
        std::normal_distribution<float> normal;
        Vector a(1 + seed * 7);
        Vector b(a.size());
        double dot = 0;
        double aa = 0;
        double bb = 0;
        double apart = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            const double x = a[i] = normal(random);
            const double y = b[i] = normal(random);
            dot += x * y;
            aa += x * x;
            bb += y * y;
            apart += (x - y) * (x - y);
        }
        EXPECT_NEAR(*cosine_similarity(a, b), dot / std::sqrt(aa * bb), 1e-9);
        EXPECT_NEAR(*euclidean_distance(a, b), std::sqrt(apart), 1e-5);
        EXPECT_NEAR(*euclidean_distance(normalize(a), Vector(a.size())), 1.0, 1e-6);
    }
}

}  // namespace
}  // namespace braid
