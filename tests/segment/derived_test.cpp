#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "segment/derived_fixture.hpp"

namespace braid::testing {
namespace {

TEST_F(Derived, AGraphComesWithManyVectorsAndLeadsToTheExactScores) {
    create();
    put(0, 1000);
    compact();
    EXPECT_TRUE(names_of("graph-").empty()) << "few vectors are scanned as fast";
    EXPECT_FALSE(dense_stats().has_value());
    put(1000, kRows);
    compact();
    ASSERT_EQ(names_of("graph-").size(), 1U);
    EXPECT_EQ(names_of("graph-").front().substr(5), names_of("segment-").front().substr(7));
    EXPECT_EQ(names_of("calibration").size(), 1U);
    const auto stats = dense_stats();
    ASSERT_TRUE(stats.has_value());
    EXPECT_EQ(stats->in_graphs, kRows);
    EXPECT_EQ(stats->calibrated, kRows);
    EXPECT_EQ(stats->asked, 0U);
    for (const DenseStats::Point& point : stats->points) {
        EXPECT_LE(point.low, point.found);
        EXPECT_LE(point.found, point.high);
    }
    EXPECT_GE(recall(), 0.9);
    make_scans_look_bad();
    EXPECT_GE(recall(), 0.9);
    EXPECT_TRUE(must(backend_->check({})).clean());
    EXPECT_EQ(must(backend_->check({})).notes, std::vector<std::string>());
}

TEST_F(Derived, FiltersOfEveryWidthFindWhatMatches) {
    fill();
    make_scans_look_bad();
    for (const std::size_t share : {2UL, 10UL, 100UL, 1000UL, 4500UL}) {
        SCOPED_TRACE(::testing::Message() << "one of " << share);
        const auto filter =
            Filter::compare(Filter::Op::Lt, "row", Value(static_cast<std::int64_t>(kRows / share)));
        EXPECT_GE(recall(filter), 0.95);
        EXPECT_EQ(search(vector_near(rng_, 1), false, 10, filter).hits.size(),
                  std::min<std::size_t>(10, kRows / share));
    }
}

TEST_F(Derived, FiltersThatFollowTheQueryFindWhatMatches) {
    fill();
    make_scans_look_bad();
    for (const std::int64_t centre : {0, 7, 29}) {
        const auto only = Filter::compare(Filter::Op::Eq, "centre", Value(centre));
        const auto others = Filter{Filter::Op::Not, {}, {}, {only}};
        for (const std::size_t near : {static_cast<std::size_t>(centre), std::size_t{3}}) {
            EXPECT_GE(recall(only, 10, near, 10), 0.95);
            EXPECT_GE(recall(others, 10, near, 10), 0.95);
            EXPECT_EQ(search(vector_near(rng_, near), false, 50, only).hits.size(), 50U);
            EXPECT_EQ(search(vector_near(rng_, near), false, 50, others).hits.size(), 50U);
        }
    }
}

TEST_F(Derived, ReplacingHalfOfItInRandomOrderCostsNoRecall) {
    fill();
    make_scans_look_bad();
    const double before = recall();
    std::vector<std::size_t> order(kRows);
    for (std::size_t i = 0; i < kRows; ++i) order[i] = i;
    std::ranges::shuffle(order, rng_);
    for (std::size_t i = 0; i < kRows / 2; ++i) {
        Chunk chunk = make_chunk(id(order[i]), "text", vector_near(rng_, order[i] % kCentres));
        must(backend_->upsert("c", "default", {std::move(chunk)}, {}));
        if (i % 100 == 0) local().run_due_compactions();
        if (i == kRows / 4) {
            EXPECT_GE(recall(), before - 0.02);
        }
    }
    EXPECT_GE(recall(), before - 0.02) << "as it is";
    local().run_due_compactions();
    compact();
    EXPECT_EQ(dense_stats()->in_graphs, kRows);
    constexpr int kQueries = 200;
    const double replaced = recall(std::nullopt, 10, kCentres, kQueries);
    const std::vector<std::string> names{"c"};
    auto chunks = must(must(backend_->snapshot(names, {}))->scan(scope_of("c"), "", kRows, true));
    ASSERT_EQ(chunks.size(), kRows);
    must(backend_->drop_collection("c"));
    create();
    must(backend_->upsert("c", "default", std::move(chunks), {}));
    compact();
    make_scans_look_bad();
    EXPECT_GE(replaced, recall(std::nullopt, 10, kCentres, kQueries) - 0.01) << "built afresh";
}

TEST_F(Derived, DeletesTakeEffectAtOnce) {
    fill();
    make_scans_look_bad();
    for (int i = 0; i < 200; ++i) {
        const auto query = vector_near(rng_, 5);
        const LegResult found = search(query, false, 1);
        ASSERT_EQ(found.hits.size(), 1U);
        must(backend_->remove(scope_of("c"), by_ids({found.hits.front().chunk_id}), {}));
        const LegResult next = search(query, false, 1);
        ASSERT_EQ(next.hits.size(), 1U);
        EXPECT_NE(next.hits.front().chunk_id, found.hits.front().chunk_id);
    }
}

TEST_F(Derived, QueriesOfLateMakeTheCalibration) {
    fill();
    for (int i = 0; i < 300; ++i) search(vector_near(rng_, rng_() % kCentres), false);
    local().run_due_compactions();
    auto stats = dense_stats();
    ASSERT_TRUE(stats.has_value());
    EXPECT_GE(stats->asked, 256U);
    EXPECT_EQ(stats->asked, stats->queries) << "enough of them, so no own vectors";
    EXPECT_GE(recall(std::nullopt, 10, kCentres, 100), 0.88);
    open();
    EXPECT_EQ(dense_stats()->asked, stats->asked);
    // Twice as many vectors: it is made again.
    put(kRows, 2 * kRows + 100);
    compact();
    EXPECT_EQ(dense_stats()->calibrated, 2 * kRows + 100);
}

TEST_F(Derived, DepthsAndVectorsOfAllKindsAreAnswered) {
    fill();
    make_scans_look_bad();
    const auto query = vector_near(rng_, 1);
    EXPECT_TRUE(search(query, false, 0).hits.empty());
    EXPECT_EQ(search(query, false, kRows + 5).hits.size(), kRows);
    EXPECT_EQ(search(query, false, kRows).hits, search(query, true, kRows).hits);
    EXPECT_EQ(search(query, false, 10, std::nullopt, 1).hits, search(query, true).hits);
    must(backend_->create_collection("same", vectors_schema(3)));
    std::vector<Chunk> chunks;
    for (std::size_t i = 0; i < 4500; ++i) chunks.push_back(make_chunk(id(i), "text", {3, 4, 5}));
    must(backend_->upsert("same", "default", std::move(chunks), {}));
    must(must(backend_->compaction("same"))->finish());
    const std::vector<std::string> names{"same"};
    Leg leg = vector_leg(scope_of("same"), {1, 1, 1}, 10);
    leg.recall = 0.9;
    const LegResult found = must(must(backend_->snapshot(names, {}))->search_leg(leg));
    ASSERT_EQ(found.hits.size(), 10U);
    EXPECT_EQ(found.hits.front().score, found.hits.back().score);
}

TEST_F(Derived, NewVectorsGetAGraphOfTheirOwn) {
    fill();
    const Schema schema = vectors_schema(kDimension, Metric::Dot);
    auto work = must(backend_->rewrite("c", schema));
    do {
        for (auto batch = must(work->pending(500)); !batch.chunks.empty();
             batch = must(work->pending(500))) {
            must(work->put(std::move(batch)));
        }
    } while (!must(work->finish()));
    work.reset();
    EXPECT_TRUE(names_of("graph-").empty()) << "it went with its segment";
    EXPECT_TRUE(names_of("calibration").empty());
    compact();
    EXPECT_EQ(dense_stats()->in_graphs, kRows);
    EXPECT_GE(recall(), 0.9);
}

}  // namespace
}  // namespace braid::testing
