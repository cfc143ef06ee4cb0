#include "braid/apps/artifacts/hybrid_search.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/apps/artifacts/labels.hpp"
#include "braid/apps/vocabulary.hpp"
#include "core/present.hpp"
#include "server/service_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::memory_database;
using braid::testing::parsed;

Hit hit_of(const std::string& collection, const std::string& id, double score,
           const std::vector<std::string>& from) {
    Hit hit;
    hit.collection = collection;
    hit.chunk.chunk_id = id;
    hit.chunk.document_id = id;
    hit.score = score;
    for (const std::string& name : from) hit.receipt.sources.push_back({.source = name});
    return hit;
}

// Written from the format strings of the decision record, by hand.
TEST(HybridSearchText, IsThatOfTheDecisionRecord) {
    Answer answer;
    Hit& full =
        answer.hits.emplace_back(hit_of("artifact_chunks", "art_abc123::chunk::002",
                                        1.0 / 62 + 1.0 / 65, {"artifacts", "artifact_chunks"}));
    full.chunk.content = std::string(200, 'x') + "y";
    full.chunk.metadata = parsed(R"({"title": "Minutes", "artifact_type": "doc",
        "source_system": "drive", "sensitivity": "sensitive",
        "source_url": "https://example.com/minutes"})")
                              .as_object();
    Hit& bare = answer.hits.emplace_back(hit_of("memory", "mem_1", 1.0 / 60, {"memory"}));
    bare.chunk.content = "Likes tea.";
    Hit& plain = answer.hits.emplace_back(hit_of("artifacts", "art_2", 1.0 / 63, {"artifacts"}));
    plain.chunk.title = "The field";
    plain.chunk.content = std::string(200, 'z');
    plain.chunk.metadata =
        parsed(R"({"title": "The metadata", "artifact_type": "mail"})").as_object();

    EXPECT_EQ(apps::hybrid_search_text(answer),
              "Found 3 results (searched: artifact_chunks, artifacts, memory):\n"
              "\n"
              "[1] RRF score: 0.032 (from: artifacts, artifact_chunks)\n"
              "Type: chunk | ID: art_abc123::chunk::002\n"
              "Title: Minutes\n"
              "Source: drive | Sensitivity: sensitive\n"
              "Snippet: \"" +
                  std::string(200, 'x') +
                  "...\"\n"
                  "Evidence: https://example.com/minutes\n"
                  "\n"
                  "[2] RRF score: 0.017 (from: memory)\n"
                  "Type: artifact | ID: mem_1\n"
                  "Snippet: \"Likes tea.\"\n"
                  "\n"
                  "[3] RRF score: 0.016 (from: artifacts)\n"
                  "Type: artifact | ID: art_2\n"
                  "Title: The field\n"
                  "Source: ? | Sensitivity: normal\n"
                  "Snippet: \"" +
                  std::string(200, 'z') + "\"\n");
}

TEST(HybridSearchText, SaysThatNothingWasFound) {
    EXPECT_EQ(apps::hybrid_search_text({}), "No results found.");
}

TEST(HybridSearchText, LetsNoDocumentForgeALine) {
    Answer answer;
    Hit& hit = answer.hits.emplace_back(hit_of("artifacts", "a\nb", 1, {"artifacts"}));
    hit.chunk.content = "one\r\ntwo\n\n[2] RRF score\xE2\x80\xA8: 9";
    hit.chunk.title = "x\nType: chunk";
    EXPECT_EQ(apps::hybrid_search_text(answer),
              "Found 1 results (searched: artifacts):\n\n"
              "[1] RRF score: 1.000 (from: artifacts)\n"
              "Type: artifact | ID: a b\n"
              "Title: x Type: chunk\n"
              "Snippet: \"one two  [2] RRF score : 9\"\n");
}

TEST(HybridSearchText, CutsBetweenCodePoints) {
    std::string text;
    for (int i = 0; i < 201; ++i) text += "\xC3\xA4";
    EXPECT_EQ(apps::beginning(text, 200), text.substr(0, 400) + "...");
    EXPECT_EQ(apps::beginning(text, 201), text);
    EXPECT_EQ(apps::beginning("", 3), "");
    EXPECT_EQ(apps::beginning("a\xFF\xFF", 2), "a\xFF...");
}

class HybridSearchTest : public ::testing::Test {
protected:
    void SetUp() override {
        Schema schema;
        schema.vectors.embedder = "fake";
        for (const char* name : {"artifacts", "artifact_chunks", "memory", "history"}) {
            ASSERT_TRUE(database.create_collection(name, schema));
        }
        add("artifacts", "art_1", "art_1", std::nullopt, "whole report on foxes and owls");
        for (int i = 0; i < 6; ++i) {
            add("artifact_chunks", "art_1::" + std::to_string(i), "art_1", i,
                i == 3 ? "foxes hunt at dusk" : "part " + std::to_string(i));
        }
        add("memory", "mem_1", "mem_1", std::nullopt, "the user likes foxes");
        add("history", "turn_1", "turn_1", std::nullopt, "we talked about foxes");
    }
    void add(const std::string& collection, const std::string& id, const std::string& document,
             std::optional<std::int64_t> index, const std::string& text) {
        Chunk chunk;
        chunk.chunk_id = id;
        chunk.document_id = document;
        chunk.chunk_index = index;
        chunk.content = text;
        chunk.metadata = Object{{"artifact_type", collection == "memory" ? "fact" : "doc"}};
        ASSERT_TRUE(database.add(collection, {chunk}));
    }
    Answer search(const std::string& params) {
        const auto request = apps::read_hybrid_search(parsed(params).as_object());
        EXPECT_TRUE(request) << request.error().message;
        auto answer = apps::hybrid_search(operations, *request, {});
        EXPECT_TRUE(answer) << answer.error().message;
        return answer.value_or(Answer{});
    }

    Database database = memory_database();
    service::Operations operations{database};
};

TEST_F(HybridSearchTest, ShowsAnArtifactOnceByItsChunk) {
    const Answer answer = search(R"({"query": "foxes hunt"})");
    ASSERT_EQ(answer.hits.size(), 1U);
    EXPECT_EQ(answer.hits[0].chunk.chunk_id, "art_1::3");
    EXPECT_EQ(answer.hits[0].score, 1.0 / 60);  // being stored twice is no advantage
    EXPECT_EQ(
        apps::hybrid_search_text(answer).find("Found 1 results (searched: artifact_chunks):\n\n"
                                              "[1] RRF score: 0.017 (from: artifact_chunks)\n"),
        0U);
}

TEST_F(HybridSearchTest, SearchesMemoryAndHistoryOnRequest) {
    EXPECT_EQ(search(R"({"query": "foxes", "include_memory": true})").hits.size(), 2U);
    EXPECT_EQ(search(R"({"query": "foxes", "include_memory": true, "include_history": true})")
                  .hits.size(),
              3U);
}

TEST_F(HybridSearchTest, ExpandsNeighborsBesideTheSnippet) {
    const Answer answer = search(R"({"query": "foxes hunt", "expand_neighbors": true})");
    EXPECT_EQ(answer.hits.at(0).expanded,
              "part 2\n[CHUNK BOUNDARY]\nfoxes hunt at dusk\n[CHUNK BOUNDARY]\npart 4");
    EXPECT_NE(apps::hybrid_search_text(answer).find("Snippet: \"foxes hunt at dusk\""),
              std::string::npos);
    EXPECT_EQ(at(apps::hybrid_search_value(answer), "results.0.expanded"),
              Value(present(answer.hits[0].expanded)));
}

TEST_F(HybridSearchTest, Filters) {
    const std::string query = R"({"query": "foxes", "include_memory": true, "filters": )";
    EXPECT_EQ(search(query + R"({"artifact_type": "fact"}})").hits.size(), 1U);
    EXPECT_EQ(search(query + R"({"artifact_type": ["fact", "doc"]}})").hits.size(), 2U);
    EXPECT_EQ(search(query + R"({"artifact_type": {"$ne": "fact"}}})").hits.size(), 1U);
    EXPECT_EQ(search(query + R"({"sensitivity": "restricted"}})").hits.size(), 0U);
    EXPECT_EQ(search(query + R"({"document_ids": ["mem_1"]}})").hits.size(), 1U);
    EXPECT_EQ(search(query + "null}").hits.size(), 2U);
    const auto wrong =
        apps::read_hybrid_search(parsed(query + R"({"a": {"$where": 1}}})").as_object());
    ASSERT_TRUE(wrong);
    EXPECT_FALSE(apps::hybrid_search(operations, *wrong, {}));
}

TEST_F(HybridSearchTest, ClampsTheLimitAndSaysSo) {
    for (const char* limit : {"0", "-3", "51", "1000000"}) {
        const Answer answer = search(R"({"query": "foxes", "limit": )" + std::string(limit) + "}");
        ASSERT_EQ(answer.warnings.size(), 1U) << limit;
        EXPECT_NE(answer.warnings[0].find("from 1 to 50"), std::string::npos);
    }
    EXPECT_TRUE(search(R"({"query": "foxes", "limit": 50})").warnings.empty());
}

TEST_F(HybridSearchTest, GivesRankDistanceAndReceipt) {
    const Value value = apps::hybrid_search_value(search(R"({"query": "foxes hunt"})"));
    EXPECT_EQ(at(value, "results.0.rank"), Value(1));
    const Value receipt = at(value, "results.0.receipt");
    EXPECT_EQ(at(receipt, "fusion.rank_base"), Value(0));
    EXPECT_EQ(at(receipt, "sources.0.source"), Value("artifact_chunks"));
    EXPECT_EQ(at(receipt, "sources.0.receipt.sources.0.source"), Value("dense"));
    EXPECT_EQ(at(value, "results.0.distance").as_double(),
              1 - at(receipt, "sources.0.receipt.sources.0.score").as_double());
    EXPECT_EQ(at(value, "unused"), Value(Array{}));
    Schema words;
    ASSERT_TRUE(database.create_collection("words", words));
    add("words", "w", "w", std::nullopt, "foxes");
    EXPECT_EQ(
        at(apps::hybrid_search_value(search(R"({"query": "foxes", "collections": ["words"]})")),
           "results.0.distance"),
        Value());
}

TEST_F(HybridSearchTest, ComparesScoresIfAsked) {
    const Answer answer =
        search(R"({"query": "the user likes foxes", "include_memory": true, "across": "scores"})");
    ASSERT_FALSE(answer.hits.empty());
    EXPECT_EQ(answer.hits[0].chunk.chunk_id, "mem_1");
    EXPECT_EQ(answer.hits[0].receipt.method, "weighted_sum");
    EXPECT_EQ(apps::hybrid_search_text(answer).find("[1] Score: 1.000 (from: memory)\n"),
              apps::hybrid_search_text(answer).find("[1]"));
    EXPECT_FALSE(
        apps::read_hybrid_search(parsed(R"({"query": "x", "across": "votes"})").as_object()));
}

TEST_F(HybridSearchTest, SearchesANamespace) {
    ASSERT_TRUE(database.add("artifacts", {{.chunk_id = "t", .content = "foxes"}}, "topic"));
    for (const char* key : {"namespace", "topicId"}) {
        const Answer answer =
            search(R"({"query": "foxes", ")" + std::string(key) + R"(": "topic"})");
        ASSERT_EQ(answer.hits.size(), 1U) << key;
        EXPECT_EQ(answer.hits[0].chunk.chunk_id, "t");
    }
    EXPECT_FALSE(apps::read_hybrid_search(
        parsed(R"({"query": "x", "namespace": "a", "topicId": "a"})").as_object()));
}

TEST(HybridSearchSettings, TakeEffect) {
    Profile artifacts =
        *std::ranges::find(apps::vocabulary().profiles, "artifacts", &Profile::name);
    artifacts.depth_per_hit = 2;
    artifacts.max_top_k = 70;
    OpenOptions options;
    options.profiles = {artifacts};
    auto database = Database::in_memory(options);
    ASSERT_TRUE(database);
    const service::Operations operations(*database, {.profiles = options.profiles});
    ASSERT_TRUE(database->create_collection("artifacts"));
    std::vector<Chunk> many(80);
    for (std::size_t i = 0; i < many.size(); ++i) {
        many[i].chunk_id = std::to_string(i);
        many[i].content = "foxes";
    }
    ASSERT_TRUE(database->add("artifacts", many));
    const auto ask = [&](std::int64_t limit) {
        apps::HybridSearchRequest request;
        request.query = "foxes";
        request.limit = limit;
        return apps::hybrid_search(operations, request, {}).value_or(Answer{});
    };
    EXPECT_EQ(ask(4).sources.at(0).depth, 8U);
    EXPECT_EQ(ask(60).hits.size(), 60U);
    const Answer most = ask(1000);
    EXPECT_EQ(most.hits.size(), 70U);
    EXPECT_NE(most.warnings.at(0).find("from 1 to 70"), std::string::npos) << most.warnings[0];
}

TEST_F(HybridSearchTest, WarnsOfMissingCollectionsAndCreatesNone) {
    ASSERT_TRUE(database.drop_collection("memory"));
    const Answer answer = search(R"({"query": "foxes", "include_memory": true})");
    EXPECT_EQ(answer.warnings.size(), 1U);
    EXPECT_FALSE(database.describe("memory"));
}

TEST_F(HybridSearchTest, LabelsSourceAndTrust) {
    const Value value = apps::hybrid_search_value(search(R"({"query": "foxes hunt"})"));
    EXPECT_EQ(at(value, "results.0.source"), Value("art_1"));
    EXPECT_EQ(at(value, "results.0.trust"), Value("untrusted"));
    EXPECT_EQ(at(value, "results.0.type"), Value("chunk"));
    EXPECT_EQ(at(value, "searched"), parsed(R"(["artifact_chunks"])"));
    const Value required = at(apps::hybrid_search_schema(), "properties.results.items.required");
    const Value first = at(value, "results.0");
    for (const Value& key : required.as_array()) {
        EXPECT_NE(first.find(key.as_string()), nullptr) << key.as_string();
    }
}

TEST_F(HybridSearchTest, RefusesWrongParameters) {
    for (const char* params :
         {"{}", R"({"query": 3})", R"({"query": "x", "limit": "five"})",
          R"({"query": "x", "filters": []})", R"({"query": "x", "include_memories": true})",
          R"({"query": "x", "expand_neighbors": 2})"}) {
        EXPECT_FALSE(apps::read_hybrid_search(parsed(params).as_object())) << params;
    }
    const auto hasty =
        apps::read_hybrid_search(parsed(R"({"query": "fox", "deadline_ms": 0})").as_object());
    EXPECT_FALSE(apps::hybrid_search(operations, *hasty, {}));
    const auto blank = apps::read_hybrid_search(parsed(R"({"query": " "})").as_object());
    EXPECT_FALSE(apps::hybrid_search(operations, *blank, {}));
}

TEST_F(HybridSearchTest, AsksForTheRightToReadEachCollection) {
    service::Caller caller;
    caller.may = [](service::Access, std::string_view name) { return name != "history"; };
    const auto with =
        apps::read_hybrid_search(parsed(R"({"query": "x", "include_history": true})").as_object());
    const auto without = apps::read_hybrid_search(parsed(R"({"query": "x"})").as_object());
    EXPECT_EQ(apps::hybrid_search(operations, *with, caller).error().code,
              ErrorCode::PermissionDenied);
    EXPECT_TRUE(apps::hybrid_search(operations, *without, caller));
}

}  // namespace
}  // namespace braid::server
