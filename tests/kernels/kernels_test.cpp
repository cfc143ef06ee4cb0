#include "braid/kernels/kernels.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace braid::kernels {
namespace {

constexpr std::array kLevels{CpuLevel::Scalar, CpuLevel::Avx2, CpuLevel::Avx512};

/// The order of summation as the header states it, written without regard to speed.
template <class Term>
double reference(const float* a, const float* b, std::size_t n, Term term) {
    std::array<double, 16> lane{};
    for (std::size_t i = 0; i < n; ++i) {
        lane[i % 16] += term(static_cast<double>(a[i]), static_cast<double>(b[i]));
    }
    for (std::size_t width = 8; width > 0; width /= 2) {
        for (std::size_t i = 0; i < width; ++i) lane[i] += lane[i + width];
    }
    return lane[0];
}

double reference_dot(const float* a, const float* b, std::size_t n) {
    return reference(a, b, n, [](double x, double y) { return x * y; });
}

double reference_distance(const float* a, const float* b, std::size_t n) {
    return reference(a, b, n, [](double x, double y) { return (x - y) * (x - y); });
}

/// Equal bits; one NaN is as good as another.
::testing::AssertionResult same_bits(double a, double b) {
    if (std::isnan(a) && std::isnan(b)) return ::testing::AssertionSuccess();
    if (std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b)) {
        return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << std::hexfloat << a << " is not " << b;
}

using Maker = float (*)(std::mt19937&);

float unit(std::mt19937& rng) {
    return std::uniform_real_distribution<float>(-1.0F, 1.0F)(rng);
}

float any_finite(std::mt19937& rng) {
    for (;;) {
        const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(rng()));
        if (std::isfinite(x)) return x;
    }
}

float any_bits(std::mt19937& rng) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(rng()));
}

float denormal(std::mt19937& rng) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(rng()) & 0x807f'ffffU);
}

float extreme(std::mt19937& rng) {
    constexpr float max = std::numeric_limits<float>::max();
    constexpr float tiny = std::numeric_limits<float>::denorm_min();
    constexpr std::array choices{0.0F, -0.0F, max, -max, tiny, -tiny, 1.0F, -1.0F};
    return choices[rng() % choices.size()];
}

struct Kind {
    const char* name;
    Maker make;
};

constexpr std::array<Kind, 5> kKinds{{{"unit", unit},
                                      {"any finite", any_finite},
                                      {"any bits", any_bits},
                                      {"denormal", denormal},
                                      {"extreme", extreme}}};

/// Exactly n floats starting `offset` floats into their allocation: reading beyond either end is
/// an error that AddressSanitizer sees.
class Floats {
public:
    Floats(std::mt19937& rng, Maker make, std::size_t n, std::size_t offset)
        : storage_(offset + n), offset_(offset) {
        for (float& x : storage_) x = make(rng);
    }
    const float* data() const { return storage_.data() + offset_; }

private:
    std::vector<float> storage_;
    std::size_t offset_;
};

void expect_all_levels_agree(const float* a, const float* b, std::size_t n) {
    const double dot = reference_dot(a, b, n);
    const double distance = reference_distance(a, b, n);
    for (const CpuLevel level : kLevels) {
        const Kernels* kernels = kernels_for(level);
        if (kernels == nullptr) continue;
        SCOPED_TRACE(name_of(level));
        ASSERT_TRUE(same_bits(kernels->dot(a, b, n), dot));
        ASSERT_TRUE(same_bits(kernels->squared_distance(a, b, n), distance));
    }
}

TEST(Kernels, AgreeBitForBitOnEveryLengthUpTo1025) {
    for (std::size_t n = 0; n <= 1025; ++n) {
        std::mt19937 rng(static_cast<unsigned>(n));
        for (const Kind& kind : kKinds) {
            SCOPED_TRACE(::testing::Message() << "seed and length " << n << ", " << kind.name);
            const Floats a(rng, kind.make, n, rng() % 16);
            const Floats b(rng, kind.make, n, rng() % 16);
            expect_all_levels_agree(a.data(), b.data(), n);
            if (HasFatalFailure()) return;
        }
    }
}

TEST(Kernels, AgreeBitForBitAtEveryAlignment) {
    for (unsigned seed = 0; seed < 256; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const Floats a(rng, unit, 100, seed % 16);
        const Floats b(rng, unit, 100, seed / 16);
        expect_all_levels_agree(a.data(), b.data(), 100);
        if (HasFatalFailure()) return;
    }
}

TEST(Kernels, GiveEachRowWhatOneVectorAloneGives) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const std::size_t n = rng() % 200;
        const std::size_t stride = n + rng() % 20;
        const std::size_t count = rng() % 20;
        const std::size_t floats = count == 0 ? 0 : (count - 1) * stride + n;
        const Kind& kind = kKinds[seed % kKinds.size()];
        const Floats query(rng, kind.make, n, rng() % 16);
        const Floats rows(rng, kind.make, floats, rng() % 16);
        for (const CpuLevel level : kLevels) {
            const Kernels* kernels = kernels_for(level);
            if (kernels == nullptr) continue;
            SCOPED_TRACE(name_of(level));
            std::vector<double> dots(count);
            std::vector<double> distances(count);
            kernels->dot_rows(query.data(), rows.data(), stride, count, n, dots.data());
            kernels->squared_distance_rows(query.data(), rows.data(), stride, count, n,
                                           distances.data());
            for (std::size_t r = 0; r < count; ++r) {
                const float* row = rows.data() + r * stride;
                ASSERT_TRUE(same_bits(dots[r], reference_dot(query.data(), row, n)));
                ASSERT_TRUE(same_bits(distances[r], reference_distance(query.data(), row, n)));
            }
        }
    }
}

TEST(Kernels, RepeatTheSameRowWithAStrideOfZero) {
    const std::vector<float> query{1, 2, 3};
    std::array<double, 3> out{};
    for (const CpuLevel level : kLevels) {
        const Kernels* kernels = kernels_for(level);
        if (kernels == nullptr) continue;
        kernels->dot_rows(query.data(), query.data(), 0, 3, 3, out.data());
        EXPECT_EQ(out, (std::array<double, 3>{14, 14, 14}));
    }
}

TEST(Kernels, ReadNothingWhereThereIsNothing) {
    for (const CpuLevel level : kLevels) {
        const Kernels* kernels = kernels_for(level);
        if (kernels == nullptr) continue;
        SCOPED_TRACE(name_of(level));
        EXPECT_TRUE(same_bits(kernels->dot(nullptr, nullptr, 0), 0.0));
        EXPECT_TRUE(same_bits(kernels->squared_distance(nullptr, nullptr, 0), 0.0));
        kernels->dot_rows(nullptr, nullptr, 0, 0, 0, nullptr);
        kernels->squared_distance_rows(nullptr, nullptr, 384, 0, 384, nullptr);
        std::array<double, 2> out{1, 1};
        kernels->dot_rows(nullptr, nullptr, 0, 2, 0, out.data());
        EXPECT_EQ(out, (std::array<double, 2>{0, 0}));
    }
}

TEST(Kernels, NeverReturnMinusZero) {
    const std::vector<float> minus(37, -0.0F);
    const std::vector<float> ones(37, 1.0F);
    for (const CpuLevel level : kLevels) {
        const Kernels* kernels = kernels_for(level);
        if (kernels == nullptr) continue;
        SCOPED_TRACE(name_of(level));
        EXPECT_TRUE(same_bits(kernels->dot(minus.data(), ones.data(), 37), 0.0));
        EXPECT_TRUE(same_bits(kernels->squared_distance(minus.data(), minus.data(), 37), 0.0));
    }
}

TEST(Kernels, KeepInfinitiesApartFromNaN) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    std::vector<float> a(40, 1.0F);
    const std::vector<float> b(40, 1.0F);
    for (const std::size_t where : {0U, 17U, 39U}) {
        a[where] = infinity;
        for (const CpuLevel level : kLevels) {
            const Kernels* kernels = kernels_for(level);
            if (kernels == nullptr) continue;
            SCOPED_TRACE(name_of(level));
            EXPECT_EQ(kernels->dot(a.data(), b.data(), 40), static_cast<double>(infinity));
            EXPECT_TRUE(std::isnan(kernels->squared_distance(a.data(), a.data(), 40)));
        }
        a[where] = 1.0F;
    }
}

}  // namespace
}  // namespace braid::kernels
