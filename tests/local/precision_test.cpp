#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "local/copy_database.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

constexpr std::size_t kDimension = 24;
constexpr int kChunks = 40;

constexpr std::array kRounding{Precision::F16, Precision::Int8};

Schema rounding(Precision precision, Metric metric) {
    Schema schema = vectors_schema(kDimension);
    schema.vectors.metric = metric;
    schema.vectors.precision = precision;
    return schema;
}

Schema halves(Metric metric) {
    return rounding(Precision::F16, metric);
}

/// A number of at most eleven binary digits is one that 16 bits hold, at ordinary sizes.
bool is_half(float x) {
    int exponent = 0;
    const float digits = std::ldexp(std::frexp(x, &exponent), 11);
    return digits == std::round(digits);
}

std::vector<Chunk> random_chunks() {
    std::mt19937 rng(7);
    std::uniform_real_distribution<float> number(-1, 1);
    std::vector<Chunk> chunks;
    for (int i = 0; i < kChunks; ++i) {
        std::vector<float> vector(kDimension);
        for (float& x : vector) x = number(rng);
        chunks.push_back(make_chunk("c" + std::to_string(i), "word", vector));
    }
    return chunks;
}

std::vector<LegHit> nearest(const Backend& backend, bool exact = true) {
    Leg leg;
    leg.kind = LegKind::Dense;
    leg.scope = scope_of("c");
    for (std::size_t i = 0; i < kDimension; ++i) leg.vector.push_back(i % 3 == 0 ? 0.3F : -0.1F);
    leg.depth = kChunks;
    leg.exact = exact;
    return must(snapshot_of(backend, "c")->search_leg(leg)).hits;
}

/// The same ids and scores, bit for bit.
void expect_same_hits(const std::vector<LegHit>& hits, const std::vector<LegHit>& expected) {
    ASSERT_EQ(hits.size(), expected.size());
    for (std::size_t i = 0; i < hits.size(); ++i) {
        EXPECT_EQ(hits[i].chunk_id, expected[i].chunk_id);
        EXPECT_EQ(hits[i].score, expected[i].score);
    }
}

std::vector<Chunk> chunks_in(const Backend& backend) {
    return must(snapshot_of(backend, "c")->scan(scope_of("c"), "", kChunks, true));
}

TEST(Precision, ScoresTheSameInMemoryInSegmentsAndInCopies) {
    for (const Precision precision : kRounding) {
        for (const Metric metric : {Metric::Cosine, Metric::Dot, Metric::Euclidean}) {
            SCOPED_TRACE(name_of(precision));
            SCOPED_TRACE(name_of(metric));
            DatabaseInMemory database;
            local::LocalOptions options;
            options.compaction.background = false;
            std::vector<LegHit> in_memory;
            std::vector<Chunk> stored;
            {
                const auto backend = database.open(options);
                must(backend->create_collection("c", rounding(precision, metric)));
                must(backend->upsert("c", "default", random_chunks(), {}));
                in_memory = nearest(*backend);
                stored = chunks_in(*backend);
                ASSERT_EQ(in_memory.size(), std::size_t{kChunks});
                expect_same_hits(nearest(*backend, false), in_memory);
            }
            {
                SCOPED_TRACE("from the log");
                const auto backend = database.open(options);
                EXPECT_EQ(schema_of(*backend, "c"), rounding(precision, metric));
                EXPECT_EQ(chunks_in(*backend), stored);
                expect_same_hits(nearest(*backend), in_memory);
            }
            options.flush_rows = 8;
            options.flush_on_close_rows = 1;
            {
                SCOPED_TRACE("half of it written anew, in segments and in memory");
                const auto backend = database.open(options);
                for (std::size_t i = 0; i < kChunks; i += 2) {
                    Chunk again = stored[i];  // as it came back
                    again.content = "other";
                    must(backend->upsert("c", "default", {again}, {}));
                }
                expect_same_hits(nearest(*backend), in_memory);
            }
            const auto backend = database.open(options);
            expect_same_hits(nearest(*backend), in_memory);
            expect_same_hits(nearest(*backend, false), in_memory);
            EXPECT_TRUE(must(backend->check({})).clean());
            compact_whole(*backend, "c");
            expect_same_hits(nearest(*backend), in_memory);
            DatabaseInMemory target;
            EXPECT_TRUE(must(copy_database(*backend, *target.home(), {})).clean());
            const auto copy = target.open();
            expect_same_hits(nearest(*copy), in_memory);
            for (std::size_t i = 0; i < kChunks; ++i) {
                EXPECT_EQ(chunks_in(*copy)[i].vector, stored[i].vector);
            }
            EXPECT_TRUE(must(copy->check({})).clean());
        }
    }
}

TEST(Precision, IsThatOfARewrittenCollectionToo) {
    for (const Precision precision : kRounding) {
        DatabaseInMemory database;
        const auto backend = database.open();
        must(backend->create_collection("c", vectors_schema(kDimension)));
        must(backend->upsert("c", "default", random_chunks(), {}));
        DatabaseInMemory other;
        const auto expected = other.open();
        must(expected->create_collection("c", rounding(precision, Metric::Dot)));
        must(expected->upsert("c", "default", random_chunks(), {}));
        const auto rewrite = must(backend->rewrite("c", rounding(precision, Metric::Dot)));
        do {
            for (auto batch = must(rewrite->pending(8)); !batch.chunks.empty();
                 batch = must(rewrite->pending(8))) {
                must(rewrite->put(std::move(batch)));
            }
        } while (!must(rewrite->finish()));
        expect_same_hits(nearest(*backend), nearest(*expected));
    }
}

TEST(Precision, OfHalvesReturnsWhatIsStored) {
    DatabaseInMemory database;
    const auto backend = database.open();
    must(backend->create_collection("c", halves(Metric::Cosine)));
    must(backend->upsert("c", "default", random_chunks(), {}));
    const auto chunks = chunks_in(*backend);
    const auto written = random_chunks();
    for (const Chunk& chunk : chunks) {
        const auto& whole = written[std::stoul(chunk.chunk_id.substr(1))].vector;
        for (std::size_t i = 0; i < kDimension; ++i) {
            EXPECT_TRUE(is_half(chunk.vector[i])) << chunk.vector[i];
            EXPECT_NEAR(chunk.vector[i], whole[i], 0.0005);
        }
    }
    // The same again is no change.
    const auto report =
        must(backend->upsert("c", "default", random_chunks(), {.skip_unchanged = true}));
    EXPECT_EQ(report.unchanged, std::uint64_t{kChunks});
}

TEST(Precision, OfBytesReturnsWhatIsStored) {
    DatabaseInMemory database;
    const auto backend = database.open();
    must(backend->create_collection("c", rounding(Precision::Int8, Metric::Cosine)));
    must(backend->upsert("c", "default", random_chunks(), {}));
    const auto written = random_chunks();
    for (const Chunk& chunk : chunks_in(*backend)) {
        const auto& whole = written[std::stoul(chunk.chunk_id.substr(1))].vector;
        float largest = 0;
        for (const float x : chunk.vector) largest = std::max(largest, std::abs(x));
        const float unit = largest / 127;
        for (std::size_t i = 0; i < kDimension; ++i) {
            EXPECT_EQ(chunk.vector[i] / unit, std::round(chunk.vector[i] / unit));
            EXPECT_NEAR(chunk.vector[i], whole[i], 0.51F * unit);
        }
    }
    const auto report =
        must(backend->upsert("c", "default", random_chunks(), {.skip_unchanged = true}));
    EXPECT_EQ(report.unchanged, std::uint64_t{kChunks});
    // Any size will do, unless nothing is left.
    std::vector<float> large(kDimension, 1);
    large[3] = 3e38F;
    must(backend->upsert("c", "default", {make_chunk("large", "word", large)}, {}));
    must(backend->upsert(
        "c", "default", {make_chunk("small", "word", std::vector<float>(kDimension, 1e-30F))}, {}));
    expect_error(
        backend->upsert("c", "default",
                        {make_chunk("none", "word", std::vector<float>(kDimension, 1e-44F))}, {}),
        ErrorCode::InvalidArgument, "as 8-bit numbers");
}

TEST(Precision, RefusesWhatHalvesCannotHold) {
    DatabaseInMemory database;
    const auto backend = database.open();
    must(backend->create_collection("c", halves(Metric::Cosine)));
    std::vector<float> large(kDimension, 1);
    large[3] = 1e6F;
    const auto refused = backend->upsert("c", "default", {make_chunk("large", "word", large)}, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(refused.error().message.find("large"), std::string::npos);
    EXPECT_NE(refused.error().message.find("as 16-bit numbers"), std::string::npos);
    EXPECT_NE(refused.error().message.find("element 3"), std::string::npos);
    // Under cosine nothing may be left but zeros.
    EXPECT_FALSE(backend->upsert(
        "c", "default", {make_chunk("small", "word", std::vector<float>(kDimension, 1e-9F))}, {}));
}

}  // namespace
}  // namespace braid::testing
