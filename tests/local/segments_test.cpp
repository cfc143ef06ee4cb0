#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/forwarding.hpp"
#include "braid/local/backend.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

std::size_t files_of(const DatabaseInMemory& database, const std::string& kind) {
    std::size_t count = 0;
    for (const auto& entry : must(database.collection("c")->list())) {
        count += entry.name.starts_with(kind) ? 1U : 0U;
    }
    return count;
}

void put(Backend& backend, int first, int count) {
    std::vector<Chunk> chunks;
    for (int i = first; i < first + count; ++i) {
        chunks.push_back(
            make_chunk("c" + std::to_string(i), "word all", {1, static_cast<float>(i)}));
    }
    must(backend.upsert("c", "default", std::move(chunks), {}));
}

/// Whatever is there goes into a segment when the database is closed.
local::LocalOptions flushed_on_close() {
    local::LocalOptions options;
    options.flush_on_close_rows = 1;
    return options;
}

/// Flushes and merges only when run_due_compactions() is called.
local::LocalOptions by_hand(std::uint64_t flush_rows) {
    local::LocalOptions options;
    options.flush_rows = flush_rows;
    options.compaction.background = false;
    return options;
}

void write_five(DatabaseInMemory& database, const local::LocalOptions& options) {
    const auto backend = database.open(options);
    must(backend->create_collection("c", vectors_schema(2)));
    put(*backend, 0, 5);
}

TEST(Closing, LeavesManyChunksInSegmentsAndFewInTheLog) {
    for (const int count : {10, 300, 9000}) {
        SCOPED_TRACE(count);
        DatabaseInMemory database;
        {
            const auto backend = database.open();
            must(backend->create_collection("c", vectors_schema(2)));
            for (int i = 0; i < count; i += 100) put(*backend, i, std::min(100, count - i));
        }
        EXPECT_EQ(files_of(database, "segment-") > 0, count >= 256);
        const auto log = must(database.collection("c")->list());
        std::uint64_t log_bytes = 0;
        for (const auto& entry : log) {
            if (entry.name.starts_with("log-") && !entry.name.ends_with("-durable")) {
                log_bytes += entry.size;
            }
        }
        if (count >= 256) {
            EXPECT_LT(log_bytes, 1000U) << "all of it is in segments";
        }
        const auto backend = database.open();
        EXPECT_EQ(ids_in(*backend, "c").size(), static_cast<std::size_t>(count));
        EXPECT_TRUE(must(backend->check({})).clean());
    }
}

TEST(Counts, AreKeptUntilSomethingChanges) {
    DatabaseInMemory database;
    CollectionStats expected;
    {
        const auto backend = database.open();
        must(backend->create_collection("c", vectors_schema(2)));
        for (int i = 0; i < 5000; i += 500) put(*backend, i, 500);
        expected = must(snapshot_of(*backend, "c")->stats(scope_of("c")));
    }
    ASSERT_EQ(files_of(database, "counts"), 1U);
    const auto stats = [](const Backend& backend) {
        return must(snapshot_of(backend, "c")->stats(scope_of("c")));
    };
    const auto expect_same = [](const CollectionStats& a, const CollectionStats& b) {
        EXPECT_EQ(a.chunks, b.chunks);
        EXPECT_EQ(a.documents, b.documents);
        EXPECT_EQ(a.vectors, b.vectors);
        EXPECT_EQ(a.terms, b.terms);
        EXPECT_EQ(a.average_length, b.average_length);
    };
    expect_same(stats(*database.open({.read_only = true})), expected);
    // Whatever is wrong with them, they are counted anew.
    const auto file = DatabaseInMemory::read(*database.collection("c"), "counts");
    for (std::size_t i = 0; i < file.size(); ++i) {
        auto flipped = file;
        flipped[i] ^= std::byte{1};
        must(database.collection("c")->replace("counts", flipped));
        expect_same(stats(*database.open({.read_only = true})), expected);
    }
    must(database.collection("c")->replace("counts", file));
    {
        const auto backend = database.open();
        must(backend->upsert("c", "default", {make_chunk("new", "unheard word", {1, 1})}, {}));
        EXPECT_EQ(stats(*backend).chunks, 5001U);
        EXPECT_EQ(stats(*backend).terms, expected.terms + 1);
    }
    EXPECT_EQ(stats(*database.open()).terms, expected.terms + 1) << "and when it is in the log";
    EXPECT_TRUE(must(database.open()->check({})).clean());
}

TEST(Cursors, LapseWhenWhatTheyShowTakesMuchSpaceAndSnapshotsDoNot) {
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{64} << 20}) {
        DatabaseInMemory database;
        local::LocalOptions options = by_hand(50);
        options.cursor_bytes = bytes;
        const auto backend = database.open(options);
        must(backend->create_collection("c", vectors_schema(2)));
        put(*backend, 0, 100);
        const ReaderPtr held = snapshot_of(*backend, "c");
        const ReaderPtr cursor = held->lapsing();
        EXPECT_EQ(must(must(cursor->resume({}))->count(scope_of("c"))), 100U);
        for (int i = 100; i < 1000; i += 100) {
            put(*backend, i, 100);
            dynamic_cast<local::LocalBackend&>(*backend).run_due_compactions();
        }
        EXPECT_EQ(must(held->count(scope_of("c"))), 100U);
        if (bytes == 0) {
            expect_error(cursor->resume({}), ErrorCode::NotFound, "cursor");
        } else {
            EXPECT_EQ(must(must(cursor->resume({}))->count(scope_of("c"))), 100U);
        }
        const ReaderPtr now = snapshot_of(*backend, "c")->lapsing();
        EXPECT_EQ(must(must(now->resume({}))->count(scope_of("c"))), 1000U);
    }
}

/// What a user wraps around a snapshot.
class WrappedReader final : public ForwardingReader {
public:
    using ForwardingReader::ForwardingReader;

protected:
    ReaderPtr wrap(ReaderPtr inner) const override {
        return std::make_shared<WrappedReader>(std::move(inner));
    }
};

TEST(Cursors, LapseThroughAForwardingReader) {
    DatabaseInMemory database;
    local::LocalOptions options;
    options.flush_rows = 50;
    options.compaction.background = false;
    options.cursor_bytes = 0;
    const auto backend = database.open(options);
    must(backend->create_collection("c", vectors_schema(2)));
    put(*backend, 0, 100);
    const ReaderPtr cursor = WrappedReader(snapshot_of(*backend, "c")).lapsing();
    EXPECT_EQ(must(must(cursor->resume({}))->count(scope_of("c"))), 100U);
    for (int i = 100; i < 1000; i += 100) {
        put(*backend, i, 100);
        dynamic_cast<local::LocalBackend&>(*backend).run_due_compactions();
    }
    expect_error(cursor->resume({}), ErrorCode::NotFound, "cursor");
}

TEST(Segments, AMetadataUpdateOfAFlushedChunkKeepsTextAndVector) {
    const local::LocalOptions options = flushed_on_close();
    DatabaseInMemory database;
    write_five(database, options);
    const auto backend = database.open(options);
    ASSERT_GT(files_of(database, "segment-"), 0U);
    must(backend->update("c", "default", {{.chunk_id = "c3", .metadata = {{"k", 1}}}}, {}));
    const Ids ids{"c3"};
    const auto chunk =
        present(must(snapshot_of(*backend, "c")->fetch(scope_of("c"), ids, true)).front());
    EXPECT_EQ(chunk.content, "word all");
    EXPECT_EQ(chunk.vector, (std::vector<float>{1, 3}));
    EXPECT_EQ(*chunk.metadata.find("k"), Value(1));
    EXPECT_EQ(ids_in(*backend, "c").size(), 5U);
}

TEST(Segments, AnUpdateSurvivesAMergeOfWhatItChangedAndARestart) {
    DatabaseInMemory database;
    local::LocalOptions options = by_hand(4);
    options.flush_on_close_rows = 1000;  // what is in the log stays there
    {
        const auto backend = database.open(options);
        auto& local = dynamic_cast<local::LocalBackend&>(*backend);
        must(backend->create_collection("c", vectors_schema(2)));
        for (int i = 0; i < 12; i += 4) {
            put(*backend, i, 4);
            local.run_due_compactions();
        }
        // Of a row in a segment, which is then merged; the record is in the log alone.
        must(backend->update("c", "default", {{.chunk_id = "c3", .metadata = {{"k", 1}}}}, {}));
        must(local.merge_now("c"));
        EXPECT_EQ(ids_in(*backend, "c").size(), 12U);
    }
    const auto backend = database.open(options);
    EXPECT_EQ(ids_in(*backend, "c").size(), 12U);
    const Ids ids{"c3"};
    const auto chunk =
        present(must(snapshot_of(*backend, "c")->fetch(scope_of("c"), ids, true)).front());
    EXPECT_EQ(*chunk.metadata.find("k"), Value(1));
    EXPECT_EQ(chunk.vector, (std::vector<float>{1, 3}));
}

TEST(Segments, StatisticsSayWhichFilesThereAreAndWhatIsDue) {
    DatabaseInMemory database;
    const auto backend = database.open(by_hand(4));
    auto& local = dynamic_cast<local::LocalBackend&>(*backend);
    must(backend->create_collection("c", vectors_schema(2)));
    const auto stats = [&] { return must(snapshot_of(*backend, "c")->stats(scope_of("c"))); };
    put(*backend, 0, 3);
    ASSERT_TRUE(stats().index.has_value());
    EXPECT_TRUE(stats().index->segments.empty());
    EXPECT_EQ(stats().index->in_memory, 3U);
    EXPECT_TRUE(stats().index->pending.empty());
    put(*backend, 3, 3);
    EXPECT_EQ(stats().index->pending, (std::vector<std::string>{"flush"}));
    local.run_due_compactions();
    must(backend->remove(scope_of("c"), by_ids({"c1"}), {}));
    const CollectionStats after = stats();
    ASSERT_EQ(after.index->segments.size(), 1U);
    const IndexState::Segment& segment = after.index->segments.front();
    EXPECT_TRUE(segment.file.starts_with("segment-")) << segment.file;
    EXPECT_EQ(segment.chunks, 6U);
    EXPECT_EQ(segment.dead, 1U);
    EXPECT_EQ(segment.vectors, 6U);
    EXPECT_GT(segment.bytes, 0U);
    EXPECT_EQ(after.index->in_memory, 0U);
    ReadScope reader = scope_of("c");
    reader.principal = Principal{"reader", "normal", {"team"}};
    EXPECT_FALSE(must(snapshot_of(*backend, "c")->stats(reader)).index.has_value());
}

TEST(Segments, ALostManifestIsDamageNotAnInterruptedCreation) {
    const local::LocalOptions options = flushed_on_close();
    DatabaseInMemory database;
    write_five(database, options);
    must(database.collection("c")->remove("manifest"));
    const auto opened = must(database.try_open(options));
    EXPECT_FALSE(must(opened.backend->check({})).clean());
    expect_error(opened.backend->create_collection("c", vectors_schema(2)),
                 ErrorCode::AlreadyExists);
    EXPECT_GT(files_of(database, "segment-"), 0U);
}

TEST(Segments, CompactingAfterADeleteAloneLeavesNothingOfIt) {
    const local::LocalOptions options = flushed_on_close();
    DatabaseInMemory database;
    write_five(database, options);
    const auto backend = database.open(options);
    must(backend->remove(scope_of("c"), by_ids({"c1"}), {}));
    const auto work = must(backend->compaction("c"));
    EXPECT_TRUE(must(work->finish()));
    const CheckReport report = must(backend->check({}));
    EXPECT_TRUE(report.clean());
    EXPECT_EQ(report.superseded, 0U);
    EXPECT_EQ(ids_in(*backend, "c").size(), 4U);
}

TEST(Segments, FilesThatNobodyNamesAreRemovedAndTheirNumbersNotUsedAgain) {
    const local::LocalOptions options = flushed_on_close();
    DatabaseInMemory database;
    write_five(database, options);
    must(database.collection("c")->create("segment-000077", {}));
    {
        const auto backend = database.open(options);
        EXPECT_FALSE(database.collection("c")->open("segment-000077"));
        put(*backend, 5, 5);
    }
    EXPECT_TRUE(database.collection("c")->open("segment-000078"));
    EXPECT_EQ(ids_in(*database.open(options), "c").size(), 10U);
}

TEST(ReadOnly, SeesWhatAnotherProgramHasFlushedSince) {
    DatabaseInMemory database;
    const auto writer = database.open(by_hand(5));
    auto& local = dynamic_cast<local::LocalBackend&>(*writer);
    must(writer->create_collection("c", vectors_schema(2)));
    put(*writer, 0, 5);
    const auto reader = database.open({.read_only = true});
    const ReaderPtr held = snapshot_of(*reader, "c");
    for (int i = 5; i < 20; i += 5) {
        put(*writer, i, 5);
        local.run_due_compactions();
        EXPECT_EQ(ids_in(*reader, "c").size(), static_cast<std::size_t>(i + 5));
    }
    EXPECT_EQ(ids_of(must(held->scan(scope_of("c"), "", 100, false))).size(), 5U)
        << "whoever reads keeps what was there";
    must(writer->create_collection("d", words_schema()));
    must(writer->upsert("d", "default", {make_chunk("x", "late")}, {}));
    EXPECT_EQ(must(reader->collections({})).size(), 2U);
    EXPECT_EQ(ids_in(*reader, "d"), (Ids{"x"}));
    must(writer->drop_collection("d"));
    const std::vector<std::string> gone{"d"};
    const auto dropped = reader->snapshot(gone, {});
    ASSERT_FALSE(dropped);
    EXPECT_EQ(dropped.error().code, ErrorCode::NotFound);
    EXPECT_EQ(must(reader->collections({})).size(), 1U);
    const std::vector<std::string> hostile{"../c"};
    EXPECT_FALSE(reader->snapshot(hostile, {}));
}

}  // namespace
}  // namespace braid::testing
