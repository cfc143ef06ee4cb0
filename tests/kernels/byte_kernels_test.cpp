#include "braid/kernels/byte_kernels.hpp"

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace braid::kernels {
namespace {

constexpr std::array kByteLevels{CpuLevel::Scalar, CpuLevel::Avx2, CpuLevel::Avx512};

class ByteKernelsTest : public testing::TestWithParam<CpuLevel> {
protected:
    void SetUp() override {
        kernels_ = byte_kernels_for(GetParam());
        if (kernels_ == nullptr) GTEST_SKIP() << "this machine lacks " << name_of(GetParam());
    }

    const ByteKernels* kernels_ = nullptr;
};

std::vector<std::uint8_t> random_bytes(std::mt19937_64& rng, std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng());
    return bytes;
}

TEST_P(ByteKernelsTest, FindsExactlyTheBytesThatReachTheCut) {
    constexpr std::uint64_t kSeed = 11;
    SCOPED_TRACE(testing::Message() << "seed " << kSeed);
    std::mt19937_64 rng(kSeed);
    for (const std::size_t count : {0, 64, 128, 640, 32'768, 65'536}) {
        const auto bytes = random_bytes(rng, count);
        std::vector<std::uint64_t> mask(count / 64);
        for (std::uint64_t& word : mask) word = rng() & rng();
        std::vector<std::uint16_t> found(count);
        for (const int cut : {0, 1, 100, 254, 255}) {
            for (const std::uint64_t* allowed :
                 {static_cast<std::uint64_t*>(nullptr), mask.data()}) {
                std::vector<std::uint16_t> expected;
                for (std::size_t i = 0; i < count; ++i) {
                    if (allowed != nullptr && (allowed[i / 64] >> (i % 64) & 1) == 0) continue;
                    if (bytes[i] >= cut) expected.push_back(static_cast<std::uint16_t>(i));
                }
                const auto at = static_cast<std::uint8_t>(cut);
                EXPECT_EQ(kernels_->count_at_least(bytes.data(), count, at, allowed),
                          expected.size());
                found.resize(count);
                found.resize(kernels_->collect_at_least(bytes.data(), count, at, allowed, count,
                                                        found.data()));
                EXPECT_EQ(found, expected) << count << " bytes, cut " << cut;
                found.resize(count);
                found.resize(kernels_->collect_at_least(bytes.data(), count, at, allowed, 100,
                                                        found.data()));
                ASSERT_LE(found.size(), expected.size());
                EXPECT_GE(found.size(), std::min<std::size_t>(expected.size(), 101));
                expected.resize(found.size());
                EXPECT_EQ(found, expected) << count << " bytes, cut " << cut;
            }
        }
    }
}

TEST_P(ByteKernelsTest, FoldsEightBlocksIntoTheirMaxima) {
    constexpr std::uint64_t kSeed = 13;
    SCOPED_TRACE(testing::Message() << "seed " << kSeed);
    std::mt19937_64 rng(kSeed);
    for (const std::size_t count : {0, 64, 448, 512, 576, 32'768}) {
        const auto bytes = random_bytes(rng, count);
        std::vector<std::uint64_t> mask(count / 64);
        for (std::uint64_t& word : mask) word = rng() & rng();
        for (const std::uint64_t* allowed : {static_cast<std::uint64_t*>(nullptr), mask.data()}) {
            std::vector<std::uint8_t> expected((count + 511) / 512 * 64, 0);
            for (std::size_t i = 0; i < count; ++i) {
                if (allowed != nullptr && (allowed[i / 64] >> (i % 64) & 1) == 0) continue;
                std::uint8_t& most = expected[i / 512 * 64 + i % 64];
                most = std::max(most, bytes[i]);
            }
            std::vector<std::uint8_t> found(expected.size() + 64);
            found.resize(kernels_->fold_maxima(bytes.data(), count, allowed, found.data()));
            EXPECT_EQ(found, expected) << count;
        }
    }
}

TEST_P(ByteKernelsTest, AddsWhatTheTableSaysAndStaysAtTheTop) {
    constexpr std::uint64_t kSeed = 12;
    SCOPED_TRACE(testing::Message() << "seed " << kSeed);
    std::mt19937_64 rng(kSeed);
    for (const std::size_t count : {0, 64, 192, 4096}) {
        auto bytes = random_bytes(rng, count);
        const auto nibbles = random_bytes(rng, count / 2);
        const auto table = random_bytes(rng, 16);
        auto expected = bytes;
        for (std::size_t i = 0; i < count; ++i) {
            const int nibble = nibbles[i / 2] >> (i % 2 * 4) & 15;
            expected[i] = static_cast<std::uint8_t>(
                std::min(255, bytes[i] + table[static_cast<std::size_t>(nibble)]));
        }
        kernels_->add_nibbles(bytes.data(), nibbles.data(), count, table.data());
        EXPECT_EQ(bytes, expected);
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, ByteKernelsTest, testing::ValuesIn(kByteLevels),
                         [](const auto& level) { return std::string(name_of(level.param)); });

TEST(ByteKernels, TheChosenOnesAreNotBeyondTheChoice) {
    EXPECT_LE(byte_kernels().level, cpu_choice().level);
}

}  // namespace
}  // namespace braid::kernels
