#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "braid/kernels/dense.hpp"

namespace braid::kernels {
namespace {

std::vector<const DenseKernels*> all_levels() {
    std::vector<const DenseKernels*> found;
    for (const CpuLevel level : {CpuLevel::Scalar, CpuLevel::Avx2, CpuLevel::Avx512}) {
        if (const DenseKernels* kernels = dense_kernels_for(level)) found.push_back(kernels);
    }
    return found;
}

/// Unit, tiny and large numbers; sums of 1,100 products stay finite.
float some_float(std::mt19937& rng) {
    const float unit = std::uniform_real_distribution<float>(-1.0F, 1.0F)(rng);
    constexpr std::array scales{1.0F, 1.0F, 1.0F, 1e-30F, 1e12F, 0.0F};
    return unit * scales[rng() % scales.size()];
}

std::vector<float> floats(std::mt19937& rng, std::size_t n) {
    std::vector<float> result(n);
    for (float& x : result) x = some_float(rng);
    return result;
}

template <class Number>
void expect_same_bits(const std::vector<Number>& a, const std::vector<Number>& b) {
    ASSERT_EQ(a.size(), b.size());
    if (a.empty()) return;  // it may have no address
    ASSERT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)), 0);
}

TEST(DenseKernels, SumsOfFloatsAgreeBitForBit) {
    const DenseKernels& scalar = *dense_kernels_for(CpuLevel::Scalar);
    for (std::size_t n = 0; n <= 1100; n += n < 200 ? 1 : 37) {
        SCOPED_TRACE(::testing::Message() << "seed and length " << n);
        std::mt19937 rng(static_cast<unsigned>(n));
        const std::vector<float> query = floats(rng, n);
        const std::vector<float> rows = floats(rng, 3 * n);
        std::vector<std::uint16_t> halves(3 * n);
        std::vector<float> unit(3 * n);
        for (float& x : unit) x = std::uniform_real_distribution<float>(-1.0F, 1.0F)(rng);
        scalar.narrow(unit.data(), unit.size(), halves.data());
        const auto all_sums = [&](const DenseKernels& kernels) {
            std::vector<float> out(12);
            kernels.dot_f32(query.data(), rows.data(), n, 3, n, out.data());
            kernels.distance_f32(query.data(), rows.data(), n, 3, n, out.data() + 3);
            kernels.dot_f16(query.data(), halves.data(), n, 3, n, out.data() + 6);
            kernels.distance_f16(query.data(), halves.data(), n, 3, n, out.data() + 9);
            return out;
        };
        for (const DenseKernels* kernels : all_levels()) {
            SCOPED_TRACE(name_of(kernels->level));
            expect_same_bits(all_sums(*kernels), all_sums(scalar));
        }
        if (HasFatalFailure()) return;
    }
}

TEST(DenseKernels, SumsOfBytesAreThoseOfTheFloatsTheyStandFor) {
    constexpr std::size_t kRows = 3;
    const DenseKernels& scalar = *dense_kernels_for(CpuLevel::Scalar);
    for (std::size_t n = 0; n <= 1100; n += n < 200 ? 1 : 37) {
        SCOPED_TRACE(::testing::Message() << "seed and length " << n);
        std::mt19937 rng(static_cast<unsigned>(n));
        const std::vector<float> query = floats(rng, n);
        std::vector<std::int8_t> rows(kRows * byte_row_size(n));
        for (auto& x : rows) x = static_cast<std::int8_t>(rng());
        std::vector<float> wide(kRows * n);
        for (std::size_t r = 0; r < kRows; ++r) {
            std::int8_t* row = rows.data() + r * byte_row_size(n);
            const float unit = std::abs(some_float(rng));
            std::memcpy(row + n, &unit, sizeof unit);
            for (std::size_t i = 0; i < n; ++i) {
                wide[r * n + i] = static_cast<float>(row[i]) * unit;
            }
        }
        std::vector<float> expected(2 * kRows);
        scalar.dot_f32(query.data(), wide.data(), n, kRows, n, expected.data());
        scalar.distance_f32(query.data(), wide.data(), n, kRows, n, expected.data() + kRows);
        for (const DenseKernels* kernels : all_levels()) {
            SCOPED_TRACE(name_of(kernels->level));
            std::vector<float> out(2 * kRows);
            kernels->dot_bytes(query.data(), rows.data(), kRows, n, out.data());
            kernels->distance_bytes(query.data(), rows.data(), kRows, n, out.data() + kRows);
            expect_same_bits(out, expected);
            std::vector<float> widened(kRows * n);
            for (std::size_t r = 0; r < kRows; ++r) {
                const std::int8_t* row = rows.data() + r * byte_row_size(n);
                float unit = 0;
                std::memcpy(&unit, row + n, sizeof unit);
                kernels->widen_bytes(row, unit, n, widened.data() + r * n);
            }
            expect_same_bits(widened, wide);
        }
        if (HasFatalFailure()) return;
    }
}

TEST(DenseKernels, FourQueriesAtOnceGiveWhatEachGives) {
    constexpr std::size_t kRows = 3;
    for (std::size_t n = 0; n <= 1100; n += n < 200 ? 1 : 37) {
        SCOPED_TRACE(::testing::Message() << "seed and length " << n);
        std::mt19937 rng(static_cast<unsigned>(n));
        const std::vector<float> queries = floats(rng, 4 * n);
        const std::vector<float> rows = floats(rng, kRows * n);
        std::vector<const float*> each;
        for (std::size_t q = 0; q < 4; ++q) each.push_back(queries.data() + q * n);
        for (const DenseKernels* kernels : all_levels()) {
            SCOPED_TRACE(name_of(kernels->level));
            std::vector<float> alone(4 * kRows);
            for (std::size_t q = 0; q < 4; ++q) {
                kernels->dot_f32(each[q], rows.data(), n, kRows, n, alone.data() + q * kRows);
            }
            std::vector<float> together(4 * kRows);
            kernels->dot_f32_of_four(each.data(), rows.data(), n, kRows, n, together.data());
            expect_same_bits(together, alone);
        }
        if (HasFatalFailure()) return;
    }
}

TEST(DenseKernels, AFloatSumIsAsCloseAsItsRoundingsAllow) {
    std::mt19937 rng(11);
    for (const std::size_t n : {1UL, 64UL, 383UL, 1536UL, 4096UL}) {
        const std::vector<float> a = floats(rng, n);
        const std::vector<float> b = floats(rng, n);
        double exact = 0;
        double magnitude = 0;
        for (std::size_t i = 0; i < n; ++i) {
            exact += double{a[i]} * double{b[i]};
            magnitude += std::abs(double{a[i]} * double{b[i]});
        }
        const double bound = magnitude * (static_cast<double>(n / 64) + 8) * 0x1p-24 + 0x1p-130;
        for (const DenseKernels* kernels : all_levels()) {
            float sum = 0;
            kernels->dot_f32(a.data(), b.data(), n, 1, n, &sum);
            EXPECT_LE(std::abs(double{sum} - exact), bound) << n;
        }
    }
}

TEST(DenseKernels, EveryHalfBecomesItsFloatAndComesBack) {
    std::vector<std::uint16_t> halves(65536);
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
    for (const DenseKernels* kernels : all_levels()) {
        SCOPED_TRACE(name_of(kernels->level));
        std::vector<float> wide(halves.size());
        kernels->widen(halves.data(), halves.size(), wide.data());
        EXPECT_EQ(wide[0x3c00], 1.0F);
        EXPECT_EQ(wide[0xc000], -2.0F);
        EXPECT_EQ(wide[1], 0x1p-24F);
        EXPECT_EQ(wide[0x7bff], 65504.0F);
        std::vector<std::uint16_t> back(halves.size());
        kernels->narrow(wide.data(), wide.size(), back.data());
        for (std::size_t i = 0; i < halves.size(); ++i) {
            if (std::isnan(wide[i])) {
                EXPECT_EQ(i & 0x7c00U, 0x7c00U);
            } else {
                ASSERT_EQ(back[i], halves[i]);
            }
        }
    }
}

TEST(DenseKernels, FloatsAreRoundedToHalvesAlike) {
    const DenseKernels& scalar = *dense_kernels_for(CpuLevel::Scalar);
    std::mt19937 rng(5);
    std::vector<float> numbers;
    while (numbers.size() < 200'003) {
        const auto any = std::bit_cast<float>(static_cast<std::uint32_t>(rng()));
        if (std::isfinite(any)) numbers.push_back(any);
        // Where halves are dense: around ties, denormal halves and the largest ones.
        const auto half = static_cast<std::uint32_t>(rng() % 0x4800'0000U);
        numbers.push_back(std::bit_cast<float>((half & 0xffff'e000U) + 0x1000U));
        numbers.push_back(std::bit_cast<float>((half & 0x07ff'ffffU) + 0x3300'0000U));
    }
    std::vector<std::uint16_t> expected(numbers.size());
    scalar.narrow(numbers.data(), numbers.size(), expected.data());
    for (const DenseKernels* kernels : all_levels()) {
        SCOPED_TRACE(name_of(kernels->level));
        std::vector<std::uint16_t> halves(numbers.size());
        kernels->narrow(numbers.data(), numbers.size(), halves.data());
        expect_same_bits(halves, expected);
    }
}

TEST(DenseKernels, CountTheSameBits) {
    std::mt19937_64 rng(8);
    std::vector<std::uint64_t> words;
    std::uint64_t bits = 0;
    for (std::size_t n = 0; n < 100; ++n) {
        for (const DenseKernels* kernels : all_levels()) {
            EXPECT_EQ(kernels->count_bits(words.data(), n), bits) << name_of(kernels->level);
        }
        words.push_back(n % 7 == 0 ? ~std::uint64_t{0} : rng() & rng());
        for (std::uint64_t rest = words.back(); rest != 0; rest &= rest - 1) ++bits;
    }
}

TEST(DenseKernels, ProductsOfBytesAgree) {
    std::mt19937 rng(6);
    for (std::size_t n = 0; n < 300; ++n) {
        std::vector<std::int8_t> a(n);
        std::vector<std::int8_t> b(n);
        for (auto& x : a) x = static_cast<std::int8_t>(rng());
        for (auto& x : b) x = static_cast<std::int8_t>(rng());
        std::int32_t expected = 0;
        for (std::size_t i = 0; i < n; ++i) expected += a[i] * b[i];
        for (const DenseKernels* kernels : all_levels()) {
            ASSERT_EQ(kernels->dot_i8(a.data(), b.data(), n), expected) << n;
        }
    }
}

TEST(DenseKernels, ProductsOfChosenRowsAreThoseOfEach) {
    std::mt19937 rng(16);
    for (std::size_t n = 1; n < 600; n += n < 400 ? 7 : 31) {
        const std::size_t stride = n + rng() % 70;
        std::vector<std::int8_t> query(n);
        std::vector<std::int8_t> base(30 * stride);
        for (auto& x : query) x = static_cast<std::int8_t>(rng());
        for (auto& x : base) x = static_cast<std::int8_t>(rng());
        std::vector<std::uint32_t> rows(rng() % 40);
        for (auto& row : rows) row = static_cast<std::uint32_t>(rng() % 30);
        for (const DenseKernels* kernels : all_levels()) {
            SCOPED_TRACE(name_of(kernels->level));
            std::vector<std::int32_t> out(rows.size());
            kernels->dot_i8_rows(query.data(), base.data(), stride, rows.data(), rows.size(), n,
                                 out.data());
            for (std::size_t i = 0; i < rows.size(); ++i) {
                ASSERT_EQ(out[i], kernels->dot_i8(query.data(), base.data() + rows[i] * stride, n));
            }
        }
    }
}

TEST(DenseKernels, LinesAreEstimatedAlike) {
    std::mt19937 rng(7);
    constexpr std::size_t kLines = 100;
    std::vector<std::uint8_t> lines(kLines * kLineBytes);
    for (auto& x : lines) x = static_cast<std::uint8_t>(rng());
    LineQuery query{};
    for (auto& plane : query.weights) {
        for (std::size_t i = 0; i < 60; ++i) plane[i] = static_cast<std::int8_t>(rng());
    }
    for (std::size_t count = 0; count < 40; ++count) {
        std::vector<std::uint32_t> rows(count);
        for (auto& row : rows) row = static_cast<std::uint32_t>(rng() % kLines);
        std::vector<std::int32_t> expected(count);
        for (std::size_t r = 0; r < count; ++r) {
            for (unsigned i = 0; i < kCodeDimensions; ++i) {
                const unsigned byte = lines[rows[r] * kLineBytes + i % 60];
                expected[r] += query.weights[i / 60][i % 60] *
                               static_cast<std::int32_t>(byte >> (2 * (i / 60)) & 3U);
            }
        }
        for (const DenseKernels* kernels : all_levels()) {
            SCOPED_TRACE(name_of(kernels->level));
            std::vector<std::int32_t> out(count);
            kernels->estimate_lines(query, lines.data(), rows.data(), count, out.data());
            ASSERT_EQ(out, expected);
        }
    }
}

/// The half in two bytes, as a number; one that is none as if it were larger than the largest.
float half_of(const std::uint8_t* bytes) {
    const unsigned exponent = bytes[1] >> 2 & 31U;
    const auto fraction = static_cast<float>(bytes[0] | (bytes[1] & 3U) << 8);
    const float magnitude = exponent == 0
                                ? std::ldexp(fraction, -24)
                                : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
    return (bytes[1] & 128U) != 0 ? -magnitude : magnitude;
}

std::uint64_t key_of(float estimate, std::uint32_t row) {
    const auto bits = std::bit_cast<std::uint32_t>(estimate);
    const std::uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x8000'0000U;
    return std::uint64_t{ordered} << 32 | static_cast<std::uint32_t>(~row);
}

TEST(DenseKernels, LinesAreRankedByTheirEstimates) {
    std::mt19937 rng(17);
    constexpr std::size_t kLines = 100;
    std::vector<std::uint8_t> lines(kLines * kLineBytes);
    for (auto& x : lines) x = static_cast<std::uint8_t>(rng());
    LineQuery query{};
    for (auto& plane : query.weights) {
        for (std::size_t i = 0; i < 60; ++i) plane[i] = static_cast<std::int8_t>(rng());
    }
    query.bias = -77;
    query.scale = 0.37F;
    for (std::size_t count = 0; count < 150; ++count) {
        query.offset_scale = count % 2 == 0 ? 0 : 100.7F;
        std::vector<std::uint32_t> rows(count);
        for (auto& row : rows) row = static_cast<std::uint32_t>(rng() % kLines);
        std::vector<std::int32_t> sums(count);
        dense_kernels_for(CpuLevel::Scalar)
            ->estimate_lines(query, lines.data(), rows.data(), count, sums.data());
        std::vector<std::uint64_t> all;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint8_t* line = lines.data() + rows[i] * kLineBytes;
            const float centred = static_cast<float>(2 * sums[i] - query.bias) * 0.5F;
            const float nearness = centred * half_of(line + 60) * query.scale;
            all.push_back(key_of(nearness - half_of(line + 62) * query.offset_scale, rows[i]));
        }
        const std::uint64_t least = count % 3 == 0 || all.empty() ? 0 : all[rng() % all.size()];
        std::vector<std::uint64_t> expected;
        std::ranges::copy_if(all, std::back_inserter(expected),
                             [&](std::uint64_t key) { return key > least; });
        for (const DenseKernels* kernels : all_levels()) {
            SCOPED_TRACE(name_of(kernels->level));
            std::vector<std::uint64_t> keys(count);
            keys.resize(
                kernels->rank_lines(query, lines.data(), rows.data(), count, least, keys.data()));
            ASSERT_EQ(keys, expected);
        }
    }
}

/// Weights whose magnitudes add up to at most 255 within each chunk.
std::vector<std::int16_t> block_weights(std::mt19937& rng, std::size_t dimensions) {
    std::vector<std::int16_t> weights(dimensions);
    for (std::size_t chunk = 0; chunk < dimensions; chunk += kCodeChunk) {
        int left = rng() % 4 == 0 ? 255 : static_cast<int>(rng() % 256);
        for (std::size_t i = 0; i < kCodeChunk; ++i) {
            const int magnitude = std::min(left, static_cast<int>(rng() % 12));
            weights[chunk + i] = static_cast<std::int16_t>(rng() % 2 == 0 ? magnitude : -magnitude);
            left -= magnitude;
        }
        if (rng() % 3 == 0)
            weights[chunk] =
                static_cast<std::int16_t>(weights[chunk] + (weights[chunk] < 0 ? -left : left));
    }
    return weights;
}

std::int32_t q15(std::int32_t a, std::int32_t b) {
    return (a * b + 0x4000) >> 15;
}

std::int16_t word_at(const std::uint8_t* bytes) {
    return std::bit_cast<std::int16_t>(std::array{bytes[0], bytes[1]});
}

/// As the header states it, a bit at a time.
std::int16_t reference_estimate(const std::vector<std::int16_t>& weights, const BlockQuery& query,
                                const std::uint8_t* block, std::size_t v) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const unsigned byte = block[i / 8 * kBlockVectors + place_in_row(v)];
        sum += (byte >> (i % 8) & 1U) != 0 ? weights[i] : -weights[i];
    }
    const std::uint8_t* factors = block + weights.size() / 8 * kBlockVectors;
    std::int32_t estimate = q15(16 * sum, word_at(factors + 2 * v));
    if (query.offsets) {
        estimate = q15(estimate, query.alpha) -
                   q15(word_at(factors + 2 * kBlockVectors + 2 * v), query.beta);
        estimate = std::clamp(estimate, -32768, 32767);
    }
    return static_cast<std::int16_t>(estimate);
}

TEST(DenseKernels, BlocksAreEstimatedAndScannedAlike) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const std::size_t dimensions = kCodeChunk * (1 + seed % 5);
        const std::vector<std::int16_t> weights = block_weights(rng, dimensions);
        for (const DenseKernels* kernels : all_levels()) {
            SCOPED_TRACE(name_of(kernels->level));
            std::mt19937 same(seed + 1000);
            BlockQuery query{};
            query.byte_rows = dimensions / 8;
            query.offsets = seed % 2 == 1;
            query.alpha = static_cast<std::int16_t>(same() % 32768);
            query.beta = static_cast<std::int16_t>(same() % 32768);
            kernels->prepare_blocks(weights.data(), query);
            constexpr std::size_t kBlocks = 5;
            const std::size_t stride = block_bytes(dimensions, query.offsets);
            std::vector<std::uint8_t> blocks(kBlocks * stride);
            for (auto& x : blocks) x = static_cast<std::uint8_t>(same());
            std::vector<std::int16_t> expected(kBlocks * kBlockVectors);
            std::vector<std::int16_t> estimates(expected.size());
            for (std::size_t i = 0; i < expected.size(); ++i) {
                expected[i] =
                    reference_estimate(weights, query, blocks.data() + i / 64 * stride, i % 64);
            }
            for (std::size_t b = 0; b < kBlocks; ++b) {
                kernels->block_estimates(query, blocks.data() + b * stride,
                                         estimates.data() + b * kBlockVectors);
            }
            ASSERT_EQ(estimates, expected);
            for (const std::int16_t threshold : {expected[7], std::int16_t{0}, std::int16_t{-32768},
                                                 std::numeric_limits<std::int16_t>::max()}) {
                std::array<std::uint64_t, kBlocks> masks{};
                kernels->scan_blocks(query, blocks.data(), kBlocks, threshold, masks.data());
                for (std::size_t i = 0; i < expected.size(); ++i) {
                    ASSERT_EQ((masks[i / 64] >> (i % 64) & 1U) != 0, expected[i] >= threshold);
                }
            }
        }
    }
}

TEST(DenseKernels, AreThoseOfTheChosenLevelOrBelow) {
    EXPECT_LE(dense_kernels().level, cpu_choice().level);
    EXPECT_EQ(&dense_kernels(), dense_kernels_for(dense_kernels().level));
}

}  // namespace
}  // namespace braid::kernels
