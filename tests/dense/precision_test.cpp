#include "braid/dense/precision.hpp"

#include <bit>
#include <limits>

#include <gtest/gtest.h>

#include "dense/vectors.hpp"

namespace braid::dense {
namespace {

/// Of every size that floats have, with zeros among them.
std::vector<float> wild_vector(std::mt19937& rng, std::size_t dimension) {
    std::vector<float> vector(dimension);
    const bool alike = rng() % 2 == 0;
    const int size = static_cast<int>(rng() % 250) - 125;
    std::uniform_real_distribution<float> unit(-1, 1);
    for (float& x : vector) {
        x = std::ldexp(unit(rng), alike ? size : static_cast<int>(rng() % 250) - 125);
        if (rng() % 5 == 0) x = rng() % 2 == 0 ? 0.0F : -0.0F;
    }
    if (rng() % 10 == 0) vector[rng() % dimension] = std::numeric_limits<float>::max();
    if (rng() % 10 == 0) vector.assign(dimension, 0);
    return vector;
}

std::vector<std::uint32_t> bits_of(std::span<const float> numbers) {
    std::vector<std::uint32_t> bits;
    for (const float x : numbers) bits.push_back(std::bit_cast<std::uint32_t>(x));
    return bits;
}

TEST(Precision, RoundsOnceAndStoresWhatItRounded) {
    for (unsigned seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const std::vector<float> vector = wild_vector(rng, 1 + rng() % 70);
        for (const Precision precision : kPrecisions) {
            SCOPED_TRACE(name_of(precision));
            std::vector<float> rounded = vector;
            round_to(precision, rounded);
            EXPECT_EQ(bits_of(rounded), bits_of(as_stored(vector, precision)));
            std::vector<float> twice = rounded;
            round_to(precision, twice);
            ASSERT_EQ(bits_of(twice), bits_of(rounded));

            std::vector<std::byte> row;
            store_row(precision, rounded, row);
            ASSERT_EQ(row.size(), row_bytes(precision, vector.size()));
            std::vector<float> wide(vector.size());
            widen_row(precision, row, wide);
            ASSERT_EQ(bits_of(wide), bits_of(rounded));
            // What was not rounded before is stored as if it had been.
            std::vector<std::byte> other;
            store_row(precision, vector, other);
            ASSERT_EQ(other, row);
        }
    }
}

TEST(Precision, OfBytesKeepsTheLargestAndMissesOthersByHalfAStep) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const std::vector<float> vector = uniform_vectors(rng, 1, 1 + rng() % 400)[0];
        std::vector<float> rounded = vector;
        round_to(Precision::Int8, rounded);
        float largest = 0;
        for (const float x : vector) largest = std::max(largest, std::abs(x));
        for (std::size_t i = 0; i < vector.size(); ++i) {
            EXPECT_LE(std::abs(rounded[i] - vector[i]), largest / 127 * 0.5F + largest * 0x1p-15F);
            if (std::abs(vector[i]) == largest) {
                EXPECT_NEAR(rounded[i], vector[i], largest * 0x1p-15F);
            }
        }
    }
}

TEST(Precision, OfBytesHoldsNumbersOfAnySize) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    std::vector<float> huge{kLargest, -kLargest, 0, kLargest / 2};
    round_to(Precision::Int8, huge);
    for (const float x : huge) EXPECT_TRUE(std::isfinite(x));
    EXPECT_NEAR(huge[0] / kLargest, 1, 1e-4);
    EXPECT_EQ(huge[1], -huge[0]);
    EXPECT_EQ(huge[2], 0);
    std::vector<float> tiny{std::numeric_limits<float>::denorm_min(), 0};
    round_to(Precision::Int8, tiny);
    EXPECT_EQ(tiny, (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace braid::dense
