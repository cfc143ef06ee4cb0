#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "local/copy_database.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

std::string nth_name(int i) {
    return "c" + std::to_string(100 + i);
}

local::LocalOptions at_most_open(std::size_t count) {
    local::LocalOptions options;
    options.max_open = count;
    return options;
}

Ids words_in(const Backend& backend, const std::string& collection, const std::string& word) {
    const Leg leg = words_leg(scope_of(collection), {word});
    return ids_of(must(snapshot_of(backend, collection)->search_leg(leg)));
}

class OnDemandTest : public ::testing::Test {
protected:
    static constexpr int kCollections = 12;

    OnDemandTest() {
        const auto backend = database.open(at_most_open(3));
        for (int i = 0; i < kCollections; ++i) {
            must(backend->create_collection(nth_name(i), words_schema()));
            must(backend->upsert(nth_name(i), "default",
                                 {make_chunk("a", "ant " + std::to_string(i))}, {}));
            EXPECT_LE(backend->health().open_collections, 3U);
        }
    }

    DatabaseInMemory database;
};

TEST_F(OnDemandTest, EveryCollectionIsThereWithFewOfThemOpen) {
    const auto backend = database.open(at_most_open(3));
    EXPECT_EQ(backend->health().open_collections, 3U);
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < kCollections; ++i) {
            EXPECT_EQ(words_in(*backend, nth_name(i), std::to_string(i)), Ids{"a"});
            const std::string id = "b" + std::to_string(round);
            must(backend->upsert(nth_name(i), "default", {make_chunk(id, "bee")}, {}));
            EXPECT_EQ(words_in(*backend, nth_name(i), "bee").size(), round + 1U);
            EXPECT_LE(backend->health().open_collections, 3U);
        }
    }
    const auto infos = must(backend->collections({}));
    ASSERT_EQ(infos.size(), std::size_t{kCollections});
    for (const CollectionInfo& info : infos) {
        EXPECT_EQ(info.damage, "");
        EXPECT_EQ(info.chunks, 3U);
        EXPECT_GT(info.bytes_on_disk, 100U);
    }
    EXPECT_LE(backend->health().open_collections, 3U);
    const CheckReport report = must(backend->check({}));
    EXPECT_TRUE(report.clean());
    EXPECT_EQ(report.collections, std::uint64_t{kCollections});
    Principal restricted;
    restricted.clearance = "public";
    for (const CollectionInfo& info : must(backend->collections(restricted))) {
        EXPECT_EQ(info.chunks, 0U) << "what is remembered of a closed one is not for everybody";
    }
}

TEST_F(OnDemandTest, ASnapshotKeepsItsCollectionOpenAndUnchanged) {
    const auto backend = database.open(at_most_open(2));
    const ReaderPtr held = snapshot_of(*backend, nth_name(0));
    for (int i = 0; i < kCollections; ++i) {
        must(backend->upsert(nth_name(i), "default", {make_chunk("b", "bee")}, {}));
    }
    EXPECT_EQ(must(held->count(scope_of(nth_name(0)))), 1U);
    EXPECT_EQ(ids_in(*backend, nth_name(0)), (Ids{"a", "b"}));
}

TEST_F(OnDemandTest, ClosedCollectionsCanBeDroppedCreatedAndCopied) {
    const auto backend = database.open(at_most_open(2));
    expect_error(backend->create_collection(nth_name(9), words_schema()), ErrorCode::AlreadyExists);
    must(backend->drop_collection(nth_name(9)));
    expect_error(backend->snapshot(std::vector<std::string>{nth_name(9)}, {}), ErrorCode::NotFound);
    must(backend->create_collection(nth_name(9), words_schema()));
    EXPECT_EQ(ids_in(*backend, nth_name(9)), Ids());
    const DatabaseInMemory copy;
    EXPECT_EQ(must(copy_database(*backend, *copy.home(), {})).collections,
              std::uint64_t{kCollections});
    EXPECT_EQ(ids_in(*copy.open(), nth_name(11)), Ids{"a"});
    EXPECT_LE(backend->health().open_collections, std::uint64_t{kCollections});
}

TEST_F(OnDemandTest, DamageIsFoundWhenACollectionIsNeeded) {
    const std::string text = "nonsense";
    must(database.collection(nth_name(10))->replace("manifest", std::as_bytes(std::span(text))));
    const auto backend = database.open(at_most_open(2));
    expect_error(backend->snapshot(std::vector<std::string>{nth_name(10)}, {}),
                 ErrorCode::Corruption);
    EXPECT_EQ(must(backend->collections({})).size(), std::size_t{kCollections});
    EXPECT_FALSE(must(backend->check({})).clean());
    EXPECT_EQ(words_in(*backend, nth_name(11), "ant"), Ids{"a"}) << "the others go on";
    must(backend->drop_collection(nth_name(10)));
    EXPECT_TRUE(must(backend->check({})).clean());
}

TEST_F(OnDemandTest, ManyThreadsOpenAndCloseWithoutLosingAWrite) {
    const auto backend = database.open(at_most_open(2));
    constexpr int threads = 4;
    constexpr int writes = 60;
    std::vector<std::thread> workers;
    workers.reserve(threads);
    for (int thread = 0; thread < threads; ++thread) {
        workers.emplace_back([&, thread] {
            std::mt19937 random(static_cast<unsigned>(thread));
            for (int i = 0; i < writes; ++i) {
                const std::string name = nth_name(static_cast<int>(random() % kCollections));
                const std::string id = std::to_string(thread) + "-" + std::to_string(i);
                must(backend->upsert(name, "default", {make_chunk(id, "cat")}, {}));
                const Ids ids{id};
                EXPECT_TRUE(must(snapshot_of(*backend, name)->fetch(scope_of(name), ids, false))
                                .front()
                                .has_value());
                if (i % 20 == 0) must(backend->collections({}));
            }
        });
    }
    for (std::thread& worker : workers) worker.join();
    std::size_t found = 0;
    for (int i = 0; i < kCollections; ++i) found += words_in(*backend, nth_name(i), "cat").size();
    EXPECT_EQ(found, std::size_t{threads} * writes);
}

}  // namespace
}  // namespace braid::testing
