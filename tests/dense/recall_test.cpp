#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/dense/subspace.hpp"
#include "braid/dense/vectors_reader.hpp"
#include "dense/vectors.hpp"

namespace braid::dense {
namespace {

constexpr std::size_t kRealDimension = 384;

std::vector<char> npy_content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.size() < 10) return {};
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    bytes.erase(bytes.begin(), bytes.begin() + 10 + at(8) + 256 * at(9));
    return bytes;
}

/// Real text vectors beside the source tree, where there are some.
class RealVectors : public ::testing::Test {
protected:
    void SetUp() override {
        if (base.empty()) load();
        if (base.empty()) GTEST_SKIP() << "no real vectors in " << BRAID_SPEED_DATA;
    }

    static void load() {
        const std::filesystem::path folder = BRAID_SPEED_DATA;
        const auto codes = npy_content(folder / "vectors.i8.npy");
        const auto halves = npy_content(folder / "query-vectors.f16.npy");
        if (codes.empty() || halves.empty()) return;
        constexpr std::size_t kCount = sized(20'000, 8000);
        for (std::size_t r = 0; r < kCount; ++r) {
            std::vector<float> vector(kRealDimension);
            for (std::size_t i = 0; i < kRealDimension; ++i) {
                vector[i] = static_cast<signed char>(codes[r * kRealDimension + i]);
            }
            base.push_back(std::move(vector));
        }
        for (std::size_t q = 0; q < 100; ++q) {
            std::vector<float> vector(kRealDimension);
            kernels::dense_kernels().widen(
                reinterpret_cast<const std::uint16_t*>(halves.data()) + q * kRealDimension,
                kRealDimension, vector.data());
            queries.push_back(std::move(vector));
        }
        write_index(base, {.dimension = kRealDimension}, sections);
        auto opened = VectorsReader::open(sections);
        ASSERT_TRUE(opened);
        reader = *std::move(opened);
    }

    /// The mean share of the true best k that a search finds.
    static double mean_recall(VectorSearch search) {
        double sum = 0;
        for (const auto& query : queries) {
            VectorSearch exact = search;
            exact.exact = true;
            const auto truth = reader.search(query, exact);
            const auto answer = reader.search(query, search);
            EXPECT_TRUE(truth && answer);
            EXPECT_EQ(answer->hits.size(), truth->hits.size());
            std::size_t found = 0;
            for (const VectorHit& hit : answer->hits) {
                found += static_cast<std::size_t>(std::ranges::count(truth->hits, hit));
            }
            sum += truth->hits.empty()
                       ? 1
                       : static_cast<double>(found) / static_cast<double>(truth->hits.size());
        }
        return sum / static_cast<double>(queries.size());
    }

    // Made once, for all tests.
    static inline Vectors base;
    static inline Vectors queries;
    static inline store::MemorySections sections;
    static inline VectorsReader reader;
};

TEST_F(RealVectors, AreFoundAtTheRecallAskedFor) {
    for (const std::size_t k : {10UL, 50UL}) {
        for (const double recall : {0.95, 0.98, 0.99}) {
            EXPECT_GE(mean_recall({.k = k, .recall = recall}), recall - 0.01)
                << "k " << k << ", asked " << recall;
        }
    }
}

// The files hold bytes: turned at random, these are numbers like any others.
TEST_F(RealVectors, AreFoundAmongTheirRoundedOnes) {
    SeededNumbers numbers(5);
    const auto rotation = random_directions(kRealDimension, kRealDimension, numbers);
    const auto turned = [&](const Vectors& vectors) {
        Vectors all(vectors.size(), std::vector<float>(kRealDimension));
        for (std::size_t i = 0; i < vectors.size(); ++i) {
            kernels::dense_kernels().dot_f32(vectors[i].data(), rotation.data(), kRealDimension,
                                             kRealDimension, kRealDimension, all[i].data());
        }
        return all;
    };
    const Vectors rows = turned(base);
    const Vectors questions = turned(queries);
    for (const Precision precision : {Precision::F16, Precision::Int8}) {
        store::MemorySections bytes;
        write_index(rows, {.dimension = kRealDimension, .precision = precision}, bytes);
        const auto rounded = VectorsReader::open(bytes);
        ASSERT_TRUE(rounded);
        for (const double recall : {0.95, 0.99}) {
            double sum = 0;
            for (std::size_t q = 0; q < questions.size(); ++q) {
                const auto truth = reader.search(queries[q], {.exact = true});
                const auto answer = rounded->search(questions[q], {.recall = recall});
                ASSERT_TRUE(truth && answer);
                for (const VectorHit& hit : answer->hits) {
                    sum += std::ranges::count(truth->hits, hit.row, &VectorHit::row) != 0 ? 1 : 0;
                }
            }
            EXPECT_GE(sum / 10 / static_cast<double>(questions.size()), recall - 0.02)
                << name_of(precision) << ", asked " << recall;
        }
    }
}

TEST_F(RealVectors, AreFoundUnderRandomFilters) {
    std::mt19937 rng(4);
    for (const double share : {0.1, 0.01, 0.001, 0.0001}) {
        const auto mask = random_mask(rng, base.size(), share);
        EXPECT_GE(mean_recall({.k = 10, .allowed = mask}), 0.95) << share;
    }
}

TEST_F(RealVectors, AreFoundUnderFiltersThatFollowTheQuery) {
    // The 2,000 nearest to the first query; then all but those.
    const auto near = reader.search(queries[0], {.k = 2000, .exact = true});
    ASSERT_TRUE(near);
    std::vector<std::uint64_t> mask((base.size() + 63) / 64);
    for (const VectorHit& hit : near->hits) mask[hit.row / 64] |= std::uint64_t{1} << hit.row % 64;
    EXPECT_GE(mean_recall({.k = 10, .allowed = mask}), 0.95);
    for (std::uint64_t& word : mask) word = ~word;
    EXPECT_GE(mean_recall({.k = 10, .allowed = mask}), 0.95);
}

}  // namespace
}  // namespace braid::dense
