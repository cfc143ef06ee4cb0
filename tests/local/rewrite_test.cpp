#include <gtest/gtest.h>

#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

/// Copies what is pending, with vectors of another dimension.
void copy_all(Rewrite& rewrite) {
    while (true) {
        Rewrite::Batch batch = must(rewrite.pending(2));
        if (batch.chunks.empty()) return;
        for (Chunk& chunk : batch.chunks) chunk.vector = {chunk.vector.at(0), 7, 7};
        must(rewrite.put(std::move(batch)));
    }
}

std::vector<std::optional<Chunk>> fetch_all(const Backend& backend, const Ids& ids) {
    return must(snapshot_of(backend, "c")->fetch(scope_of("c"), ids, true));
}

class RewriteTest : public ::testing::Test {
protected:
    RewriteTest() {
        const auto backend = database.open();
        must(backend->create_collection("c", vectors_schema(2)));
        must(backend->upsert("c", "default", {make_chunk("a", "word", {1, 1})}, {}));
        must(backend->upsert("c", "default", {make_chunk("b", "word", {2, 1})}, {}));
        must(backend->upsert("c", "other", {make_chunk("a", "word", {3, 1})}, {}));
    }

    DatabaseInMemory database;
    const Schema next_schema = vectors_schema(3, Metric::Dot);
};

TEST_F(RewriteTest, KeepsChunksAndVersionsUnderTheNewSchema) {
    const auto backend = database.open();
    const Ids ids{"a", "b"};
    const auto before = fetch_all(*backend, ids);
    const ReaderPtr held = snapshot_of(*backend, "c");
    const auto rewrite = must(backend->rewrite("c", next_schema));
    copy_all(*rewrite);
    EXPECT_EQ(rewrite->done(), 3U);
    EXPECT_EQ(rewrite->total(), 3U);
    EXPECT_EQ(schema_of(*backend, "c"), vectors_schema(2)) << "not before finish()";
    EXPECT_TRUE(must(rewrite->finish()));
    EXPECT_EQ(schema_of(*backend, "c"), next_schema);
    EXPECT_EQ(must(held->fetch(scope_of("c"), ids, true)), before);
    Chunk a = present(before.at(0));
    Chunk b = present(before.at(1));
    a.vector = {1, 7, 7};
    b.vector = {2, 7, 7};
    EXPECT_EQ(fetch_all(*backend, ids), (std::vector<std::optional<Chunk>>{a, b}));
    const Version version =
        must(backend->upsert("c", "default", {make_chunk("n", "word", {1, 1, 1})}, {})).version;
    EXPECT_NE(version, b.version);
}

TEST_F(RewriteTest, TakesInWhatIsWrittenMeanwhile) {
    {
        const auto backend = database.open();
        const auto rewrite = must(backend->rewrite("c", next_schema));
        expect_error(backend->rewrite("c", next_schema), ErrorCode::Conflict);
        copy_all(*rewrite);
        must(backend->upsert("c", "default", {make_chunk("new", "word", {9, 1})}, {}));
        must(backend->remove(scope_of("c"), by_ids({"a"}), {}));
        must(backend->update("c", "default", {{.chunk_id = "b", .metadata = {{"k", 1}}}}, {}));
        EXPECT_FALSE(must(rewrite->finish())) << "chunks are pending again";
        copy_all(*rewrite);
        EXPECT_TRUE(must(rewrite->finish()));
        EXPECT_EQ(ids_in(*backend, "c"), (Ids{"b", "new"}));
    }
    const auto backend = database.open();
    EXPECT_EQ(ids_in(*backend, "c"), (Ids{"b", "new"}));
    const Ids ids{"b", "new"};
    const auto chunks = fetch_all(*backend, ids);
    EXPECT_EQ(present(chunks.at(0)).metadata, (Object{{"k", 1}}));
    EXPECT_EQ(present(chunks.at(1)).vector, (std::vector<float>{9, 7, 7}));
    EXPECT_EQ(must(database.collection("c")->list()).size(), 4U)
        << "one manifest and its copy, one log, one mark";
}

TEST_F(RewriteTest, GoesOnAfterAnInterruption) {
    {
        const auto backend = database.open();
        const auto rewrite = must(backend->rewrite("c", next_schema));
        Rewrite::Batch batch = must(rewrite->pending(1));
        for (Chunk& chunk : batch.chunks) chunk.vector = {chunk.vector.at(0), 7, 7};
        must(rewrite->put(std::move(batch)));
    }
    const auto backend = database.open();
    EXPECT_TRUE(backend->rewriting("c", {}).has_value());
    EXPECT_EQ(schema_of(*backend, "c"), vectors_schema(2));
    const auto rewrite = must(backend->rewrite("c", next_schema));
    copy_all(*rewrite);
    EXPECT_EQ(rewrite->done(), 3U);
    EXPECT_TRUE(must(rewrite->finish()));
    EXPECT_EQ(backend->rewriting("c", {}), std::nullopt);
    EXPECT_EQ(schema_of(*backend, "c"), next_schema);
    EXPECT_EQ(ids_in(*backend, "c"), (Ids{"a", "b"}));
}

TEST_F(RewriteTest, OfADroppedCollectionComesToNothing) {
    {
        const auto backend = database.open();
        const auto rewrite = must(backend->rewrite("c", next_schema));
        copy_all(*rewrite);
        must(backend->drop_collection("c"));
        expect_error(rewrite->finish(), ErrorCode::NotFound, "c");
        must(backend->create_collection("c", words_schema()));
        EXPECT_EQ(backend->rewriting("c", {}), std::nullopt);
        expect_error(rewrite->finish(), ErrorCode::Conflict, "dropped");
    }
    const auto backend = database.open();
    EXPECT_EQ(schema_of(*backend, "c"), words_schema());
}

}  // namespace
}  // namespace braid::testing
