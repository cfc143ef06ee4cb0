#include <array>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "braid/dense/vectors_reader.hpp"
#include "dense/vectors.hpp"

namespace braid::dense {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(VectorsIndex, RefusesVectorsThatCannotBeCompared) {
    for (const std::size_t dimension : {0UL, kMaxDimension + 1UL}) {
        const auto builder = VectorsBuilder::create({.dimension = dimension});
        ASSERT_FALSE(builder);
        EXPECT_EQ(builder.error().code, ErrorCode::InvalidArgument);
        EXPECT_NE(builder.error().message.find(std::to_string(dimension)), std::string::npos);
    }
    auto cosine = VectorsBuilder::create({.dimension = 3});
    auto halves = VectorsBuilder::create(
        {.dimension = 3, .metric = Metric::Dot, .precision = Precision::F16});
    auto tiny = VectorsBuilder::create({.dimension = 3, .precision = Precision::F16});
    auto bytes = VectorsBuilder::create({.dimension = 3, .precision = Precision::Int8});
    ASSERT_TRUE(cosine && halves && tiny && bytes);
    using Vector = std::vector<float>;
    for (const Vector& bad : {Vector{1, 2}, Vector{1, 2, 3, 4}, Vector{}, Vector{1, kNaN, 3},
                              Vector{1, 2, kInf}, Vector{0, 0, 0}, Vector{-kInf, 0, 0}}) {
        const auto added = cosine->add(bad);
        ASSERT_FALSE(added);
        EXPECT_EQ(added.error().code, ErrorCode::InvalidArgument);
    }
    EXPECT_FALSE(halves->add(Vector{1, 70000, 2})) << "no half is that large";
    EXPECT_TRUE(halves->add(Vector{0, 0, 0})) << "a dot product with zeros is defined";
    EXPECT_FALSE(tiny->add(Vector{1e-10F, 0, 0})) << "as halves these are zeros";
    EXPECT_FALSE(bytes->add(Vector{1e-43F, 0, 0})) << "as bytes these are zeros";
    EXPECT_TRUE(bytes->add(Vector{1e-10F, 0, 0}));
    EXPECT_TRUE(bytes->add(Vector{3e38F, 1, -3e38F}));
    EXPECT_EQ(cosine->size(), 0U);
    EXPECT_EQ(halves->size(), 1U);
}

TEST(VectorsIndex, RefusesQueriesThatCannotBeCompared) {
    store::MemorySections sections;
    write_index({{1, 2, 3}, {3, 2, 1}}, {.dimension = 3}, sections);
    const auto reader = VectorsReader::open(sections);
    ASSERT_TRUE(reader);
    using Vector = std::vector<float>;
    for (const Vector& bad :
         {Vector{1, 2}, Vector{}, Vector{kNaN, 1, 1}, Vector{1, kInf, 1}, Vector{0, 0, 0}}) {
        const auto answer = reader->search(bad, {});
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, ErrorCode::InvalidArgument);
    }
    const std::array<std::uint32_t, 2> rows{1, 2};
    EXPECT_FALSE(reader->score(Vector{1, 1, 1}, rows)) << "there is no row 2";
}

TEST(VectorsIndex, ScoresNamedRowsAsExactRowsDoes) {
    for (const Metric metric : {Metric::Cosine, Metric::Dot, Metric::Euclidean}) {
        for (const Precision precision : kPrecisions) {
            std::mt19937 rng(8);
            const VectorsOptions options{33, metric, precision};
            const Vectors vectors = uniform_vectors(rng, 40, 33);
            const Vectors query = uniform_vectors(rng, 1, 33);
            store::MemorySections sections;
            write_index(vectors, options, sections);
            const auto reader = VectorsReader::open(sections);
            ASSERT_TRUE(reader);
            const auto hits = reference_search(vectors, options, query[0], 40, {});
            std::vector<std::uint32_t> rows;
            for (const VectorHit& hit : hits) rows.push_back(hit.row);
            const auto scores = reader->score(query[0], rows);
            ASSERT_TRUE(scores);
            for (std::size_t i = 0; i < hits.size(); ++i) EXPECT_EQ((*scores)[i], hits[i].score);
        }
    }
}

TEST(VectorsIndex, StopsWhenToldTo) {
    auto builder = VectorsBuilder::create({.dimension = 3});
    ASSERT_TRUE(builder);
    ASSERT_TRUE(builder->add(std::vector<float>{1, 2, 3}));
    std::stop_source source;
    source.request_stop();
    store::MemorySections sections;
    const auto written = builder->write(sections, {.stop = source.get_token(), .progress = {}});
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::Cancelled);
}

TEST(VectorsIndex, ReportsProgressFromNothingToDone) {
    auto builder = VectorsBuilder::create({.dimension = 3});
    ASSERT_TRUE(builder);
    ASSERT_TRUE(builder->add(std::vector<float>{1, 2, 3}));
    std::vector<double> seen;
    store::MemorySections sections;
    ASSERT_TRUE(builder->write(
        sections, {.stop = {}, .progress = [&](double done) { seen.push_back(done); }}));
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.back(), 1.0);
    EXPECT_TRUE(std::ranges::is_sorted(seen));
}

}  // namespace
}  // namespace braid::dense
