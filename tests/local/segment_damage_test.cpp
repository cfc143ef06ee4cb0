// Bits flipped and ends cut off anywhere in the files of a small collection with segments, dead
// rows and a log: every answer is right, or a clear error; a check finds each damage. Here some of
// them, in the program segment_damage all.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/local/backend.hpp"
#include "local/database_in_memory.hpp"

#ifndef BRAID_DAMAGE_STEP
#define BRAID_DAMAGE_STEP 251
#endif

namespace braid::testing {
namespace {

using FileBytes = std::vector<std::byte>;
using FilesByName = std::map<std::string, FileBytes>;

constexpr std::int64_t kLongAfter = 4'000'000'000'000'000;  // the year 2096

Chunk numbered(int i) {
    Chunk chunk = make_chunk("c" + std::to_string(i),
                             "word w" + std::to_string(i % 3) + " only" + std::to_string(i),
                             {1, static_cast<float>(i)});
    chunk.document_id = "d" + std::to_string(i / 2);
    chunk.metadata = {{"kind", i % 2 == 0 ? "even" : "odd"}};
    if (i == 6) chunk.expires_at = Timestamp{kLongAfter};
    return chunk;
}

ReadScope in_namespace(const std::string& name) {
    ReadScope scope = scope_of("c");
    scope.namespace_ = name;
    return scope;
}

/// Two segments, the older with dead rows, and some records after the last flush; words know where
/// they stand, one chunk is to expire, and of two other namespaces one was dropped.
FilesByName small_collection() {
    const DatabaseInMemory database;
    local::LocalOptions options;
    options.flush_rows = 5;
    options.flush_on_close_rows = 1000;
    options.compaction.background = false;
    const auto backend = database.open(options);
    auto& local = dynamic_cast<local::LocalBackend&>(*backend);
    Schema schema = vectors_schema(2);
    schema.positions = true;
    must(backend->create_collection("c", schema));
    for (int i = 0; i < 12; ++i) {
        must(backend->upsert("c", "default", {numbered(i)}, {}));
        if (i == 3) must(backend->upsert("c", "gone", {numbered(1)}, {}));
        if (i == 3) must(backend->upsert("c", "other", {numbered(2)}, {}));
        if (i == 7) must(backend->remove(in_namespace("gone"), by_filter(Filter{}), {}));
        if (i == 7) must(backend->remove(scope_of("c"), by_ids({"c1"}), {}));
        local.run_due_compactions();
    }
    FilesByName files;
    for (const auto& entry : must(database.collection("c")->list())) {
        files[entry.name] = DatabaseInMemory::read(*database.collection("c"), entry.name);
    }
    return files;
}

/// What a collection answers, or that it does not: one line each.
std::vector<std::string> answers(const Backend& backend) {
    std::vector<std::string> lines;
    const auto add = [&](const auto& result, const auto& shown) {
        lines.push_back(result ? shown(*result) : std::string("error"));
    };
    const std::vector<std::string> names{"c"};
    const auto snapshot = backend.snapshot(names, {});
    if (!snapshot) return lines;
    const Reader& reader = **snapshot;
    const ReadScope scope = scope_of("c");
    for (const char* const name : {"default", "other", "gone"}) {
        add(reader.scan(in_namespace(name), "", 100, true), [](const std::vector<Chunk>& chunks) {
            std::string text;
            for (const Chunk& chunk : chunks) {
                text += chunk.chunk_id + "=" + chunk.content + "@" +
                        std::to_string(chunk.vector.at(1)) + " " + std::to_string(chunk.version) +
                        (chunk.expires_at ? " expires;" : ";");
            }
            return text;
        });
    }
    const auto hits = [](const LegResult& result) {
        std::string text = std::to_string(result.matched.count);
        for (const LegHit& hit : result.hits)
            text += " " + hit.chunk_id + std::to_string(hit.score);
        return text;
    };
    add(reader.search_leg(words_leg(scope, {"word w1"})), hits);
    Leg phrase{.kind = LegKind::Sparse, .scope = scope};
    phrase.clause = std::make_shared<const QueryClause>(
        QueryClause{.kind = QueryClause::Kind::Phrase, .text = "word w1"});
    add(reader.search_leg(phrase), hits);
    add(reader.search_leg(vector_leg(scope, {1, 2})), hits);
    add(reader.facets(scope, "kind", 10), [](const std::vector<FacetCount>& counts) {
        std::string text;
        for (const FacetCount& one : counts) {
            text += one.value.as_string() + std::to_string(one.count);
        }
        return text;
    });
    add(reader.stats(scope), [](const CollectionStats& stats) {
        return std::to_string(stats.chunks) + " " + std::to_string(stats.documents) + " " +
               std::to_string(stats.terms) + " " + std::to_string(stats.average_length);
    });
    return lines;
}

void expect_right_or_refused(const FilesByName& files, const std::vector<std::string>& expected,
                             bool noticed) {
    const DatabaseInMemory database;
    for (const auto& [name, bytes] : files) must(database.collection("c")->create(name, bytes));
    const auto opened = must(database.try_open({.read_only = true}));
    const std::vector<std::string> got = answers(*opened.backend);
    if (noticed) {
        EXPECT_FALSE(must(opened.backend->check({})).clean());
    }
    if (got.empty()) return;  // the collection is refused
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i] != "error") {
            EXPECT_EQ(got[i], expected[i]);
        }
    }
}

TEST(SegmentDamage, GivesRightAnswersOrErrors) {
    const FilesByName whole = small_collection();
    std::vector<std::string> expected;
    {
        const DatabaseInMemory database;
        for (const auto& [name, bytes] : whole) must(database.collection("c")->create(name, bytes));
        expected = answers(*must(database.try_open({.read_only = true})).backend);
        ASSERT_EQ(expected.size(), 8U);
        EXPECT_EQ(std::ranges::count(expected, "error"), 0);
    }
    std::size_t segments = 0;
    for (const auto& [name, bytes] : whole) {
        // A log tells damage at its end from a write that was interrupted by its mark, of which one
        // entry may be broken.
        const bool in_log = name.starts_with("log-");
        segments += name.starts_with("segment-") ? 1U : 0U;
        for (std::size_t bit = 0; bit < bytes.size() * 8 && !in_log; bit += BRAID_DAMAGE_STEP) {
            SCOPED_TRACE(name + ", bit " + std::to_string(bit));
            FilesByName files = whole;
            files[name][bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
            expect_right_or_refused(files, expected, true);
            if (::testing::Test::HasFailure()) return;
        }
        for (std::size_t size = 0; size < bytes.size(); size += 1 + BRAID_DAMAGE_STEP / 8) {
            SCOPED_TRACE(name + ", cut to " + std::to_string(size));
            FilesByName files = whole;
            files[name].resize(size);
            expect_right_or_refused(files, expected, !in_log);
            if (::testing::Test::HasFailure()) return;
        }
        SCOPED_TRACE(name + " is gone");
        FilesByName files = whole;
        files.erase(name);
        expect_right_or_refused(files, expected, name != local::kManifestCopyName);
    }
    EXPECT_GE(segments, 2U);
}

TEST(SegmentDamage, ALostListOfDeadRowsBringsBackDeletedChunksButNoOldVersions) {
    const DatabaseInMemory database;
    local::LocalOptions options;
    options.flush_rows = 4;
    options.flush_on_close_rows = 1;
    options.compaction.background = false;
    {
        const auto backend = database.open(options);
        auto& local = dynamic_cast<local::LocalBackend&>(*backend);
        must(backend->create_collection("c", vectors_schema(2)));
        // Versions of the same chunks, over many flushes and merges.
        for (int round = 0; round < 23; ++round) {
            for (int i = 0; i < 6; ++i) {
                Chunk chunk = numbered((round * 5 + i * 7) % 31);
                chunk.title = "round " + std::to_string(round);
                must(backend->upsert("c", "default", {chunk}, {}));
            }
            local.run_due_compactions();
        }
        // Whatever was merged by then, this row dies in a segment and stays there.
        must(backend->remove(scope_of("c"), by_ids({"c3"}), {}));
    }
    const auto titles = [&] {
        std::map<std::string, std::string> found;
        const auto backend = database.open(options);
        for (const Chunk& chunk :
             must(snapshot_of(*backend, "c")->scan(scope_of("c"), "", 100, false))) {
            found[chunk.chunk_id] = chunk.title.value_or("");
        }
        return found;
    };
    const auto before = titles();
    const auto files = database.collection("c");
    std::string deletes;
    for (const auto& entry : must(files->list())) {
        if (entry.name.starts_with("deletes-")) deletes = entry.name;
    }
    ASSERT_NE(deletes, "");
    must(files->remove(deletes));
    const RepairReport report = must(local::repair_database(*database.home()));
    ASSERT_EQ(report.repaired.size(), 1U);
    auto after = titles();
    after.erase("c3");
    EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace braid::testing
