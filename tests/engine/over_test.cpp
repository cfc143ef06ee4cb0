#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/backend.hpp"
#include "braid/database.hpp"
#include "memory_backend.hpp"

namespace braid {
namespace {

using Ids = std::vector<std::string>;

Ids ids_of(const Answer& answer) {
    Ids ids;
    for (const Hit& hit : answer.hits) ids.push_back(hit.chunk.chunk_id);
    return ids;
}

class Over : public ::testing::Test {
protected:
    Over() {
        Schema schema;
        schema.vectors = {.embedder = "external", .dimension = 2};
        EXPECT_TRUE(database.create_collection("default", schema));
        std::vector<Chunk> chunks(3);
        chunks[0] = {.chunk_id = "fox", .document_id = "d", .chunk_index = 0};
        chunks[0].content = "red foxes hunt";
        chunks[0].vector = {1, 0};
        chunks[1] = {.chunk_id = "owl", .document_id = "d", .chunk_index = 1};
        chunks[1].content = "owls hunt at night";
        chunks[1].vector = {0.6F, 0.8F};
        chunks[2] = {.chunk_id = "oak", .document_id = "d", .chunk_index = 2};
        chunks[2].content = "oaks stand";
        chunks[2].vector = {0, 1};
        EXPECT_TRUE(database.add("default", chunks));
        request.query = "red hunt";
        request.query_embedding = {0, 1};
    }

    Database database = *Database::over(std::make_unique<MemoryBackend>());
    Request request;
};

TEST_F(Over, AnybodysBackendLegsAreFusedWithReceipts) {
    const auto answer = database.retrieve(request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(ids_of(*answer), (Ids{"owl", "fox", "oak"})) << "both legs have the first two";
    EXPECT_TRUE(answer->complete);
    ASSERT_EQ(answer->sources.size(), 2U);
    EXPECT_EQ(answer->sources.at(0).matched, 3U);
    EXPECT_EQ(answer->sources.at(1).method, "counting");
    EXPECT_EQ(answer->hits.at(1).receipt.sources.size(), 2U);
}

TEST_F(Over, AnybodysBackendPagesGoOnWhereTheyEnded) {
    request.strategy = Strategy::Dense;
    request.dense_top_k = 1;
    request.top_k = 1;
    Ids ids;
    auto page = database.retrieve(request);
    while (page && page->cursor) {
        ids.push_back(page->hits.at(0).chunk.chunk_id);
        Request next;
        next.cursor = *page->cursor;
        page = database.retrieve(next);
    }
    ASSERT_TRUE(page);
    for (const std::string& id : ids_of(*page)) ids.push_back(id);
    EXPECT_EQ(ids, (Ids{"oak", "owl", "fox"}));
}

TEST_F(Over, AnybodysBackendNeighboursAndStagesWork) {
    request.strategy = Strategy::Sparse;
    request.expand_neighbors = 1;
    request.stages = {{"min_score", {{"value", 2}}}};
    const auto answer = database.retrieve(request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(ids_of(*answer), Ids{"fox"});
    EXPECT_EQ(answer->hits.at(0).expanded, "red foxes hunt\n[CHUNK BOUNDARY]\nowls hunt at night");
}

TEST_F(Over, WhatTheBackendLacksIsSaid) {
    request.explain = true;
    const auto answer = database.retrieve(request);
    ASSERT_TRUE(answer);
    std::string all;
    for (const std::string& warning : answer->warnings) all += warning + "\n";
    EXPECT_NE(all.find("does not rank whole lists"), std::string::npos) << all;
    EXPECT_NE(all.find("rounds the lengths"), std::string::npos) << all;
    ASSERT_FALSE(answer->hits.empty());
    for (const LegStanding& leg : answer->hits.at(0).legs) EXPECT_EQ(leg.rank, std::nullopt);
    const auto why = database.why_not(request, "oak");
    ASSERT_TRUE(why) << why.error().message;
    const auto copied = database.backup("nowhere");
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code, ErrorCode::Unsupported);
    EXPECT_FALSE(database.check());
}

TEST_F(Over, EmbeddersOfTheDatabaseServeIt) {
    Schema schema;
    schema.vectors.embedder = "no such embedder";
    EXPECT_FALSE(database.create_collection("other", schema));
}

TEST(OverNothing, IsRefused) {
    const auto none = Database::over(nullptr);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace braid
