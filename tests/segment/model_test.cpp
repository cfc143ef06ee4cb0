#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/share.hpp"
#include "segment/model_database.hpp"

// So many times as many seeds as by default: in the program segment_model, which takes minutes.
#ifndef BRAID_MODEL_TIMES
#define BRAID_MODEL_TIMES 1
#endif

namespace braid::testing {
namespace {

/// Random changes; every now and then flushes, merges, restarts. Answers are those of the exact
/// engine, to the last bit, at present and at the point in time of an older snapshot.
void run_model(unsigned seed, Schema schema, int steps) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomData random(seed);
    Database::Clock clock{1'700'000'000'000'000};
    Database exact(local::Engine::Exact, 1, &clock);
    Database segments(local::Engine::Segment, 1 + random.below(6), &clock);
    for (Database* database : {&exact, &segments}) {
        must(database->backend().create_collection("c", schema));
    }
    ReaderPtr pinned_exact;
    ReaderPtr pinned_segments;
    for (int step = 0; step < steps; ++step) {
        SCOPED_TRACE(::testing::Message() << "step " << step);
        change(random, Timestamp{clock}, exact, segments);
        clock += static_cast<std::int64_t>(random.below(6));
        if (random.chance(60)) segments.settle();
        if (random.chance(4)) segments.compact();
        if (random.chance(4)) {
            pinned_exact.reset();
            pinned_segments.reset();
            random.chance(50) ? segments.reopen() : segments.crash();
        }
        if (random.chance(10)) {
            pinned_exact = exact.snapshot();
            pinned_segments = segments.snapshot();
        }
        if (step % 5 != 0) continue;
        const auto ask = static_cast<unsigned>(random.below(1000));
        const Principal& principal = random.pick(principals());
        ASSERT_EQ(shown(segments.snapshot(), principal, ask),
                  shown(exact.snapshot(), principal, ask));
        if (!pinned_exact) continue;
        ASSERT_EQ(shown(pinned_segments, principal, ask), shown(pinned_exact, principal, ask))
            << "at an earlier point in time";
    }
    const CheckReport report = must(segments.backend().check({}));
    EXPECT_EQ(report.problems, std::vector<std::string>());
    pinned_exact.reset();
    pinned_segments.reset();
    const std::string before = shown(segments.snapshot(), {}, seed);
    segments.reopen_as(local::Engine::Exact);
    EXPECT_EQ(shown(segments.snapshot(), {}, seed), before) << "the exact engine over segments";
    EXPECT_EQ(must(segments.backend().check({})).problems, std::vector<std::string>());
}

TEST(SegmentModel, AnswersAreThoseOfTheExactEngine) {
    for (unsigned seed = 0; seed < share_of(12) * BRAID_MODEL_TIMES; ++seed) {
        Schema schema = vectors_schema(3, Metric::Dot);
        if (seed % 3 == 1) schema.vectors.metric = Metric::Euclidean;
        if (seed % 3 == 2) schema.bm25.variant = Bm25Variant::Okapi;
        schema.positions = seed % 2 == 0;
        schema.vectors.precision = static_cast<Precision>(seed / 3 % 3);
        run_model(seed, schema, 120);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(SegmentModel, WithWeightedFieldsAndTextInTheMetadata) {
    for (unsigned seed = 1000; seed < 1000 + share_of(6) * BRAID_MODEL_TIMES; ++seed) {
        Schema schema = vectors_schema(3, Metric::Dot);
        schema.text_fields = {{"title", 2.5}, {"content", 1.0}, {"metadata.kind", 0.5}};
        schema.positions = seed % 2 == 0;
        run_model(seed, schema, 120);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

/// With many rows a search by phrases ends as soon as the best are known: with positions, and by
/// texts alone.
void query_language_over_many_rows(bool positions) {
    RandomData random(7);
    Database exact(local::Engine::Exact, 1);
    Database segments(local::Engine::Segment, 700);
    for (Database* database : {&exact, &segments}) {
        Schema schema = words_schema();
        schema.text_fields = {{"title", 2.0}, {"content", 1.0}};
        schema.positions = positions;
        must(database->backend().create_collection("c", schema));
    }
    for (int batch = 0; batch < 40; ++batch) {
        std::vector<Chunk> chunks;
        for (int i = 0; i < 100; ++i) {
            Chunk chunk = make_chunk("c" + std::to_string((batch * 100 + i) * 7919 % 100'000),
                                     random.words(1 + random.below(30)));
            if (random.chance(30)) chunk.title = random.words(2);
            chunk.metadata.set("n", random.below(4));
            chunks.push_back(std::move(chunk));
        }
        for (Database* database : {&exact, &segments}) {
            must(database->backend().upsert("c", "default", chunks, {}));
        }
        segments.settle();
    }
    const ReaderPtr expected = exact.snapshot();
    const ReaderPtr found = segments.snapshot();
    for (int i = 0; i < 400; ++i) {
        Leg leg{.kind = LegKind::Sparse, .scope = scope_of("c")};
        leg.clause = std::make_shared<const QueryClause>(random.clauses({"title", "content"}));
        leg.depth = 1 + random.below(20);
        if (random.chance(20)) leg.scope.filter = Filter::compare(Filter::Op::Eq, "n", 1);
        SCOPED_TRACE(::testing::Message() << "query " << i);
        const LegResult all = must(expected->search_leg(leg));
        const LegResult best = must(found->search_leg(leg));
        ASSERT_EQ(best.hits, all.hits);
        EXPECT_EQ(best.patterns, all.patterns);
        if (best.matched.relation == MatchCount::Relation::Exact) {
            EXPECT_EQ(best.matched.count, all.matched.count);
        } else {
            EXPECT_LE(best.matched.count, all.matched.count);
        }
        if (best.hits.empty()) continue;
        leg.after = random.pick(best.hits);
        ASSERT_EQ(must(found->search_leg(leg)).hits, must(expected->search_leg(leg)).hits);
    }
}

TEST(SegmentModel, QueryLanguageOverManyRows) {
    query_language_over_many_rows(false);
}

TEST(SegmentModel, QueryLanguageOverManyRowsWithPositions) {
    query_language_over_many_rows(true);
}

TEST(SegmentModel, TheNumberOfFilesIsBounded) {
    Database database(local::Engine::Segment, 4);
    std::size_t most = 0;
    must(database.backend().create_collection("c", words_schema()));
    for (int i = 0; i < 600; ++i) {
        must(database.backend().upsert(
            "c", "default", {make_chunk("c" + std::to_string(i * 7919 % 1000), "word all")}, {}));
        database.settle();
        most = std::max(most, database.files());
    }
    // 600 rows in flushes of four: at most three segments of each of four sizes, and a fourth that
    // is about to be merged; a manifest and its copy, a log, its mark, a file of deletes.
    EXPECT_LE(most, 4 * 4 + 5U);
    EXPECT_EQ(must(database.snapshot()->count(scope_of("c"))), 600U);
}

ReadScope tenant(std::uint64_t number) {
    ReadScope scope = scope_of("c");
    scope.namespace_ = "tenant" + std::to_string(number);
    return scope;
}

TEST(SegmentModel, TenThousandNamespacesShareFilesAndGoAtOnce) {
    Database database(local::Engine::Segment, 4096);
    must(database.backend().create_collection("c", words_schema()));
    const std::uint64_t spaces = share_of(10'000);
    for (std::uint64_t i = 0; i < spaces; ++i) {
        must(database.backend().upsert("c", tenant(i).namespace_,
                                       {make_chunk("a", "word all"), make_chunk("b", "other")},
                                       {}));
        if (i % 64 == 0) database.settle();
    }
    database.settle();
    database.compact();
    const std::size_t files = database.files();
    EXPECT_LE(files, 6U);
    const std::uint64_t before = database.bytes();
    for (std::uint64_t i = 0; i < spaces; i += 2) {
        DeleteSelector all;
        all.filter = Filter{};
        EXPECT_EQ(must(database.backend().remove(tenant(i), all, {})).written, 2U);
    }
    // A record each, of 91 bytes and its name, and not a file.
    const std::uint64_t record = 91 + tenant(spaces).namespace_.size();
    EXPECT_LE(database.bytes() - before, record * (spaces + 1) / 2);
    EXPECT_EQ(database.files(), files);
    for (int round = 0; round < 2; ++round) {
        for (const std::uint64_t i : {std::uint64_t{0}, spaces / 2, spaces - 1}) {
            EXPECT_EQ(must(database.snapshot()->count(tenant(i))), i % 2 == 0 ? 0U : 2U);
        }
        database.reopen();
    }
    EXPECT_EQ(must(database.backend().check({})).problems, std::vector<std::string>());
}

}  // namespace
}  // namespace braid::testing
