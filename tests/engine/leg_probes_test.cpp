#include "braid/engine/leg_probes.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "braid/database.hpp"
#include "core/temporary_folder.hpp"
#include "embed/fake_embedder.hpp"

namespace braid::engine {
namespace {

using braid::testing::TemporaryFolder;

Result<std::shared_ptr<const Embedder>> probed_embedder(const VectorSpec& /*spec*/) {
    return std::make_shared<const embed::FakeEmbedder>(16);
}

OpenOptions quietly() {
    return {.embedders = probed_embedder, .probe_after_ms = 0};
}

Schema probed_schema() {
    Schema schema;
    schema.vectors.embedder = english_embedders().front();
    return schema;
}

/// Documents of two chunks, five sentences each.
std::vector<Chunk> passages(int count) {
    std::vector<Chunk> chunks;
    for (int i = 0; i < count; ++i) {
        const std::string number = std::to_string(i);
        Chunk chunk;
        chunk.chunk_id = "c" + number;
        chunk.document_id = "d" + std::to_string(i / 2);
        chunk.chunk_index = i % 2;
        chunk.title = "About subject" + number;
        for (int s = 0; s < 5; ++s) {
            chunk.content += "The subject" + number + " has part" + std::to_string(s) + " of word" +
                             std::to_string((i * 7 + s) % 50) + ". ";
        }
        chunks.push_back(std::move(chunk));
    }
    return chunks;
}

Database filled(const std::vector<Chunk>& chunks) {
    auto db = Database::in_memory(quietly());
    EXPECT_TRUE(db && db->create_collection("notes", probed_schema()));
    EXPECT_TRUE(db->add("notes", chunks));
    return std::move(*db);
}

TEST(LegProbes, AskForChunksByPartsOfThemselves) {
    Database db = filled(passages(130));
    const auto probes = db.probe({.collection = "notes"});
    ASSERT_TRUE(probes) << probes.error().message;
    ASSERT_TRUE(*probes);
    EXPECT_EQ((*probes)->chunks, 130U);
    EXPECT_EQ((*probes)->among, 130U);
    ASSERT_EQ((*probes)->kinds.size(), 4U);
    for (const LegProbes::Kind& kind : (*probes)->kinds) {
        EXPECT_EQ(kind.asked, 64U) << kind.name;
        // Every part names its subject, which no other chunk does; the neighbour's does not.
        if (kind.name != "neighbor") {
            EXPECT_EQ(kind.sparse, 1.0) << kind.name;
        }
        EXPECT_GE(kind.dense, 0) << kind.name;
        EXPECT_LE(kind.dense, 1) << kind.name;
    }
    EXPECT_GT((*probes)->random_sparse.deviation, 0);
    const auto stats = db.stats({.collection = "notes"});
    ASSERT_TRUE(stats);
    EXPECT_EQ(stats->probes, *probes);
    EXPECT_FALSE(probing_due(*stats));
    // The chunks are as they were.
    EXPECT_EQ(stats->chunks, 130U);
}

TEST(LegProbes, AreForgottenWithTheChunksTheyAreOf) {
    Database db = filled(passages(130));
    const ReadScope scope{.collection = "notes"};
    ASSERT_TRUE(db.probe(scope));
    DeleteSelector some;
    for (int i = 0; i < 60; ++i) some.chunk_ids.push_back("c" + std::to_string(i));
    ASSERT_TRUE(db.remove(scope, some, {}));
    EXPECT_TRUE(db.stats(scope)->probes);
    some.chunk_ids = {"c60", "c61", "c62", "c63", "c64", "c65"};
    ASSERT_TRUE(db.remove(scope, some, {}));
    EXPECT_FALSE(db.stats(scope)->probes) << "64 of 130 are left";
}

TEST(LegProbes, DependOnTheChunksAndNotOnTheirOrder) {
    std::vector<Chunk> chunks = passages(120);
    Database forwards = filled(chunks);
    std::ranges::reverse(chunks);
    Database backwards = filled(chunks);
    const auto first = forwards.probe({.collection = "notes"});
    const auto second = backwards.probe({.collection = "notes"});
    ASSERT_TRUE(first && second && *first);
    EXPECT_EQ(*first, *second);
}

TEST(LegProbes, AreForThoseWhoSeeEverything) {
    std::vector<Chunk> chunks = passages(120);
    chunks.front().sensitivity = "restricted";
    Database db = filled(chunks);
    ASSERT_TRUE(db.probe({.collection = "notes"}));
    ReadScope scope{.collection = "notes"};
    scope.principal.clearance = "public";
    EXPECT_EQ(db.probe(scope).error().code, ErrorCode::PermissionDenied);
    const auto stats = db.stats(scope);
    ASSERT_TRUE(stats);
    EXPECT_FALSE(stats->probes);
}

TEST(LegProbes, ThereAreNoneOfFewChunksOrWithoutAnEmbedder) {
    Database few = filled(passages(20));
    const auto none = few.probe({.collection = "notes"});
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
    ASSERT_TRUE(few.create_collection("words"));
    ASSERT_TRUE(few.add("words", passages(120)));
    const auto words = few.probe({.collection = "words"});
    ASSERT_TRUE(words);
    EXPECT_FALSE(*words);
    EXPECT_EQ(few.probe({.collection = "absent"}).error().code, ErrorCode::NotFound);
}

TEST(LegProbes, AreDueAgainWhenAQuarterHasChanged) {
    CollectionStats stats;
    stats.chunks = 99;
    stats.vectors = 99;
    EXPECT_FALSE(probing_due(stats)) << "too few";
    stats.chunks = 100;
    EXPECT_TRUE(probing_due(stats));
    stats.probes = LegProbes{.chunks = 100};
    EXPECT_FALSE(probing_due(stats));
    stats.chunks = 125;
    EXPECT_TRUE(probing_due(stats));
    stats.vectors = 0;
    EXPECT_FALSE(probing_due(stats));
}

TEST(LegProbes, ComeByThemselvesSomeTimeAfterAWriteAndStay) {
    const TemporaryFolder folder;
    OpenOptions options = quietly();
    options.probe_after_ms = 20;
    {
        auto db = Database::open(folder / "data", options);
        ASSERT_TRUE(db && db->create_collection("notes", probed_schema()));
        ASSERT_TRUE(db->add("notes", passages(120)));
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (!db->stats({.collection = "notes"})->probes) {
            ASSERT_LT(std::chrono::steady_clock::now(), end);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    auto again = Database::open(folder / "data", quietly());
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->stats({.collection = "notes"})->probes);
    const auto report = again->check();
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->clean() && report->notes.empty());
}

TEST(LegProbes, ADatabaseThatIsClosedDoesNotWaitForThem) {
    OpenOptions options = quietly();
    options.probe_after_ms = 3'600'000;
    const auto start = std::chrono::steady_clock::now();
    {
        auto db = Database::in_memory(options);
        ASSERT_TRUE(db && db->create_collection("notes", probed_schema()));
        ASSERT_TRUE(db->add("notes", passages(120)));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(30));
}

TEST(LegProbes, SentencesOrLinesOfAText) {
    const std::string prose =
        "One two three four. Too short. Five six seven eight! "
        "Nine ten is it now? And the last one here.";
    EXPECT_EQ(sentences_of(prose).size(), 4U);
    const std::string code = "def a(b): return b + 1\n\nx = y + z\nfor i in range of ten\n";
    EXPECT_EQ(sentences_of(code).size(), 3U);
    EXPECT_TRUE(sentences_of("").empty());
}

}  // namespace
}  // namespace braid::engine
