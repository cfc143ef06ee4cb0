#include "braid/retrieval/why_not.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/apps/vocabulary.hpp"
#include "braid/json/json.hpp"
#include "braid/retrieval/retriever.hpp"
#include "braid/wire/request_json.hpp"
#include "core/present.hpp"
#include "retrieval/local_store.hpp"
#include "retrieval/random_store.hpp"

namespace braid::retrieval {
namespace {

bool holds(const Answer& answer, const std::string& collection, const std::string& id) {
    for (const Hit& hit : answer.hits) {
        if (hit.chunk.chunk_id == id && hit.collection == collection) return true;
    }
    return false;
}

/// The request with the change written into its JSON, as a user would.
Result<Request> changed(const Request& request, const SuggestedChange& change) {
    Value json = wire::request_to_value(request);
    Object& object = json.as_object();
    if (change.key == "collections") object.erase("collection");
    if (change.value.is_null()) {
        object.erase(change.key);
    } else {
        object.set(change.key, change.value);
    }
    return wire::request_from_value(*json::parse(json::print(json)), apps::vocabulary());
}

/// Twelve chunks about foxes, "f10" the best by words, and others.
class Zoo : public ::testing::Test {
protected:
    Zoo() : retriever(store, fake_query_embedder(), fixed_clock()) {
        std::vector<Chunk> chunks;
        for (int i = 0; i < 12; ++i) {
            std::string text = "fox";
            for (int w = 0; w < i; ++w) text += " filler" + std::to_string(w);
            Chunk chunk = chunk_of("f" + std::to_string(10 + i), text);
            chunk.metadata.set("year", 2000 + i);
            chunk.created_at = Timestamp{kRandomNow.micros - std::int64_t{10} * i * 86'400'000'000};
            chunks.push_back(std::move(chunk));
        }
        chunks.push_back(chunk_of("owl", "nothing in common"));
        Chunk secret = chunk_of("secret", "fox");
        secret.sensitivity = "restricted";
        chunks.push_back(std::move(secret));
        store.add("default", std::move(chunks));
        request.query = "fox";
        request.strategy = Strategy::Sparse;
        request.top_k = 3;
    }

    /// Why the chunk is not there; checks that the suggested change brings it in.
    WhyNot ask(const std::string& id) {
        const auto why = retriever.why_not(request, id, reader, {});
        EXPECT_TRUE(why) << (why ? "" : why.error().message);
        if (!why) return {};
        if (why->change) {
            const auto other = changed(request, present(why->change));
            EXPECT_TRUE(other) << (other ? "" : other.error().message);
            const auto answer = retriever.retrieve(*other, reader, {});
            EXPECT_TRUE(answer && holds(*answer, why->explanation.collection, id));
        }
        return *why;
    }

    LocalStore store;
    Retriever retriever;
    Request request;
    Principal reader{"reader", "normal", {}};
};

TEST_F(Zoo, SaysThatTheAnswerHoldsIt) {
    const WhyNot why = ask("f10");
    EXPECT_EQ(why.lost_at, "");
    EXPECT_TRUE(why.explanation.shown);
    EXPECT_EQ(present(why.explanation.hit).rank, 1U);
    EXPECT_FALSE(why.change);
}

TEST_F(Zoo, NamesTheCut) {
    const WhyNot why = ask("f14");
    EXPECT_EQ(why.lost_at, "cut");
    EXPECT_EQ(why.change, (SuggestedChange{"top_k", 5}));
    ASSERT_EQ(why.explanation.legs.size(), 1U);
    EXPECT_EQ(why.explanation.legs[0].source, "sparse");
    EXPECT_EQ(why.explanation.legs[0].rank, 5U);
    EXPECT_EQ(why.explanation.legs[0].score, present(why.explanation.hit).sparse_score);
}

TEST_F(Zoo, NamesTheDepth) {
    request.strategy = Strategy::Hybrid;
    request.dense_top_k = 2;
    request.sparse_top_k = 2;
    const WhyNot why = ask("f13");
    EXPECT_EQ(why.lost_at, "depth");
    ASSERT_TRUE(why.change);
}

TEST_F(Zoo, NamesTheFusionThatPutItBelow) {
    // By words "x00" is the best; its vector, made for another text, is the worst.
    Chunk best = chunk_of("x00", "fox fox fox");
    best.vector = fake_embed("nothing in common");
    store.add("default", {best});
    request.strategy = Strategy::Hybrid;
    request.dense_weight = 0.9;
    const WhyNot why = ask("x00");
    EXPECT_EQ(why.lost_at, "fused_out") << why.reason;
    EXPECT_NE(why.reason.find("the sparse leg has it at rank 1"), std::string::npos) << why.reason;
    EXPECT_EQ(present(why.change).key, "top_k");
}

TEST_F(Zoo, NamesTheStagesThatPutItBelow) {
    request.top_k = 1;
    request.stages = {{"boost_fields", {{"filter", Object{{"year", 2005}}}, {"factor", 100}}}};
    const WhyNot why = ask("f10");
    EXPECT_EQ(why.lost_at, "stage");
    EXPECT_NE(why.reason.find("before the stages it was at rank 1"), std::string::npos)
        << why.reason;
    EXPECT_EQ(why.change, (SuggestedChange{"top_k", 2}));
}

TEST_F(Zoo, NamesTheConditionOfAFilter) {
    request.filter = Filter::all_of({Filter::compare(Filter::Op::Gte, "year", 2001),
                                     Filter::compare(Filter::Op::Exists, "year", true)});
    const WhyNot why = ask("f10");
    EXPECT_EQ(why.lost_at, "filter");
    EXPECT_NE(why.reason.find("\"year\""), std::string::npos);
    EXPECT_EQ(present(why.change).key, "filter");

    request.filter.reset();
    request.document_ids = {"f11"};
    EXPECT_EQ(ask("f10").change, (SuggestedChange{"document_ids", nullptr}));
    request.document_ids.reset();
    request.stages = {{"filter_by_recency", {}}};
    request.top_k = 12;
    const WhyNot old = ask("f21");
    EXPECT_EQ(old.lost_at, "filter");
    EXPECT_EQ(old.change, (SuggestedChange{"stages", nullptr}));
    request.document_ids = {"f10"};
    EXPECT_FALSE(ask("f21").change);  // two conditions stand in its way
}

TEST_F(Zoo, NamesTheThreshold) {
    request.top_k = 12;
    const double best = retriever.retrieve(request, {}, {})->hits.front().score;
    request.score_threshold = best * 0.9;
    const WhyNot why = ask("f20");
    EXPECT_EQ(why.lost_at, "threshold");
    EXPECT_EQ(present(why.change).key, "score_threshold");
}

TEST_F(Zoo, NamesTheStage) {
    request.top_k = 12;
    request.stages = {{"boost_section_matches", {}}, {"relative_score", {{"fraction", 0.9}}}};
    const WhyNot why = ask("f20");
    EXPECT_EQ(why.lost_at, "stage");
    EXPECT_NE(why.reason.find("relative_score"), std::string::npos);
    EXPECT_EQ(present(why.change).key, "stages");
}

TEST_F(Zoo, SaysThatNoLegFindsIt) {
    const WhyNot why = ask("owl");
    EXPECT_EQ(why.lost_at, "not_reached");
    EXPECT_FALSE(why.change);
    EXPECT_FALSE(why.explanation.hit);
    EXPECT_FALSE(why.explanation.legs.at(0).rank);
}

TEST_F(Zoo, KnowsNothingOfChunksThatMayNotBeSeen) {
    const auto hidden = retriever.why_not(request, "secret", reader, {});
    const auto absent = retriever.why_not(request, "absent", reader, {});
    ASSERT_FALSE(hidden);
    ASSERT_FALSE(absent);
    EXPECT_EQ(hidden.error().code, ErrorCode::NotFound);
    EXPECT_EQ(hidden.error().message, "there is no chunk \"secret\"");
    EXPECT_EQ(absent.error().message, "there is no chunk \"absent\"");
    EXPECT_FALSE(retriever.explain(request, "secret", reader, {}));
    EXPECT_TRUE(retriever.explain(request, "secret", {}, {}));
}

TEST_F(Zoo, NamesTheChunkThatStandsForAnArtifact) {
    store.add("artifacts", {chunk_of("art", "fox fox")});
    store.add("artifact_chunks", {chunk_of("art#0", "art", 0, "fox"),
                                  chunk_of("art#1", "art", 1, "fox and some more words")});
    request.collections = {"artifacts", "artifact_chunks"};
    EXPECT_EQ(ask("art#0").lost_at, "");
    const WhyNot why = ask("art#1");
    EXPECT_EQ(why.lost_at, "deduplicated");
    EXPECT_EQ(why.change, (SuggestedChange{"collections", Array{"artifact_chunks"}}));
    EXPECT_EQ(ask("art").lost_at, "deduplicated");
    request.profile = "artifacts";  // shows an artifact once also in one collection
    request.collections = {"artifact_chunks"};
    EXPECT_EQ(ask("art#1").lost_at, "deduplicated");
}

TEST(WhyNot, SuggestsOnlyWhatAdmitsTheChunk) {
    std::map<std::string, int> lost;
    std::map<std::string, int> admitted;
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        LocalStore store;
        fill(store, rng);
        const Retriever retriever(store, fake_query_embedder(), fixed_clock());
        for (int round = 0; round < 4; ++round) {
            const Request request = random_request(rng);
            const auto answer = retriever.retrieve(request, {}, {});
            ASSERT_TRUE(answer);
            const std::string name = request.collections[rng() % request.collections.size()];
            if (name == "history") continue;
            const auto snapshot = store.snapshot(std::vector<std::string>{name}, {});
            const auto chunks =
                (*snapshot)->scan({name, "default", {}, std::nullopt}, "", 1000, false);
            const std::string id = (*chunks)[rng() % chunks->size()].chunk_id;
            const auto why = retriever.why_not(request, id, {}, {});
            ASSERT_TRUE(why) << why.error().message;
            const std::string& place = why->explanation.collection;
            EXPECT_EQ(why->lost_at.empty(), holds(*answer, place, id));
            EXPECT_EQ(why->explanation.shown, holds(*answer, place, id));
            ++lost[why->lost_at];
            if (!why->change) continue;
            ++admitted[why->lost_at];
            const auto other = changed(request, present(why->change));
            ASSERT_TRUE(other) << other.error().message;
            const auto better = retriever.retrieve(*other, {}, {});
            ASSERT_TRUE(better) << better.error().message;
            EXPECT_TRUE(holds(*better, place, id))
                << why->lost_at << " " << present(why->change).key;
        }
    }
    for (const char* const at :
         {"", "filter", "not_reached", "depth", "fused_out", "deduplicated", "stage", "cut"}) {
        EXPECT_GT(lost[at], 0) << at;
    }
    EXPECT_EQ(admitted["cut"], lost["cut"]);
    EXPECT_EQ(admitted["fused_out"], lost["fused_out"]);
}

TEST(ExplainAcross, WordsAreWeighedByTheStatisticsThatTheCollectionsShared) {
    LocalStore store;
    store.add("one", {chunk_of("a", "red fox"), chunk_of("b", "fox at dusk")});
    store.add("two", {chunk_of("c", "owl in the barn"), chunk_of("d", "no fox")});
    const Retriever retriever(store, fake_query_embedder(), fixed_clock());
    Request request;
    request.query = "red fox";
    request.collections = {"one", "two"};
    request.across = Across::Scores;
    for (const std::string id : {"a", "b", "d"}) {
        const auto explained = retriever.explain(request, id, {}, {});
        ASSERT_TRUE(explained) << explained.error().message;
        ASSERT_TRUE(explained->hit);
        ASSERT_EQ(explained->legs.size(), 2U);
        EXPECT_EQ(explained->legs.back().score, explained->hit->sparse_score);
    }
}

}  // namespace
}  // namespace braid::retrieval
