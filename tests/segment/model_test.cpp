#include <cstdint>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/dump.hpp"
#include "backend/helpers.hpp"
#include "backend/random_data.hpp"
#include "braid/local/backend.hpp"
#include "braid/store/memory_directory.hpp"
#include "core/share.hpp"

namespace braid::testing {
namespace {

/// A database that is flushed, merged and opened anew now and then.
class Database {
public:
    /// `now`: its clock.
    Database(local::Engine engine, std::uint64_t flush_rows, const Timestamp* now = nullptr)
        : root_(store::make_memory_directory()) {
        if (now != nullptr) options_.clock = [now] { return *now; };
        options_.engine = engine;
        options_.flush_rows = flush_rows;
        options_.flush_on_close_rows = flush_rows;
        options_.compaction = {.enabled = false, .background = false};
        reopen();
    }

    void reopen() {
        backend_.reset();
        auto opened = must(local::open_local_backend(must(root_->subdirectory("db")), options_));
        EXPECT_EQ(opened.notes, std::vector<std::string>());
        backend_ = std::move(opened.backend);
    }
    /// As a crash leaves it: what is on disk is all there is, and nobody closed it.
    void crash() {
        auto copy = store::make_memory_directory();
        copy_tree(*root_, *copy);
        backend_.reset();
        root_ = std::move(copy);
        reopen();
    }
    void reopen_as(local::Engine engine) {
        options_.engine = engine;
        reopen();
    }
    Backend& backend() { return *backend_; }
    void settle() { dynamic_cast<local::LocalBackend&>(*backend_).run_due_compactions(); }
    void compact() {
        const auto work = must(backend_->compaction("c"));
        do {
            for (auto batch = must(work->pending(8)); !batch.chunks.empty();
                 batch = must(work->pending(8))) {
                must(work->put(std::move(batch)));
            }
        } while (!must(work->finish()));
    }
    std::size_t files() const {
        const auto home = must(root_->subdirectory("db"));
        return must(must(must(home->subdirectory("collections"))->subdirectory("c"))->list())
            .size();
    }
    ReaderPtr snapshot() {
        const std::vector<std::string> names{"c"};
        return must(backend_->snapshot(names, {}));
    }

private:
    static void copy_tree(store::Directory& from, store::Directory& to) {
        for (const store::DirectoryEntry& entry : must(from.list())) {
            if (entry.is_directory) {
                copy_tree(*must(from.subdirectory(entry.name)), *must(to.subdirectory(entry.name)));
            } else {
                must(to.create(entry.name, must(from.open(entry.name))->bytes()));
            }
        }
    }

    std::unique_ptr<store::Directory> root_;
    local::LocalOptions options_;
    std::unique_ptr<Backend> backend_;
};

/// How a list was found is the one thing in which engines may differ.
std::string without_methods(const std::string& text) {
    static const std::regex method(" by (exhaustive|exact scan|inverted index)");
    return std::regex_replace(text, method, "");
}

std::string shown(const ReaderPtr& snapshot, const Principal& principal, unsigned seed) {
    RandomData random(seed);
    DumpPlan plan;
    plan.collection = "c";
    std::vector<std::string> fields;
    for (const TextField& field : must(snapshot->schema("c")).text_fields) {
        fields.push_back(field.name);
    }
    for (int i = 0; i < 4; ++i) plan.clauses.push_back(random.clauses(fields));
    plan.namespaces = {"default", "other"};
    plan.queries = {random.words(3), random.words(6)};
    plan.vectors = {random.vector(3), random.real_vector(3)};
    plan.filters = {random.filter(), random.filter()};
    plan.facet_fields = {"kind", "tags", "sensitivity", "document_id"};
    for (int i = 0; i < 60; i += 7) plan.chunk_ids.push_back("c" + std::to_string(i));
    for (int i = 0; i < 15; i += 3) plan.documents.push_back("d" + std::to_string(i));
    plan.versions = DumpPlan::Versions::Named;
    return without_methods(dump(snapshot, principal, plan));
}

const std::vector<Principal>& principals() {
    static const std::vector<Principal> all{{},
                                            {"low", "normal", {}},
                                            {"high", "restricted", {"red"}},
                                            {"mid", "sensitive", {"secret"}}};
    return all;
}

/// One random change, the same to both.
void change(RandomData& random, Timestamp now, Database& one, Database& other) {
    const auto soon = [&] {
        return Timestamp{now.micros + static_cast<std::int64_t>(random.below(120)) - 5};
    };
    const std::string space = random.chance(80) ? "default" : "other";
    const auto both = [&](const auto& write) {
        const auto a = write(one.backend());
        const auto b = write(other.backend());
        ASSERT_EQ(a.has_value(), b.has_value());
        if (!a) {
            EXPECT_EQ(a.error().message, b.error().message);
            return;
        }
        EXPECT_EQ(a->written, b->written);
        EXPECT_EQ(a->replaced, b->replaced);
        EXPECT_EQ(a->removed, b->removed);
        EXPECT_EQ(a->unchanged, b->unchanged);
    };
    const std::size_t kind = random.below(10);
    if (kind < 6) {
        std::vector<Chunk> chunks;
        for (std::size_t i = 0; i <= random.below(4); ++i) {
            Chunk chunk = random.chunk(3);
            if (random.chance(30)) chunk.expires_at = soon();
            const auto same = [&](const Chunk& c) { return c.chunk_id == chunk.chunk_id; };
            if (std::ranges::none_of(chunks, same)) chunks.push_back(std::move(chunk));
        }
        WriteOptions options;
        options.replace_documents = random.chance(20);
        options.skip_unchanged = random.chance(20);
        both([&](Backend& backend) { return backend.upsert("c", space, chunks, options); });
    } else if (kind < 8) {
        MetadataUpdate update = random.update();
        if (random.chance(30)) update.expires_at = soon();
        both([&](Backend& backend) { return backend.update("c", space, {update}, {}); });
    } else {
        DeleteSelector selector;
        if (random.chance(10)) {
            selector.filter = Filter{};  // all of the namespace
        } else if (random.chance(40)) {
            selector.filter = random.filter();
        } else if (random.chance(50)) {
            selector.document_ids = {"d" + std::to_string(random.below(15))};
        } else {
            selector.chunk_ids = {"c" + std::to_string(random.below(60))};
        }
        ReadScope scope = scope_of("c");
        scope.namespace_ = space;
        both([&](Backend& backend) { return backend.remove(scope, selector, {}); });
    }
}

/// Random changes; every now and then flushes, merges, restarts. Answers are those of the exact
/// engine, to the last bit, at present and at the point in time of an older snapshot.
void run_model(unsigned seed, Schema schema, int steps) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomData random(seed);
    Timestamp now{1'700'000'000'000'000};
    Database exact(local::Engine::Exact, 1, &now);
    Database segments(local::Engine::Segment, 1 + random.below(6), &now);
    for (Database* database : {&exact, &segments}) {
        must(database->backend().create_collection("c", schema));
    }
    ReaderPtr pinned_exact;
    ReaderPtr pinned_segments;
    for (int step = 0; step < steps; ++step) {
        SCOPED_TRACE(::testing::Message() << "step " << step);
        change(random, now, exact, segments);
        now.micros += static_cast<std::int64_t>(random.below(6));
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
    for (unsigned seed = 0; seed < share_of(12); ++seed) {
        Schema schema = vectors_schema(3, Metric::Dot);
        if (seed % 3 == 1) schema.vectors.metric = Metric::Euclidean;
        if (seed % 3 == 2) schema.bm25.variant = Bm25Variant::Okapi;
        run_model(seed, schema, 120);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(SegmentModel, WithWeightedFieldsAndTextInTheMetadata) {
    for (unsigned seed = 100; seed < 100 + share_of(6); ++seed) {
        Schema schema = vectors_schema(3, Metric::Dot);
        schema.text_fields = {{"title", 2.5}, {"content", 1.0}, {"metadata.kind", 0.5}};
        run_model(seed, schema, 120);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

/// With many rows a search by phrases ends as soon as the best are known.
TEST(SegmentModel, QueryLanguageOverManyRows) {
    RandomData random(7);
    Database exact(local::Engine::Exact, 1);
    Database segments(local::Engine::Segment, 700);
    for (Database* database : {&exact, &segments}) {
        Schema schema = words_schema();
        schema.text_fields = {{"title", 2.0}, {"content", 1.0}};
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
    }
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

TEST(SegmentModel, ManyNamespacesShareFiles) {
    Database database(local::Engine::Segment, 512);
    must(database.backend().create_collection("c", words_schema()));
    constexpr int spaces = 2000;
    for (int i = 0; i < spaces; ++i) {
        must(database.backend().upsert("c", "tenant" + std::to_string(i),
                                       {make_chunk("a", "word all"), make_chunk("b", "other")},
                                       {}));
        database.settle();
    }
    database.reopen();
    for (const int i : {0, 777, spaces - 1}) {
        ReadScope scope = scope_of("c");
        scope.namespace_ = "tenant" + std::to_string(i);
        EXPECT_EQ(must(database.snapshot()->count(scope)), 2U);
    }
    EXPECT_EQ(must(database.backend().check({})).problems, std::vector<std::string>());
}

}  // namespace
}  // namespace braid::testing
