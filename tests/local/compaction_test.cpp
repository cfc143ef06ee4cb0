#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

/// Whether a word stands anywhere in the collection's files.
bool in_files(const DatabaseInMemory& database, std::string_view word) {
    const auto directory = database.collection("c");
    for (const store::DirectoryEntry& entry : must(directory->list())) {
        const auto bytes = DatabaseInMemory::read(*directory, entry.name);
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (text.find(word) != std::string_view::npos) return true;
    }
    return false;
}

/// Copies what is pending as it is.
void copy_pending(Rewrite& rewrite) {
    while (true) {
        Rewrite::Batch batch = must(rewrite.pending(2));
        if (batch.chunks.empty()) return;
        must(rewrite.put(std::move(batch)));
    }
}

class CompactionTest : public ::testing::Test {
protected:
    CompactionTest() {
        const auto backend = database.open();
        must(backend->create_collection("c", vectors_schema(2)));
        must(backend->upsert("c", "default",
                             {make_chunk("a", "oldword", {1, 1}), make_chunk("b", "kept", {2, 1})},
                             {}));
        must(backend->upsert("c", "default", {make_chunk("a", "newword", {3, 1})}, {}));
        must(backend->upsert("c", "other", {make_chunk("gone", "secretword", {3, 1})}, {}));
        must(backend->remove({.collection = "c", .namespace_ = "other"}, by_ids({"gone"}), {}));
        must(backend->update("c", "default", {{.chunk_id = "b", .metadata = {{"k", 1}}}}, {}));
    }

    DatabaseInMemory database;
};

TEST_F(CompactionTest, KeepsEveryChunkAndDropsWhatIsVoid) {
    const auto backend = database.open();
    const Ids ids{"a", "b"};
    const auto before = must(snapshot_of(*backend, "c")->fetch(scope_of("c"), ids, true));
    EXPECT_EQ(must(backend->check({})).superseded, 4U);
    EXPECT_TRUE(in_files(database, "secretword") && in_files(database, "oldword"));
    const auto work = must(backend->compaction("c"));
    expect_error(backend->compaction("c"), ErrorCode::Conflict);
    EXPECT_EQ(backend->rewriting("c", {}), std::nullopt) << "no answer changes by it";
    copy_pending(*work);
    EXPECT_TRUE(must(work->finish()));
    EXPECT_EQ(must(snapshot_of(*backend, "c")->fetch(scope_of("c"), ids, true)), before);
    EXPECT_FALSE(in_files(database, "secretword") || in_files(database, "oldword"));
    EXPECT_TRUE(in_files(database, "kept"));
    EXPECT_EQ(must(database.collection("c")->list()).size(), 4U)
        << "one manifest and its copy, one log, one mark";
    const CheckReport report = must(backend->check({}));
    EXPECT_TRUE(report.clean());
    EXPECT_EQ(report.superseded, 0U);
    EXPECT_EQ(report.notes, std::vector<std::string>());
    const Version version =
        must(backend->upsert("c", "default", {make_chunk("n", "word", {1, 1})}, {})).version;
    EXPECT_NE(version, present(before.at(1)).version);
}

TEST_F(CompactionTest, TakesInWhatIsWrittenMeanwhileAndOpensAgain) {
    {
        const auto backend = database.open();
        const auto work = must(backend->compaction("c"));
        copy_pending(*work);
        must(backend->remove(scope_of("c"), by_ids({"a"}), {}));
        must(backend->upsert("c", "default", {make_chunk("new", "word", {9, 1})}, {}));
        EXPECT_FALSE(must(work->finish())) << "a chunk is pending again";
        copy_pending(*work);
        EXPECT_TRUE(must(work->finish()));
        EXPECT_EQ(ids_in(*backend, "c"), (Ids{"b", "new"}));
    }
    EXPECT_EQ(ids_in(*database.open(), "c"), (Ids{"b", "new"}));
}

TEST_F(CompactionTest, WhatAnInterruptionLeavesIsClearedAway) {
    {
        const auto backend = database.open();
        const auto work = must(backend->compaction("c"));
        must(work->put(must(work->pending(1))));
        const CheckReport report = must(backend->check({}));
        EXPECT_TRUE(report.clean());
        EXPECT_EQ(report.notes.size(), 1U) << "that it is under way";
    }
    const auto backend = database.open();
    EXPECT_EQ(must(database.collection("c")->list()).size(), 4U)
        << "one manifest and its copy, one log, one mark";
    EXPECT_EQ(ids_in(*backend, "c"), (Ids{"a", "b"}));
    EXPECT_EQ(backend->rewriting("c", {}), std::nullopt);
    const auto work = must(backend->compaction("c"));
    copy_pending(*work);
    EXPECT_TRUE(must(work->finish()));
}

TEST_F(CompactionTest, AnUnfinishedRewriteIsStillThereAfterwards) {
    const Schema next_schema = vectors_schema(2, Metric::Dot);
    {
        const auto backend = database.open();
        const auto rewrite = must(backend->rewrite("c", next_schema));
        must(rewrite->put(must(rewrite->pending(1))));
        expect_error(backend->compaction("c"), ErrorCode::Conflict);
    }
    const auto backend = database.open();
    {
        const auto work = must(backend->compaction("c"));
        copy_pending(*work);
        EXPECT_TRUE(must(work->finish()));
    }
    EXPECT_TRUE(backend->rewriting("c", {}).has_value());
    const auto rewrite = must(backend->rewrite("c", next_schema));
    EXPECT_EQ(must(rewrite->pending(5)).chunks.size(), 1U) << "the other was copied before";
}

TEST_F(CompactionTest, AReadOnlyDatabaseRefuses) {
    const auto backend = database.open({.read_only = true});
    expect_error(backend->compaction("c"), ErrorCode::ReadOnly);
}

}  // namespace
}  // namespace braid::testing
