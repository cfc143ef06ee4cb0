#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

constexpr std::size_t kDimension = 24;
constexpr int kChunks = 40;

Schema halves(Metric metric) {
    Schema schema = vectors_schema(kDimension);
    schema.vectors.metric = metric;
    schema.vectors.precision = Precision::F16;
    return schema;
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

std::vector<LegHit> nearest(const Backend& backend) {
    Leg leg;
    leg.kind = LegKind::Dense;
    leg.scope = scope_of("c");
    leg.vector.assign(kDimension, 0.3F);
    leg.depth = kChunks;
    leg.exact = true;
    return must(snapshot_of(backend, "c")->search_leg(leg)).hits;
}

TEST(Precision, OfHalvesScoresTheSameInMemoryAndInSegments) {
    for (const Metric metric : {Metric::Cosine, Metric::Dot, Metric::Euclidean}) {
        SCOPED_TRACE(name_of(metric));
        DatabaseInMemory database;
        local::LocalOptions options;
        options.flush_on_close_rows = 1;
        std::vector<LegHit> in_memory;
        {
            const auto backend = database.open(options);
            must(backend->create_collection("c", halves(metric)));
            must(backend->upsert("c", "default", random_chunks(), {}));
            in_memory = nearest(*backend);
        }
        const auto backend = database.open(options);
        EXPECT_EQ(schema_of(*backend, "c"), halves(metric));
        const auto in_segment = nearest(*backend);
        ASSERT_EQ(in_segment.size(), std::size_t{kChunks});
        for (std::size_t i = 0; i < in_segment.size(); ++i) {
            EXPECT_EQ(in_segment[i].chunk_id, in_memory[i].chunk_id);
            EXPECT_EQ(in_segment[i].score, in_memory[i].score);
        }
        EXPECT_TRUE(must(backend->check({})).clean());
    }
}

TEST(Precision, OfHalvesReturnsWhatIsStored) {
    DatabaseInMemory database;
    const auto backend = database.open();
    must(backend->create_collection("c", halves(Metric::Cosine)));
    must(backend->upsert("c", "default", random_chunks(), {}));
    const auto chunks = must(snapshot_of(*backend, "c")->scan(scope_of("c"), "", kChunks, true));
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
