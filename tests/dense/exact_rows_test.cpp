#include "braid/dense/exact_rows.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace braid::dense {
namespace {

std::vector<float> random_vector(std::mt19937& rng, std::size_t dimension) {
    std::uniform_real_distribution<float> uniform(-2.0F, 2.0F);
    std::vector<float> vector(dimension);
    for (float& x : vector) x = uniform(rng);
    return vector;
}

/// In long double, so that it is closer to the truth than what it checks.
double reference(const std::vector<float>& a, std::span<const float> b, Metric metric) {
    long double dot = 0;
    long double aa = 0;
    long double bb = 0;
    long double distance = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const long double x = a[i];
        const long double y = b[i];
        dot += x * y;
        aa += x * x;
        bb += y * y;
        distance += (x - y) * (x - y);
    }
    if (metric == Metric::Dot) return static_cast<double>(dot);
    if (metric == Metric::Euclidean) return static_cast<double>(-std::sqrt(distance));
    return static_cast<double>(dot / (std::sqrt(aa) * std::sqrt(bb)));
}

TEST(ExactRows, ScoresAreThoseOfPlainSums) {
    for (const Metric metric : {Metric::Cosine, Metric::Dot, Metric::Euclidean}) {
        for (const std::size_t dimension : {1UL, 7UL, 16UL, 33UL, 384UL}) {
            SCOPED_TRACE(::testing::Message() << name_of(metric) << " " << dimension);
            std::mt19937 rng(static_cast<unsigned>(dimension));
            ExactRows rows(dimension, metric);
            std::vector<std::vector<float>> vectors;
            for (int i = 0; i < 50; ++i) {
                vectors.push_back(random_vector(rng, dimension));
                rows.add(vectors.back());
            }
            const auto query = random_vector(rng, dimension);
            std::vector<double> scores(50);
            rows.score(query, norm(query), 0, scores);
            for (std::size_t i = 0; i < 50; ++i) {
                EXPECT_NEAR(scores[i], reference(query, vectors[i], metric), 1e-12 * 400);
            }
        }
    }
}

TEST(ExactRows, RowsStayWhereTheyAreAcrossBlocks) {
    constexpr std::size_t count = 3 * ExactRows::kBlockRows + 5;
    ExactRows rows(3, Metric::Dot);
    std::mt19937 rng(5);
    std::vector<std::vector<float>> vectors;
    for (std::size_t i = 0; i < count; ++i) {
        vectors.push_back(random_vector(rng, 3));
        rows.add(vectors.back());
    }
    EXPECT_EQ(rows.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_TRUE(std::ranges::equal(rows.row(i), vectors[i])) << i;
    }
    const std::vector<float> query{1, 2, 3};
    double alone = 0;
    std::vector<double> block(ExactRows::kBlockRows);
    rows.score(query, norm(query), ExactRows::kBlockRows, block);
    for (std::size_t i = 0; i < block.size(); i += 97) {
        rows.score(query, norm(query), ExactRows::kBlockRows + i, std::span(&alone, 1));
        EXPECT_EQ(alone, block[i]) << "the same bits alone and in a block";
    }
}

TEST(ExactRows, ADistanceOfZeroIsNotNegative) {
    ExactRows rows(2, Metric::Euclidean);
    const std::vector<float> vector{3, 4};
    rows.add(vector);
    double score = -1;
    rows.score(vector, norm(vector), 0, std::span(&score, 1));
    EXPECT_EQ(score, 0.0);
    EXPECT_FALSE(std::signbit(score));
    EXPECT_EQ(norm(vector), 5.0);
}

}  // namespace
}  // namespace braid::dense
