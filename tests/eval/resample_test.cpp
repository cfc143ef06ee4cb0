#include "braid/eval/resample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace braid::eval {
namespace {

Matrix column(const std::vector<double>& values) {
    Matrix matrix(values.size(), 1);
    for (std::size_t i = 0; i < values.size(); ++i) matrix.row(i)[0] = values[i];
    return matrix;
}

std::vector<double> normal_values(unsigned seed, std::size_t count, double mean) {
    std::mt19937 rng(seed);
    std::normal_distribution<double> normal(mean, 1.0);
    std::vector<double> values(count);
    for (double& value : values) value = normal(rng);
    return values;
}

TEST(BootstrapMeans, AgreesWithTheStandardErrorOfTheMean) {
    const std::vector<double> values = normal_values(3, 400, 0.0);
    std::vector<double> means = bootstrap_means(column(values), 10'000, 7)[0];
    double variance = 0.0;
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 400.0;
    for (const double value : values) variance += (value - mean) * (value - mean) / 400.0;
    const double error = std::sqrt(variance / 400.0);

    const Interval interval = percentile_interval(means, 0.95);

    EXPECT_NEAR(interval.low, mean - 1.96 * error, 0.005);
    EXPECT_NEAR(interval.high, mean + 1.96 * error, 0.005);
}

TEST(BootstrapMeans, DrawsTheSameRowsForEveryColumn) {
    Matrix values(50, 2);
    std::mt19937 rng(1);
    for (std::size_t r = 0; r < 50; ++r) {
        values.row(r)[0] = static_cast<double>(rng() % 1000);
        values.row(r)[1] = values.row(r)[0] + 5.0;
    }
    const auto means = bootstrap_means(values, 200, 1);
    for (std::size_t i = 0; i < 200; ++i) EXPECT_NEAR(means[1][i] - means[0][i], 5.0, 1e-9);
}

TEST(BootstrapMeans, DependsOnTheSeedAndOnNothingElse) {
    const Matrix values = column(normal_values(1, 30, 0.0));
    EXPECT_EQ(bootstrap_means(values, 100, 5), bootstrap_means(values, 100, 5));
    EXPECT_NE(bootstrap_means(values, 100, 5), bootstrap_means(values, 100, 6));
    // Pins the random numbers: published intervals must not change with a library.
    EXPECT_DOUBLE_EQ(bootstrap_means(column({0, 1, 2, 4, 8, 16}), 1, 1)[0][0], 40.0 / 6.0);
}

TEST(PercentileInterval, InterpolatesBetweenNeighbours) {
    std::vector<double> numbers{5, 1, 2, 4, 3};
    EXPECT_EQ(percentile_interval(numbers, 0.5), (Interval{2.0, 4.0}));
    EXPECT_DOUBLE_EQ(percentile_interval(numbers, 0.9).low, 1.2);
    std::vector<double> one{7.0};
    EXPECT_EQ(percentile_interval(one, 0.95), (Interval{7.0, 7.0}));
}

TEST(RandomisationPValues, AreExactForFewQueries) {
    EXPECT_DOUBLE_EQ(randomisation_p_values(column({0.1, 0.2, 0.3}), 1000, 1)[0], 2.0 / 8.0);
    EXPECT_DOUBLE_EQ(randomisation_p_values(column({0.1, -0.1, 0.0}), 1000, 1)[0], 1.0);
    EXPECT_DOUBLE_EQ(randomisation_p_values(column({0.0, 0.0}), 1000, 1)[0], 1.0);
    // 0.1 + 0.2 - 0.3 is not 0 in doubles, but must count as no less extreme than 0.3 - 0.2 - 0.1.
    EXPECT_DOUBLE_EQ(randomisation_p_values(column({0.1, 0.2, -0.3}), 1000, 1)[0], 1.0);
}

TEST(RandomisationPValues, OfSamplesAgreeWithAllPatterns) {
    for (unsigned seed = 0; seed < 10; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        const std::vector<double> few = normal_values(seed, 15, 0.4);
        const double observed = std::abs(std::accumulate(few.begin(), few.end(), 0.0));
        double extreme = 0.0;
        for (unsigned pattern = 0; pattern < (1U << 15U); ++pattern) {
            double sum = 0.0;
            for (std::size_t i = 0; i < few.size(); ++i) {
                sum += ((pattern >> i) & 1U) != 0 ? few[i] : -few[i];
            }
            if (std::abs(sum) >= observed - 1e-12) extreme += 1.0;
        }
        const double exact = extreme / std::pow(2.0, 15.0);
        const double sampled = randomisation_p_values(column(few), 20'000, seed)[0];
        EXPECT_NEAR(sampled, exact, 4.0 * std::sqrt(exact * (1.0 - exact) / 20'000.0) + 1e-4);
    }
}

TEST(RandomisationPValues, AreRarelySmallWithoutADifference) {
    Matrix noise(60, 200);
    std::mt19937 rng(9);
    std::normal_distribution<double> normal;
    for (std::size_t r = 0; r < 60; ++r) {
        for (double& value : noise.row(r)) value = normal(rng);
    }
    const std::vector<double> p_values = randomisation_p_values(noise, 2000, 1);
    const auto small =
        std::count_if(p_values.begin(), p_values.end(), [](double p) { return p < 0.05; });
    EXPECT_LT(small, 25);
}

TEST(HolmAdjusted, RaisesAndKeepsTheOrder) {
    const std::vector<double> adjusted = holm_adjusted(std::vector<double>{0.04, 0.01, 0.03, 0.9});
    EXPECT_DOUBLE_EQ(adjusted[1], 0.04);
    EXPECT_DOUBLE_EQ(adjusted[2], 0.09);
    EXPECT_DOUBLE_EQ(adjusted[0], 0.09) << "never below a smaller one's";
    EXPECT_DOUBLE_EQ(adjusted[3], 0.9);
    EXPECT_TRUE(holm_adjusted({}).empty());
}

}  // namespace
}  // namespace braid::eval
