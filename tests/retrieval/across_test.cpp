#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

Result<Answer> ask_store(const Backend& store, const Request& request) {
    return Retriever(store, fake_query_embedder(), application_options()).retrieve(request, {}, {});
}

Request across_scores(std::string query, std::vector<std::string> collections) {
    Request request;
    request.query = std::move(query);
    request.collections = std::move(collections);
    request.across = Across::Scores;
    return request;
}

std::string random_sentence(std::mt19937& rng) {
    static const std::vector<std::string> kWords{"red",  "fox",  "owl",   "hunts", "at",
                                                 "dusk", "hill", "river", "the",   "barn"};
    std::string text;
    const std::size_t words = 1 + rng() % 12;
    for (std::size_t i = 0; i < words; ++i) text += kWords[rng() % kWords.size()] + " ";
    return text;
}

TEST(AcrossScores, AnswersAsOneCollectionOfAllTheChunksWould) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        LocalStore store;
        std::vector<Chunk> all;
        std::vector<std::vector<Chunk>> parts(3);
        for (int i = 0; i < 40; ++i) {
            const Chunk chunk = chunk_of("c" + std::to_string(i), random_sentence(rng));
            all.push_back(chunk);
            parts[rng() % (seed % 2 == 0 ? 3U : 2U)].push_back(chunk);
        }
        store.add("whole", all);
        store.add("one", parts[0]);
        store.add("two", parts[1]);
        if (!parts[2].empty()) store.add("three", parts[2]);  // a missing one is left out
        Request request = across_scores(random_sentence(rng), {"one", "two", "three"});
        request.strategy = static_cast<Strategy>(seed % 3);  // dense, sparse, hybrid
        request.fusion.method = seed % 5 == 0   ? FusionMethod::Rrf
                                : seed % 5 == 1 ? FusionMethod::Auto
                                                : FusionMethod::WeightedSum;
        request.dense_top_k = 50;  // all of them
        request.sparse_top_k = 50;
        request.top_k = 25;
        const auto pooled = ask_store(store, request);
        request.collections = {"whole"};
        request.across.reset();
        const auto whole = ask_store(store, request);
        ASSERT_TRUE(pooled) << pooled.error().message;
        ASSERT_TRUE(whole) << whole.error().message;
        ASSERT_EQ(pooled->hits.size(), whole->hits.size());
        for (std::size_t i = 0; i < whole->hits.size(); ++i) {
            EXPECT_EQ(pooled->hits[i].chunk, [&] {
                Chunk expected = whole->hits[i].chunk;
                expected.version = pooled->hits[i].chunk.version;  // each collection counts its own
                return expected;
            }());
            EXPECT_EQ(pooled->hits[i].score, whole->hits[i].score);
            EXPECT_EQ(pooled->hits[i].dense_score, whole->hits[i].dense_score);
            EXPECT_EQ(pooled->hits[i].sparse_score, whole->hits[i].sparse_score);
        }
    }
}

TEST(AcrossScores, AddScoresWhereTheProfileFusesRanks) {
    LocalStore store;
    store.add("one", {chunk_of("a", "red fox"), chunk_of("b", "owl")});
    store.add("two", {chunk_of("c", "fox")});
    Request request = across_scores("fox", {"one", "two"});
    const auto added = ask_store(store, request);
    ASSERT_TRUE(added) << added.error().message;
    EXPECT_EQ(added->hits.at(0).receipt.method, "weighted_sum");
    EXPECT_EQ(added->hits.at(0).receipt.sources.at(0).source, "dense");
    request.fusion.method = FusionMethod::Rrf;
    request.fusion.k = 10;
    const auto ranked = ask_store(store, request);
    ASSERT_TRUE(ranked);
    EXPECT_EQ(ranked->hits.at(0).receipt.method, "rrf");
    EXPECT_EQ(ranked->hits.at(0).receipt.k, 10);
}

TEST(AcrossScores, ShowAnArtifactOnceByItsChunk) {
    LocalStore store;
    store.add("artifacts", {chunk_of("art", "red fox at dusk"), chunk_of("other", "red owl")});
    store.add("artifact_chunks",
              {chunk_of("art#0", "art", 0, "red fox"), chunk_of("art#1", "art", 1, "at dusk")});
    const auto answer =
        ask_store(store, across_scores("red fox at dusk", {"artifacts", "artifact_chunks"}));
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->hits.size(), 2U);
    EXPECT_EQ(answer->hits[0].collection, "artifact_chunks");
    EXPECT_EQ(answer->hits[1].chunk.chunk_id, "other");
}

TEST(AcrossScores, RankDeeperBandsBelowAndJoinPages) {
    LocalStore store;
    std::mt19937 rng(7);
    for (const std::string name : {"one", "two"}) {
        std::vector<Chunk> chunks;
        for (int i = 0; i < 30; ++i) {
            chunks.push_back(chunk_of(name + std::to_string(i), random_sentence(rng)));
        }
        store.add(name, chunks);
    }
    const Retriever retriever(store, fake_query_embedder(), application_options());
    for (const Strategy strategy : {Strategy::Hybrid, Strategy::Dense}) {
        Request request = across_scores("red fox dusk", {"one", "two"});
        request.strategy = strategy;
        request.dense_top_k = 4;
        request.sparse_top_k = 4;
        request.top_k = 60;
        const auto all = retriever.retrieve(request, {}, {});
        ASSERT_TRUE(all) << all.error().message;
        EXPECT_EQ(all->hits.size(), 60U);
        request.top_k = 7;
        std::vector<Hit> joined;
        auto page = retriever.retrieve(request, {}, {});
        while (true) {
            ASSERT_TRUE(page) << page.error().message;
            joined.insert(joined.end(), page->hits.begin(), page->hits.end());
            if (!page->cursor) break;
            Request next;
            next.cursor = *page->cursor;
            page = retriever.retrieve(next, {}, {});
        }
        EXPECT_EQ(joined, all->hits);
    }
}

TEST(AcrossScores, AreRefusedWhereScoresMeanDifferentThings) {
    LocalStore store;
    store.add("one", {chunk_of("a", "fox")});
    store.add("brought", {chunk_of("b", "fox")}, "external");
    Schema other;
    other.vectors.embedder = "fake";
    other.language = "none";
    ASSERT_TRUE(store.create_collection("unstemmed", other));
    const auto refused = [&](Request request, const std::string& word) {
        request.query_embedding = fake_embed("fox");
        const auto answer = ask_store(store, request);
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, ErrorCode::InvalidArgument);
        EXPECT_NE(answer.error().message.find(word), std::string::npos) << answer.error().message;
    };
    refused(across_scores("fox", {"one", "brought"}), "embedder");
    refused(across_scores("fox", {"one", "unstemmed"}), "analyzer");
    Request weighed = across_scores("fox", {"one", "nowhere"});
    weighed.weights = {{"one", 2.0}};
    refused(weighed, "across");
    Request words = across_scores("fox", {"one", "brought"});
    words.strategy = Strategy::Sparse;  // no vectors are compared
    EXPECT_TRUE(ask_store(store, words));
}

TEST(AcrossScores, OfOneCollectionAreListedAsUnused) {
    LocalStore store;
    store.add("one", {chunk_of("a", "fox")});
    const auto answer = ask_store(store, across_scores("fox", {"one"}));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->unused, std::vector<std::string>{"across"});
}

}  // namespace
}  // namespace braid::retrieval
