#include "braid/retrieval/collections.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/fake_backend.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

using Ids = std::vector<std::string>;

Request ask(std::string query, Ids collections) {
    Request request;
    request.query = std::move(query);
    request.collections = std::move(collections);
    return request;
}

Result<Answer> retrieve(const Backend& backend, const Request& request,
                        const LogSink& log = nullptr) {
    return Retriever(backend, fake_query_embedder(), application_options(log))
        .retrieve(request, {}, {});
}

/// "artifact_chunks/a#1" and so on.
Ids places_of(const Answer& answer) {
    Ids places;
    for (const Hit& hit : answer.hits) places.push_back(hit.collection + "/" + hit.chunk.chunk_id);
    return places;
}

const Hit* find(const Answer& answer, const std::string& id) {
    for (const Hit& hit : answer.hits) {
        if (hit.chunk.chunk_id == id) return &hit;
    }
    return nullptr;
}

/// Chunks whose dense order for the query "q" is that of the list: each has one word of "q" less
/// to share.
std::vector<Chunk> ranked_chunks(const std::vector<std::pair<std::string, std::string>>& ids) {
    std::vector<Chunk> chunks;
    const std::vector<float> query = fake_embed("q");
    for (std::size_t i = 0; i < ids.size(); ++i) {
        Chunk chunk = chunk_of(ids[i].first, ids[i].second, static_cast<std::int64_t>(i), "text");
        chunk.vector = query;
        chunk.vector[0] += 0.25F * static_cast<float>(i + 1);
        chunks.push_back(std::move(chunk));
    }
    return chunks;
}

TEST(Collections, GiveARecordAtRanksTwoAndFiveTheScoreOfS4) {
    LocalStore store;
    store.add("artifacts",
              ranked_chunks({{"x1", "x1"}, {"x2", "x2"}, {"art_abc123", "art_abc123"}}));
    store.add("artifact_chunks", ranked_chunks({{"y0", "y0"},
                                                {"y1", "y1"},
                                                {"y2", "y2"},
                                                {"y3", "y3"},
                                                {"y4", "y4"},
                                                {"art_abc123", "art_abc123"}}));
    Request request = ask("q", {"artifacts", "artifact_chunks"});
    request.strategy = Strategy::Dense;
    const auto answer = retrieve(store, request);
    ASSERT_TRUE(answer) << answer.error().message;
    const Hit* const hit = find(*answer, "art_abc123");
    ASSERT_NE(hit, nullptr);
    EXPECT_EQ(hit->score, 1.0 / 62 + 1.0 / 65);
    EXPECT_EQ(hit->rank, 1U);
    EXPECT_EQ(hit->collection, "artifact_chunks");
    ASSERT_EQ(hit->receipt.sources.size(), 2U);
    EXPECT_EQ(hit->receipt.method, "rrf");
    EXPECT_EQ(hit->receipt.rank_base, 0);
    EXPECT_EQ(hit->receipt.sources[0].source, "artifacts");
    EXPECT_EQ(hit->receipt.sources[0].rank, 2U);
    EXPECT_EQ(hit->receipt.sources[0].chunk_id, "art_abc123");
    EXPECT_EQ(hit->receipt.sources[1].rank, 5U);
    ASSERT_TRUE(hit->receipt.sources[1].nested);
    EXPECT_EQ(hit->receipt.sources[1].nested->method, "none");
    EXPECT_EQ(hit->dense_score, hit->receipt.sources[1].score);
}

TEST(Collections, ShowAnArtifactOnceAtItsBestChunk) {
    LocalStore store;
    store.add("artifacts", ranked_chunks({{"z", "z"}}));
    store.add(
        "artifact_chunks",
        ranked_chunks({{"a#0", "a"}, {"b#0", "b"}, {"a#1", "a"}, {"b#1", "b"}, {"c#0", "c"}}));
    Request request = ask("q", {"artifacts", "artifact_chunks"});
    request.strategy = Strategy::Dense;
    const auto answer = retrieve(store, request);
    ASSERT_TRUE(answer);
    EXPECT_EQ(places_of(*answer), (Ids{"artifact_chunks/a#0", "artifacts/z", "artifact_chunks/b#0",
                                       "artifact_chunks/c#0"}));
    EXPECT_EQ(answer->hits[2].score, 1.0 / 61);
    EXPECT_EQ(answer->hits[3].score, 1.0 / 64);  // its place in the raw list
}

TEST(Collections, GiveNothingForBeingStoredTwice) {
    LocalStore store;
    store.add("artifacts", ranked_chunks({{"once", "once"}, {"twice", "twice"}}));
    store.add("artifact_chunks", ranked_chunks({{"part#0", "part"}, {"twice#0", "twice"}}));
    Request request = ask("q", {"artifacts", "artifact_chunks"});
    request.strategy = Strategy::Dense;
    const auto answer = retrieve(store, request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(places_of(*answer),
              (Ids{"artifacts/once", "artifact_chunks/part#0", "artifact_chunks/twice#0"}));
    EXPECT_EQ(answer->hits[2].score, 1.0 / 61);  // of the chunk alone
    EXPECT_EQ(answer->hits[2].receipt.sources.size(), 1U);
}

TEST(Collections, RankAnArtifactWhereItsChunkStands) {
    LocalStore store;
    store.add("artifacts", ranked_chunks({{"a", "a"}, {"b", "b"}}));
    store.add("artifact_chunks",
              ranked_chunks({{"c#0", "c"}, {"d#0", "d"}, {"a#0", "a"}, {"a#1", "a"}}));
    Request request = ask("q", {"artifacts", "artifact_chunks"});
    request.strategy = Strategy::Dense;
    const auto answer = retrieve(store, request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(places_of(*answer), (Ids{"artifact_chunks/c#0", "artifacts/b", "artifact_chunks/d#0",
                                       "artifact_chunks/a#0"}));
    EXPECT_EQ(answer->hits[3].score, 1.0 / 62);
}

TEST(Collections, ShowTheChunkRatherThanTheWhole) {
    LocalStore store;
    store.add("artifacts", {chunk_of("art_1", "red foxes hunt at dusk and at dawn")});
    store.add("artifact_chunks", {chunk_of("art_1#0", "art_1", 0, "red foxes hunt at dusk"),
                                  chunk_of("art_1#1", "art_1", 1, "and at dawn")});
    const auto answer = retrieve(store, ask("foxes hunt", {"artifacts", "artifact_chunks"}));
    ASSERT_TRUE(answer);
    EXPECT_EQ(places_of(*answer), (Ids{"artifact_chunks/art_1#0"}));
    ASSERT_EQ(answer->hits[0].receipt.sources.size(), 1U);
    EXPECT_EQ(answer->hits[0].receipt.sources[0].source, "artifact_chunks");
    EXPECT_EQ(answer->hits[0].receipt.sources[0].nested->sources.size(), 2U);
    EXPECT_TRUE(answer->hits[0].dense_score && answer->hits[0].sparse_score);
}

TEST(Collections, NeverMergeMemoryOrHistoryWithArtifacts) {
    LocalStore store;
    store.add("artifacts", {chunk_of("same", "red foxes hunt")});
    store.add("memory", {chunk_of("same", "red foxes hunt")});
    store.add("history", {chunk_of("same", "red foxes hunt")});
    const auto answer = retrieve(store, ask("foxes", {"artifacts", "memory", "history"}));
    ASSERT_TRUE(answer);
    EXPECT_EQ(places_of(*answer), (Ids{"artifacts/same", "history/same", "memory/same"}));
    for (const Hit& hit : answer->hits) EXPECT_EQ(hit.score, 1.0 / 60);
}

TEST(Collections, FindWhatIsRelevantInEachAndExpandChunks) {
    LocalStore store;
    std::vector<Chunk> six;
    six.reserve(6);
    for (int i = 0; i < 6; ++i) {
        six.push_back(chunk_of("doc#" + std::to_string(i), "doc", i,
                               i == 3 ? "foxes here" : "part " + std::to_string(i)));
    }
    store.add("artifact_chunks", six);
    store.add("memory", {chunk_of("m", "I like foxes")});
    Request request = ask("foxes", {"artifact_chunks", "memory"});
    request.strategy = Strategy::Sparse;
    request.expand_neighbors = 1;
    const auto answer = retrieve(store, request);
    ASSERT_TRUE(answer);
    EXPECT_EQ(places_of(*answer), (Ids{"artifact_chunks/doc#3", "memory/m"}));
    EXPECT_EQ(answer->hits[0].expanded,
              "part 2\n[CHUNK BOUNDARY]\nfoxes here\n[CHUNK BOUNDARY]\npart 4");
    EXPECT_FALSE(answer->hits[1].expanded);
}

TEST(Collections, WarnOfAMissingOneAndFailWhenAllAreMissing) {
    LocalStore store;
    store.add("artifacts", {chunk_of("a", "foxes")});
    const auto answer = retrieve(store, ask("foxes", {"artifacts", "memory"}));
    ASSERT_TRUE(answer);
    EXPECT_EQ(places_of(*answer), (Ids{"artifacts/a"}));
    EXPECT_TRUE(answer->complete);
    ASSERT_EQ(answer->warnings.size(), 1U);
    EXPECT_NE(answer->warnings[0].find("memory"), std::string::npos);
    EXPECT_EQ(answer->hits[0].receipt.sources[0].source, "artifacts");  // still two levels

    const auto none = retrieve(store, ask("foxes", {"memory", "history"}));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, ErrorCode::NotFound);
    EXPECT_NE(none.error().message.find("history"), std::string::npos);
    EXPECT_FALSE(store.describe("memory", {}));  // reading creates nothing
    EXPECT_FALSE(retrieve(store, ask("foxes", {"artifacts", "artifacts"})));
}

TEST(Collections, AnswerFromTheOthersWhenOneFails) {
    LocalStore store;
    store.add("artifacts", {chunk_of("a", "foxes")});
    store.add("memory", {chunk_of("m", "foxes")});
    const Request request = ask("foxes", {"artifacts", "memory"});
    const Error down{ErrorCode::IoError, "disk gone"};
    const auto expect_only_memory = [&](const Result<Answer>& answer) {
        ASSERT_TRUE(answer) << answer.error().message;
        EXPECT_EQ(places_of(*answer), (Ids{"memory/m"}));
        EXPECT_FALSE(answer->complete);
        ASSERT_FALSE(answer->warnings.empty());
        EXPECT_NE(answer->warnings[0].find("artifacts"), std::string::npos);
        EXPECT_NE(answer->warnings[0].find("disk gone"), std::string::npos);
    };
    const auto artifacts_down = [&](const std::string& name) {
        return name == "artifacts" ? std::optional(down) : std::nullopt;
    };
    store.leg_fault = [&](const Leg& leg) { return artifacts_down(leg.scope.collection); };
    expect_only_memory(retrieve(store, request));
    store.leg_fault = nullptr;
    store.fetch_fault = artifacts_down;
    expect_only_memory(retrieve(store, request));
    store.fetch_fault = nullptr;
    store.pin_fault = artifacts_down;
    const auto damaged = retrieve(store, request);
    expect_only_memory(damaged);
    EXPECT_FALSE(damaged->sources.back().error.empty());
    store.pin_fault = [&](const std::string&) { return std::optional(down); };
    EXPECT_EQ(retrieve(store, request).error().code, ErrorCode::IoError);
    store.pin_fault = nullptr;
    store.leg_fault = [&](const Leg&) { return std::optional(down); };
    EXPECT_EQ(retrieve(store, request).error().code, ErrorCode::IoError);
    store.leg_fault = [&](const Leg& leg) {
        return leg.kind == LegKind::Dense ? artifacts_down(leg.scope.collection) : std::nullopt;
    };
    const auto half = retrieve(store, request);
    ASSERT_TRUE(half);
    EXPECT_EQ(half->hits.size(), 2U);
    EXPECT_FALSE(half->complete);
}

TEST(Collections, SearchThoseThatTheStrategyCanSearch) {
    LocalStore store;
    store.add("artifacts", {chunk_of("a", "foxes")});
    store.add("memory", {chunk_of("m", "foxes")}, "none");
    Request request = ask("foxes", {"artifacts", "memory"});
    const auto hybrid = retrieve(store, request);
    ASSERT_TRUE(hybrid);
    EXPECT_EQ(hybrid->hits.size(), 2U);
    EXPECT_TRUE(hybrid->complete);
    EXPECT_EQ(hybrid->warnings.size(), 1U);
    request.strategy = Strategy::Dense;
    const auto dense = retrieve(store, request);
    ASSERT_TRUE(dense);
    EXPECT_EQ(places_of(*dense), (Ids{"artifacts/a"}));
    EXPECT_FALSE(dense->complete);
    request.collections = {"memory", "nowhere"};
    EXPECT_FALSE(retrieve(store, request));
}

TEST(Collections, EmbedTheQueryOnceForAllOfOneEmbedder) {
    LocalStore store;
    store.add("artifacts", {chunk_of("a", "foxes")});
    store.add("memory", {chunk_of("m", "foxes")});
    int calls = 0;
    const auto counting = [&](const Schema& schema, std::string_view text,
                              const CallLimits& limits) {
        ++calls;
        return fake_query_embedder()(schema, text, limits);
    };
    ASSERT_TRUE(Retriever(store, counting, application_options())
                    .retrieve(ask("foxes", {"artifacts", "memory"}), {}, {}));
    EXPECT_EQ(calls, 1);
}

TEST(Collections, TakeWeightsByTheirNames) {
    LocalStore store;
    store.add("artifacts", {chunk_of("a", "foxes")});
    store.add("memory", {chunk_of("m", "foxes")});
    Request request = ask("foxes", {"artifacts", "memory"});
    request.strategy = Strategy::Dense;
    request.weights = {{"memory", 2.0}};
    const auto answer = retrieve(store, request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(places_of(*answer), (Ids{"memory/m", "artifacts/a"}));
    EXPECT_EQ(answer->hits[0].score, 2.0 / 60);
    request.weights = {{"history", 2.0}};
    EXPECT_FALSE(retrieve(store, request));
    request.weights = {{"dense", 2.0}};
    EXPECT_FALSE(retrieve(store, request));
}

TEST(Collections, HaveTheLimitsOfTheProfileArtifacts) {
    LocalStore store;
    std::vector<Chunk> many;
    many.reserve(200);
    for (int i = 0; i < 200; ++i) {
        many.push_back(chunk_of("a" + std::to_string(i), "foxes " + std::to_string(i)));
    }
    store.add("artifacts", many);
    store.remember = true;
    Request request;
    request.query = "foxes";
    request.profile = "artifacts";
    request.strategy = Strategy::Dense;
    auto answer = retrieve(store, request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->hits.size(), 5U);
    EXPECT_EQ(store.searched.back().depth, 15U);
    request.top_k = 1;
    answer = retrieve(store, request);
    EXPECT_EQ(store.searched.back().depth, 3U);
    request.top_k = 30;
    answer = retrieve(store, request);
    EXPECT_EQ(store.searched.back().depth, 90U);
    request.top_k = 77;
    answer = retrieve(store, request);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->hits.size(), 50U);
    EXPECT_EQ(answer->warnings.size(), 2U);  // the cut, and the missing artifact_chunks
}

TEST(Collections, LogTheCountsOfS4) {
    LocalStore store;
    store.add("artifacts", {chunk_of("a", "foxes"), chunk_of("b", "foxes too")});
    store.add("artifact_chunks",
              {chunk_of("a#0", "a", 0, "foxes"), chunk_of("a#1", "a", 1, "foxes again")});
    std::vector<std::string> logged;
    Request request = ask("foxes", {"artifacts", "artifact_chunks"});
    request.strategy = Strategy::Sparse;
    ASSERT_TRUE(retrieve(store, request, [&](const LogEvent& event) {
        logged.push_back(std::string(event.name) + " " + std::string(event.message));
    }));
    ASSERT_GE(logged.size(), 2U);
    EXPECT_EQ(logged[0],
              "rrf_merge_completed collections_searched=artifacts,artifact_chunks "
              "results_before_merge=4 results_after_merge=4");
    EXPECT_EQ(logged[1],
              "deduplication_completed results_before=4 results_after=2 duplicates_removed=2");
}

TEST(Collections, RankDeeperBandsBelowWithoutScoringAnythingAgain) {
    LocalStore store;
    std::vector<Chunk> chunks;
    for (int i = 0; i < 60; ++i) {
        const std::string artifact = "doc" + std::to_string(i / 4);
        chunks.push_back(chunk_of(artifact + "#" + std::to_string(i % 4), artifact, i % 4,
                                  "foxes " + std::to_string(i * 7 % 60)));
    }
    store.add("artifact_chunks", chunks);
    store.add("artifacts", {chunk_of("doc3", "foxes 1 2 3"), chunk_of("alone", "foxes")});
    Request request = ask("foxes 5", {"artifacts", "artifact_chunks"});
    request.dense_top_k = 4;
    request.sparse_top_k = 4;
    request.top_k = 3;
    const auto few = retrieve(store, request);
    request.top_k = 100;
    const auto all = retrieve(store, request);
    ASSERT_TRUE(few && all);
    EXPECT_EQ(all->hits.size(), 16U);
    for (std::size_t i = 0; i < few->hits.size(); ++i) EXPECT_EQ(few->hits[i], all->hits[i]);
}

TEST(Collections, HopThroughEachOfThem) {
    LocalStore store;
    store.add("artifacts", {chunk_of("a", "foxes hunt"), chunk_of("b", "hunt mice")});
    store.add("memory", {chunk_of("m", "foxes sleep")});
    Request request = ask("foxes", {"artifacts", "memory"});
    request.strategy = Strategy::MultiHop;
    request.hop_top_k = 1;
    const auto answer = retrieve(store, request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_GE(answer->hits.size(), 2U);
    for (const Hit& hit : answer->hits) {
        EXPECT_EQ(hit.receipt.sources[0].nested->method, "multi_hop");
        EXPECT_NE(hit.chunk.metadata.find("hop"), nullptr);
    }
}

}  // namespace
}  // namespace braid::retrieval
