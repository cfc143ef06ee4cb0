#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "braid/dense/vectors_reader.hpp"
#include "core/share.hpp"
#include "dense/vectors.hpp"

namespace braid::dense {
namespace {

constexpr std::array kMetrics{Metric::Cosine, Metric::Dot, Metric::Euclidean};

/// The first of `expected`, bits of scores included.
void expect_first(std::span<const VectorHit> hits, std::span<const VectorHit> expected) {
    ASSERT_EQ(hits.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(hits[i].row, expected[i].row) << "place " << i << " of " << expected.size();
        ASSERT_EQ(std::bit_cast<std::uint64_t>(hits[i].score),
                  std::bit_cast<std::uint64_t>(expected[i].score));
    }
}

/// Several queries together are answered as each alone.
void expect_exact_together(const StoredVectors& stored, const ExactRows& rows,
                           const Vectors& queries, std::size_t k) {
    std::vector<ExactQuery> all;
    for (const auto& query : queries) all.push_back(*stored.query(query));
    const auto best = stored.search_all(all, k);
    ASSERT_TRUE(best) << best.error().message;
    ASSERT_EQ(best->size(), queries.size());
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const auto expected = reference_search(rows, queries[q], stored.size(), {});
        expect_first((*best)[q], std::span(expected).first(std::min(k, expected.size())));
    }
}

/// Exact search over sections gives what scoring everything gives, bits of scores included.
void expect_exact(const Vectors& vectors, const VectorsOptions& options, const Vectors& queries,
                  std::span<const std::size_t> ks, Allowed allowed) {
    store::MemorySections sections;
    write_index(vectors, options, sections);
    const auto reader = VectorsReader::open(sections);
    ASSERT_TRUE(reader) << reader.error().message;
    ExactRows rows(options.dimension, options.metric);
    fill(rows, vectors, options.precision);
    for (const auto& query : queries) {
        const auto all = reference_search(rows, query, vectors.size(), allowed);
        for (const std::size_t k : ks) {
            VectorSearch search;
            search.k = k;
            search.allowed = allowed;
            search.exact = true;
            const auto answer = reader->search(query, search);
            ASSERT_TRUE(answer) << answer.error().message;
            expect_first(answer->hits, std::span(all).first(std::min(k, all.size())));
            if (::testing::Test::HasFatalFailure()) return;
            EXPECT_EQ(answer->method, VectorMethod::Exact);
        }
    }
    if (!allowed.empty()) return;
    for (const std::size_t k : ks) expect_exact_together(reader->vectors(), rows, queries, k);
}

TEST(ExactSearch, ReturnsWhatScoringEveryRowReturns) {
    constexpr std::array<std::size_t, 5> kDepths{0, 1, 10, 50, 1000};
    unsigned seed = 0;
    for (const std::size_t dimension : {1UL, 2UL, 3UL, 63UL, 383UL, 384UL, 1536UL, 4096UL}) {
        for (const std::size_t count : {0UL, 1UL, 63UL, 64UL, 65UL, 300UL}) {
            if (dimension > 1000 && count == 300) continue;
            for (const Metric metric : kMetrics) {
                const Precision precision = kPrecisions[++seed % 4 % 3];
                SCOPED_TRACE(::testing::Message()
                             << "seed " << seed << ", " << count << " x " << dimension);
                std::mt19937 rng(seed);
                const Vectors vectors = uniform_vectors(rng, count, dimension);
                const Vectors queries = uniform_vectors(rng, 2, dimension);
                const auto mask = random_mask(rng, count, seed % 3 == 0 ? 0.05 : 0.6);
                const VectorsOptions options{dimension, metric, precision};
                expect_exact(vectors, options, queries, kDepths, {});
                expect_exact(vectors, options, queries, kDepths, mask);
                if (::testing::Test::HasFatalFailure()) return;
            }
        }
    }
}

/// Values at which floats overflow, vanish, or cancel; never all zero.
std::vector<float> extreme_vector(std::mt19937& rng, std::size_t dimension, Precision precision) {
    const bool half = precision == Precision::F16;
    const float largest = half ? 65504.0F : std::numeric_limits<float>::max();
    const float tiny = half                           ? 0x1p-24F
                       : precision == Precision::Int8 ? 0x1p-135F
                                                      : std::numeric_limits<float>::denorm_min();
    const std::array choices{0.0F, -0.0F, largest, -largest, tiny, -tiny, 1.0F, -1.0F, 1e-3F};
    std::vector<float> vector(dimension);
    const bool wild = rng() % 2 == 0;
    for (float& x : vector) x = choices[wild ? rng() % choices.size() : 4 + rng() % 2];
    vector[rng() % dimension] = tiny;
    return vector;
}

TEST(ExactSearch, HoldsWhereFloatsOverflowVanishOrCancel) {
    constexpr std::array<std::size_t, 2> kDepths{3, 20};
    for (unsigned seed = 0; seed < share_of(60); ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const std::size_t dimension = 1 + rng() % 130;
        const Precision precision = kPrecisions[seed / 3 % 3];
        Vectors vectors;
        Vectors queries;
        for (int i = 0; i < 150; ++i) {
            vectors.push_back(extreme_vector(rng, dimension, precision));
        }
        for (int i = 0; i < 3; ++i)
            queries.push_back(extreme_vector(rng, dimension, Precision::F32));
        queries.push_back(vectors[17]);
        expect_exact(vectors, {dimension, kMetrics[seed % 3], precision}, queries, kDepths, {});
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(ExactSearch, BreaksTiesBySmallerRow) {
    constexpr std::array<std::size_t, 3> kDepths{1, 7, 100};
    for (const Metric metric : kMetrics) {
        for (const Precision precision : kPrecisions) {
            std::mt19937 rng(3);
            const Vectors few = uniform_vectors(rng, 3, 40);
            Vectors equal(200, few[0]);
            Vectors mixed;
            Vectors nearly;  // one bit apart: closer than sums of floats can tell
            for (int i = 0; i < 200; ++i) {
                mixed.push_back(few[rng() % 3]);
                nearly.push_back(few[0]);
                float& x = nearly.back()[rng() % 40];
                x = std::nextafter(x, rng() % 2 == 0 ? 2.0F : -2.0F);
            }
            for (const Vectors& vectors : {equal, mixed, nearly}) {
                expect_exact(vectors, {40, metric, precision}, few, kDepths, {});
                if (::testing::Test::HasFatalFailure()) return;
            }
        }
    }
}

}  // namespace
}  // namespace braid::dense
