#include "braid/dense/code_scan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "braid/dense/vectors_reader.hpp"
#include "dense/searched.hpp"
#include "dense/vectors.hpp"

namespace braid::dense {
namespace {

constexpr std::array kAllMetrics{Metric::Cosine, Metric::Dot, Metric::Euclidean};

TEST(CodeScan, FindsNearlyAllOfTheBestUnderEveryMetricAndFilter) {
    constexpr std::size_t kCount = sized(12'000, 4000);
    for (const Metric metric : kAllMetrics) {
        std::mt19937 rng(21);
        const Index index(clustered(rng, kCount, 300),
                          {.dimension = 300,
                           .metric = metric,
                           .precision = kPrecisions[static_cast<std::size_t>(metric)]});
        Vectors queries;
        std::normal_distribution<float> normal;
        for (int i = 0; i < 12; ++i) {
            queries.push_back(index.vectors[rng() % kCount]);
            for (float& x : queries.back()) x += 0.2F * normal(rng);
        }
        std::vector<std::vector<std::uint64_t>> masks{{}};
        for (const double share : {0.5, 0.1, 0.01, 0.001}) {
            masks.push_back(random_mask(rng, kCount, share));
        }
        // One cluster alone; then everything but that cluster.
        masks.emplace_back((kCount + 63) / 64);
        for (std::size_t row = kCount / 20; row < kCount / 10; ++row) {
            masks.back()[row / 64] |= std::uint64_t{1} << row % 64;
        }
        masks.push_back(masks.back());
        for (std::uint64_t& word : masks.back()) word = ~word;
        for (const auto& mask : masks) {
            double sum = 0;
            for (const auto& query : queries) {
                sum += index.recall(query, {.k = 10, .allowed = mask, .recall = 0.98});
            }
            EXPECT_GE(sum / 12, 0.95)
                << "metric " << static_cast<int>(metric) << ", mask " << &mask - masks.data();
        }
    }
}

TEST(CodeScan, AnswersWhateverTheSizesAre) {
    unsigned seed = 100;
    for (const std::size_t dimension :
         {1UL, 2UL, 3UL, 47UL, 48UL, 240UL, 241UL, 383UL, 1536UL, 4096UL}) {
        for (const std::size_t count : {0UL, 1UL, 63UL, 64UL, 65UL, 700UL}) {
            if (dimension > 1000 && count != 1 && count != 65) continue;
            SCOPED_TRACE(::testing::Message()
                         << "seed " << ++seed << ", " << count << " x " << dimension);
            std::mt19937 rng(seed);
            const Index index(uniform_vectors(rng, count, dimension),
                              {.dimension = dimension, .metric = kAllMetrics[seed % 3]});
            const Vectors queries = uniform_vectors(rng, 2, dimension);
            for (const std::size_t k : {0UL, 1UL, 10UL, 1000UL}) {
                for (const auto& query : queries) {
                    // Every row passes the sieves: the answer is exact.
                    EXPECT_EQ(index.recall(query, {.k = k, .depth = ScanDepth{count, count}}), 1);
                    index.recall(query, {.k = k, .depth = ScanDepth{20, 10}});
                    index.recall(query, {.k = k});
                }
            }
        }
    }
}

TEST(CodeScan, TakesTheFirstOfEquals) {
    for (const Metric metric : kAllMetrics) {
        const Index index(Vectors(sized(20'000, 9000), std::vector<float>{3, 4, 5}),
                          {.dimension = 3, .metric = metric});
        const VectorSearch search{.k = 10, .depth = ScanDepth{100, 20}};
        EXPECT_EQ(index.recall({1, 1, 1}, search), 1) << "rows 0 to 9";
        const auto answer = index.reader.search(std::vector<float>{1, 1, 1}, search);
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->method, VectorMethod::Scan);
    }
}

TEST(CodeScan, GivesWayToExactSearchWhereNumbersAreTooLarge) {
    std::mt19937 rng(5);
    const Index index(uniform_vectors(rng, 500, 8), {.dimension = 8, .metric = Metric::Euclidean});
    const std::vector<float> query(8, 3e38F);
    EXPECT_EQ(index.recall(query, {.k = 5}), 1);
    const auto answer = index.reader.search(query, {.k = 5});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->method, VectorMethod::Exact);
}

TEST(CodeScan, WritesTheSameBytesEveryTime) {
    std::mt19937 rng(6);
    const Vectors vectors = uniform_vectors(rng, 3000, 260);
    const VectorsOptions options{.dimension = 260, .codes_from = 0};
    store::MemorySections first;
    store::MemorySections second;
    write_index(vectors, options, first);
    write_index(vectors, options, second);
    for (const auto name : {kMetaSection, kRowsSection, kNormsSection, kTransformSection,
                            kLinesSection, kBlocksSection}) {
        const auto a = first.section(name);
        const auto b = second.section(name);
        ASSERT_TRUE(a && b);
        EXPECT_TRUE(std::ranges::equal(*a->bytes(), *b->bytes())) << name;
    }
}

TEST(CodeScan, CodesByAnotherSegmentsTransform) {
    std::mt19937 rng(7);
    const Index first(clustered(rng, 2000, 260), {.dimension = 260});
    ASSERT_NE(first.reader.transform(), nullptr);
    auto builder = VectorsBuilder::create({.dimension = 260, .codes_from = 0});
    ASSERT_TRUE(builder && builder->use(first.reader.transform()));
    for (const auto& vector : first.vectors) ASSERT_TRUE(builder->add(vector));
    store::MemorySections sections;
    ASSERT_TRUE(builder->write(sections));
    const auto second = VectorsReader::open(sections);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->meta().transform_id, first.reader.meta().transform_id);
    EXPECT_TRUE(std::ranges::equal(*sections.section(kLinesSection)->bytes(),
                                   *first.sections.section(kLinesSection)->bytes()));
    auto other = VectorsBuilder::create({.dimension = 261});
    EXPECT_FALSE(other->use(first.reader.transform()));
}

TEST(CodeScan, CountsWhatAMaskAllows) {
    const std::vector<std::uint64_t> mask{~0ULL, 1, ~0ULL};
    EXPECT_EQ(count_allowed({}, 77), 77U);
    EXPECT_EQ(count_allowed(mask, 0), 0U);
    EXPECT_EQ(count_allowed(mask, 10), 10U);
    EXPECT_EQ(count_allowed(mask, 64), 64U);
    EXPECT_EQ(count_allowed(mask, 66), 65U);
    EXPECT_EQ(count_allowed(mask, 130), 67U);
    EXPECT_EQ(count_allowed(mask, 1000), 129U);
}

}  // namespace
}  // namespace braid::dense
