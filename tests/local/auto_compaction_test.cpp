#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/local/backend.hpp"
#include "braid/local/memory_left.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

using local::AutoCompaction;
using local::LocalBackend;
using local::LocalOptions;

/// Compacts only when told to.
LocalOptions on_request(std::uint64_t min_void_bytes) {
    LocalOptions options;
    options.engine = local::Engine::Exact;  // of which all is in the log
    options.compaction = {.min_void_bytes = min_void_bytes, .background = false};
    return options;
}

void run_due(Backend& backend) {
    dynamic_cast<LocalBackend&>(backend).run_due_compactions();
}

std::uint64_t log_bytes_of(const Backend& backend) {
    return must(backend.describe("c", {})).bytes_on_disk;
}

/// Writes the same chunks over and over.
void churn(Backend& backend, int rounds, std::size_t text_bytes) {
    for (int round = 0; round < rounds; ++round) {
        std::vector<Chunk> chunks;
        for (int i = 0; i < 10; ++i) {
            chunks.push_back(make_chunk("k" + std::to_string(i), std::to_string(round) + " " +
                                                                     std::string(text_bytes, 'x')));
        }
        must(backend.upsert("c", "default", std::move(chunks), {}));
    }
}

TEST(AutoCompactionTest, ALogOfWhichMostIsVoidBecomesShort) {
    const DatabaseInMemory database;
    const auto backend = database.open(on_request(10'000));
    must(backend->create_collection("c", words_schema()));
    churn(*backend, 1, 1000);
    const std::uint64_t once = log_bytes_of(*backend);
    churn(*backend, 40, 1000);
    EXPECT_GT(log_bytes_of(*backend), 30 * once);
    const auto before = must(snapshot_of(*backend, "c")->scan(scope_of("c"), "", 99, true));
    run_due(*backend);
    EXPECT_LT(log_bytes_of(*backend), 2 * once);
    EXPECT_EQ(must(snapshot_of(*backend, "c")->scan(scope_of("c"), "", 99, true)), before);
    EXPECT_EQ(backend->health().compactions, 1U);
    EXPECT_TRUE(must(backend->check({})).clean());
    run_due(*backend);
    EXPECT_EQ(backend->health().compactions, 1U) << "nothing more is due";
}

TEST(AutoCompactionTest, ALogThatIsMostlyAliveOrShortStays) {
    const DatabaseInMemory database;
    const auto backend = database.open(on_request(10'000));
    must(backend->create_collection("c", words_schema()));
    churn(*backend, 10, 10);  // void, but little
    run_due(*backend);
    EXPECT_EQ(backend->health().compactions, 0U);
    for (int i = 0; i < 100; ++i) {
        must(backend->upsert("c", "default",
                             {make_chunk("n" + std::to_string(i), std::string(1000, 'y'))}, {}));
    }
    churn(*backend, 2, 1000);  // more than enough is void, but less than half
    run_due(*backend);
    EXPECT_EQ(backend->health().compactions, 0U);
}

TEST(AutoCompactionTest, DeletedAndReplacedChunksCountAsVoidAfterReopeningToo) {
    const DatabaseInMemory database;
    {
        const auto backend = database.open(on_request(1'000'000'000));
        must(backend->create_collection("c", words_schema()));
        churn(*backend, 40, 1000);
        must(backend->remove(scope_of("c"),
                             {.chunk_ids = {}, .document_ids = {}, .filter = Filter{}}, {}));
    }
    const auto backend = database.open(on_request(10'000));
    run_due(*backend);
    EXPECT_EQ(backend->health().compactions, 1U) << "seen when it was opened";
    EXPECT_LT(log_bytes_of(*backend), 200U);
    EXPECT_TRUE(must(backend->check({})).clean());
}

TEST(AutoCompactionTest, ASnapshotKeepsWhatItShows) {
    const DatabaseInMemory database;
    const auto backend = database.open(on_request(10'000));
    must(backend->create_collection("c", words_schema()));
    churn(*backend, 20, 1000);
    const ReaderPtr held = snapshot_of(*backend, "c");
    const auto before = must(held->scan(scope_of("c"), "", 99, true));
    churn(*backend, 20, 1000);
    run_due(*backend);
    EXPECT_EQ(backend->health().compactions, 1U);
    EXPECT_EQ(must(held->scan(scope_of("c"), "", 99, true)), before);
}

TEST(AutoCompactionTest, HappensInTheBackgroundWhileOthersWrite) {
    const DatabaseInMemory database;
    std::atomic<int> compacted{0};
    LocalOptions options;
    options.engine = local::Engine::Exact;
    options.compaction.min_void_bytes = 100'000;
    options.log = [&](const LogEvent& event) {
        if (event.name == "log_compacted") ++compacted;
    };
    const auto backend = database.open(options);
    must(backend->create_collection("c", words_schema()));
    std::uint64_t writes = 0;
    for (bool seen = false; !seen && writes < 100'000; ++writes) {
        must(backend->upsert("c", "default",
                             {make_chunk("k", std::to_string(writes) + std::string(1000, 'x')),
                              make_chunk("n" + std::to_string(writes % 100), "kept")},
                             {}));
        seen = compacted > 0;
    }
    EXPECT_GT(compacted.load(), 0);
    EXPECT_EQ(must(snapshot_of(*backend, "c")->count(scope_of("c"))),
              1 + std::min<std::uint64_t>(writes, 100));
    const Ids ids{"k"};
    EXPECT_TRUE(must(snapshot_of(*backend, "c")->fetch(scope_of("c"), ids, false))
                    .front()
                    ->content.starts_with(std::to_string(writes - 1)))
        << "no acknowledged write is lost";
    EXPECT_TRUE(must(backend->check({})).clean());
}

TEST(AutoCompactionTest, ClosingFinishesASmallOneAndCancelsALargeOne) {
    for (const bool small : {true, false}) {
        const DatabaseInMemory database;
        LocalOptions options;
        options.engine = local::Engine::Exact;
        options.compaction.min_void_bytes = 10'000;
        options.compaction.max_bytes_on_close = small ? 1'000'000 : 0;
        std::uint64_t before = 0;
        {
            LocalOptions never = options;
            never.compaction.enabled = false;
            const auto backend = database.open(never);
            must(backend->create_collection("c", words_schema()));
            churn(*backend, 40, 1000);
            before = log_bytes_of(*backend);
        }
        { const auto backend = database.open(options); }  // due when it is opened
        const auto backend = database.open(on_request(1'000'000'000));
        if (small) {
            EXPECT_LT(log_bytes_of(*backend), before / 10);
        }
        EXPECT_EQ(must(database.collection("c")->list()).size(), 4U)
            << "one manifest and its copy, one log and its mark";
        EXPECT_EQ(ids_in(*backend, "c").size(), 10U);
        EXPECT_TRUE(must(backend->check({})).clean());
    }
}

TEST(AutoCompactionTest, WorkThatRunsOutOfMemoryFailsAndEndsNothing) {
    const auto failed = local::with_memory_left([]() -> Result<bool> { throw std::bad_alloc(); });
    expect_error(failed, ErrorCode::ResourceExhausted);
    EXPECT_TRUE(must(local::with_memory_left([]() -> Result<bool> { return true; })));
}

}  // namespace
}  // namespace braid::testing
