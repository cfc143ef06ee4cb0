#include "braid/retrieval/retriever.hpp"

#include <atomic>
#include <barrier>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "retrieval/application_options.hpp"
#include "retrieval/fake_backend.hpp"

namespace braid::retrieval {
namespace {

using Ids = std::vector<std::string>;

Request hybrid_request() {
    Request request;
    request.query = "foxes";
    request.query_embedding = {1.0F, 0.0F};
    return request;
}

QueryEmbedder no_embedder() {
    return [](const Schema&, std::string_view, const CallLimits&) -> Result<QueryVector> {
        return fail(ErrorCode::Unavailable, "no embedder here");
    };
}

Result<Answer> retrieve(const FakeBackend& backend, const Request& request,
                        const LogSink& log = nullptr) {
    return Retriever(backend, no_embedder(), application_options(log)).retrieve(request, {}, {});
}

Ids ids_of(const Answer& answer) {
    Ids ids;
    for (const Hit& hit : answer.hits) ids.push_back(hit.chunk.chunk_id);
    return ids;
}

TEST(Retriever, FusesBothLegsByReciprocalRanks) {
    const FakeBackend backend(leg_of({{"a", 0.9}, {"b", 0.8}}), leg_of({{"b", 7.1}, {"c", 2.0}}));
    const auto answer = retrieve(backend, hybrid_request());
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(ids_of(*answer), (Ids{"b", "a", "c"}));
    EXPECT_TRUE(answer->complete);
    EXPECT_EQ(answer->total_candidates, 4U);
    const Hit& best = answer->hits.front();
    EXPECT_EQ(best.rank, 1U);
    EXPECT_EQ(best.score, 0.7 / 62 + (1 - 0.7) / 61);
    EXPECT_EQ(best.dense_score, 0.8);
    EXPECT_EQ(best.sparse_score, 7.1);
    ASSERT_EQ(best.receipt.sources.size(), 2U);
    EXPECT_EQ(best.receipt.sources[0].contribution + best.receipt.sources[1].contribution,
              best.score);
}

TEST(Retriever, AnswersFromOneLegWhenTheOtherFindsNothing) {
    for (const bool dense_empty : {true, false}) {
        const auto some = leg_of({{"a", 0.9}, {"b", 0.8}});
        const FakeBackend backend(dense_empty ? leg_of({}) : some, dense_empty ? some : leg_of({}));
        const auto answer = retrieve(backend, hybrid_request());
        ASSERT_TRUE(answer);
        EXPECT_EQ(ids_of(*answer), (Ids{"a", "b"}));
        EXPECT_TRUE(answer->complete);
        EXPECT_TRUE(answer->warnings.empty());
    }
}

TEST(Retriever, AnswersNothingWhenBothLegsFindNothing) {
    const FakeBackend backend(leg_of({}), leg_of({}));
    const auto answer = retrieve(backend, hybrid_request());
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->hits.empty());
    EXPECT_TRUE(answer->complete);
}

TEST(Retriever, RunsBothLegsAtTheSameTime) {
    // Each leg waits for the other: this returns only if both run at once.
    std::barrier<> meeting(2);
    const auto meet = [&](const Leg& leg) {
        meeting.arrive_and_wait();
        return leg_of({{"a", 1.0}})(leg);
    };
    const FakeBackend backend(meet, meet);
    const auto answer = retrieve(backend, hybrid_request());
    ASSERT_TRUE(answer);
    EXPECT_EQ(ids_of(*answer), (Ids{"a"}));
}

TEST(Retriever, FlagsAndLogsALegThatFails) {
    const auto down = [](const Leg&) -> Result<LegResult> {
        return fail(ErrorCode::Unavailable, "vector index is down");
    };
    const FakeBackend backend(down, leg_of({{"b", 7.1}}));
    std::vector<std::string> logged;
    const auto answer = retrieve(backend, hybrid_request(), [&](const LogEvent& event) {
        logged.push_back(std::string(event.name) + ": " + std::string(event.message));
    });
    ASSERT_TRUE(answer);
    EXPECT_EQ(ids_of(*answer), (Ids{"b"}));
    EXPECT_FALSE(answer->complete);
    EXPECT_EQ(answer->strategy_used, Strategy::Hybrid);
    ASSERT_EQ(answer->sources.size(), 2U);
    EXPECT_FALSE(answer->sources[0].ran);
    EXPECT_EQ(answer->sources[0].error, "vector index is down");
    EXPECT_TRUE(answer->sources[1].ran);
    ASSERT_FALSE(logged.empty());
    EXPECT_NE(logged.front().find("leg_failed"), std::string::npos);
    EXPECT_NE(logged.front().find("vector index is down"), std::string::npos);
}

TEST(Retriever, SurvivesALegThatThrows) {
    const auto broken = [](const Leg&) -> Result<LegResult> {
        throw std::runtime_error("a library threw");
    };
    const FakeBackend backend(leg_of({{"a", 1.0}}), broken);
    const auto answer = retrieve(backend, hybrid_request());
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->complete);
    EXPECT_EQ(ids_of(*answer), (Ids{"a"}));
}

TEST(Retriever, FailsWhenEveryLegFails) {
    const auto down = [](const Leg&) -> Result<LegResult> {
        return fail(ErrorCode::Unavailable, "down");
    };
    const auto answer = retrieve(FakeBackend(down, down), hybrid_request());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::Unavailable);
}

TEST(Retriever, SaysThatWordsAloneAnsweredWhereThereAreNoVectors) {
    FakeBackend backend(leg_of({}), leg_of({{"a", 2.0}}));
    backend.schema_for_test().vectors.embedder = "none";
    Request request = hybrid_request();
    request.query_embedding.clear();
    request.strategy = Strategy::Hybrid;
    const auto answer = retrieve(backend, request);
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->complete);
    EXPECT_EQ(answer->warnings.size(), 1U);
    EXPECT_EQ(answer->sources.size(), 1U);

    // Who did not ask for vectors is not told that there are none: it is declared so.
    request.strategy.reset();
    const auto plain = retrieve(backend, request);
    ASSERT_TRUE(plain);
    EXPECT_TRUE(plain->warnings.empty());
    EXPECT_EQ(plain->sources.size(), 1U);
    request.query_embedding = {1, 0};
    EXPECT_EQ(retrieve(backend, request)->warnings.size(), 1U);
    request.query_embedding.clear();

    request.strategy = Strategy::Dense;
    const auto dense = retrieve(backend, request);
    ASSERT_FALSE(dense);
    EXPECT_EQ(dense.error().code, ErrorCode::InvalidArgument);
}

TEST(Retriever, GivesTheWordsWhenTheVectorsNeedAQueryVector) {
    const FakeBackend backend(leg_of({{"a", 1.0}}), leg_of({{"b", 2.0}}));
    Request request = hybrid_request();
    request.query_embedding.clear();
    const auto answer = retrieve(backend, request);
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->complete);
    EXPECT_EQ(ids_of(*answer), (Ids{"b"}));
    EXPECT_NE(answer->warnings.front().find("query_embedding"), std::string::npos);
}

TEST(Retriever, KeepsScoresOfTheFirstBandWhenMoreHitsAreAskedFor) {
    std::vector<LegHit> dense;
    std::vector<LegHit> sparse;
    for (int i = 0; i < 40; ++i) {
        dense.push_back({"d" + std::to_string(i), 1.0 / (i + 1)});
        sparse.push_back({"d" + std::to_string((i * 7 + 3) % 50), 20.0 - i});
    }
    const FakeBackend backend(leg_of(dense), leg_of(sparse));
    Request request = hybrid_request();
    request.dense_top_k = 5;
    request.sparse_top_k = 5;
    request.top_k = 5;
    const auto few = retrieve(backend, request);
    request.top_k = 60;
    const auto all = retrieve(backend, request);
    ASSERT_TRUE(few && all);
    ASSERT_EQ(few->hits.size(), 5U);
    for (std::size_t i = 0; i < few->hits.size(); ++i) {
        EXPECT_EQ(few->hits[i].chunk.chunk_id, all->hits[i].chunk.chunk_id);
        EXPECT_EQ(few->hits[i].receipt, all->hits[i].receipt);
    }
    std::set<std::string> distinct;
    for (const Hit& hit : all->hits) distinct.insert(hit.chunk.chunk_id);
    std::set<std::string> expected;
    for (const LegHit& hit : dense) expected.insert(hit.chunk_id);
    for (const LegHit& hit : sparse) expected.insert(hit.chunk_id);
    EXPECT_EQ(distinct, expected);
    EXPECT_EQ(all->hits.size(), expected.size());
}

TEST(Retriever, CutsBelowTheThresholdInclusively) {
    const FakeBackend backend(leg_of({{"a", 0.9}, {"b", 0.5}, {"c", 0.4}}), leg_of({}));
    Request request = hybrid_request();
    request.strategy = Strategy::Dense;
    request.score_threshold = 0.5;
    EXPECT_EQ(ids_of(*retrieve(backend, request)), (Ids{"a", "b"}));
    request.score_threshold = 0.0;
    EXPECT_EQ(ids_of(*retrieve(backend, request)), (Ids{"a", "b", "c"}));
}

TEST(Retriever, ListsParametersThatTheMethodDoesNotUse) {
    const FakeBackend backend(leg_of({{"a", 0.9}}), leg_of({{"a", 0.9}}));
    Request request = hybrid_request();
    request.fusion.method = FusionMethod::Dbsf;
    request.dense_weight = 0.4;
    const auto answer = retrieve(backend, request);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->unused, (Ids{"dense_weight"}));
    request.dense_weight.reset();
    request.weights = {{"dense", 1.0}};
    EXPECT_FALSE(retrieve(backend, request));
}

TEST(Retriever, FillsScoresOfChunksThatALegMissed) {
    const FakeBackend backend(leg_of({{"a", 0.9}, {"b", 0.5}}), leg_of({{"b", 4.0}, {"c", 1.0}}));
    Request request = hybrid_request();
    request.fusion.method = FusionMethod::WeightedSum;
    request.fusion.fill_scores = true;
    const auto answer = retrieve(backend, request);
    ASSERT_TRUE(answer) << answer.error().message;
    for (const Hit& hit : answer->hits) EXPECT_EQ(hit.receipt.sources.size(), 2U);
    request.fusion.method = FusionMethod::Rrf;
    EXPECT_FALSE(retrieve(backend, request));
}

TEST(Retriever, FusesAsAnotherSystemDoesAndNamesIt) {
    const FakeBackend backend(leg_of({{"a", 0.9}, {"b", 0.8}}), leg_of({{"b", 7.1}, {"c", 2.0}}));
    Request request = hybrid_request();
    request.fusion.preset = "qdrant";
    request.weights = {{"dense", 1.0}, {"sparse", 1.0}};
    const auto answer = retrieve(backend, request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(ids_of(*answer), (Ids{"b", "a", "c"}));
    EXPECT_EQ(answer->hits[0].score, 1.0 / 3 + 1.0 / 2);
    EXPECT_EQ(answer->hits[0].receipt.preset, "qdrant");
    EXPECT_EQ(answer->hits[0].receipt.k, 2.0);
    request.fusion.preset = "llamaindex";
    EXPECT_FALSE(retrieve(backend, request));  // would ignore the weights
    request.weights.clear();
    request.dense_weight = 0.4;
    EXPECT_EQ(retrieve(backend, request)->unused, (Ids{"dense_weight"}));
    request.fusion.rank_base = 1;
    EXPECT_FALSE(retrieve(backend, request));  // counts from 0
}

TEST(Retriever, TrustsNoLegThatReturnsNonsense) {
    for (const std::vector<LegHit>& nonsense :
         {std::vector<LegHit>{{"a", std::nan("")}}, std::vector<LegHit>{{"a", 1.0}, {"a", 0.5}}}) {
        const FakeBackend backend(leg_of(nonsense), leg_of({{"b", 7.1}}));
        const auto answer = retrieve(backend, hybrid_request());
        ASSERT_TRUE(answer) << answer.error().message;
        EXPECT_EQ(ids_of(*answer), (Ids{"b"}));
        EXPECT_FALSE(answer->complete);
        Request alone = hybrid_request();
        alone.strategy = Strategy::Dense;
        EXPECT_FALSE(retrieve(backend, alone));
    }
}

struct BadRequest {
    std::string name;
    std::function<void(Request&)> change;
    ErrorCode code;
};

TEST(Retriever, RefusesRequestsThatMakeNoSense) {
    const FakeBackend backend(leg_of({{"a", 0.9}}), leg_of({{"a", 0.9}}));
    const std::vector<BadRequest> cases{
        {"top_k 0", [](Request& r) { r.top_k = 0; }, ErrorCode::InvalidArgument},
        {"huge top_k", [](Request& r) { r.top_k = 1'000'000; }, ErrorCode::InvalidArgument},
        {"weight above 1", [](Request& r) { r.dense_weight = 1.5; }, ErrorCode::InvalidArgument},
        {"blank",
         [](Request& r) {
             r.query = " \n";
             r.query_embedding.clear();
         },
         ErrorCode::InvalidArgument},
        {"blank sparse",
         [](Request& r) {
             r.query = "";
             r.strategy = Strategy::Sparse;
         },
         ErrorCode::InvalidArgument},
        {"k", [](Request& r) { r.fusion.k = -1; }, ErrorCode::InvalidArgument},
        {"rank base", [](Request& r) { r.fusion.rank_base = 2; }, ErrorCode::InvalidArgument},
        {"profile", [](Request& r) { r.profile = "nope"; }, ErrorCode::NotFound},
        {"collection", [](Request& r) { r.collections = {"nope"}; }, ErrorCode::NotFound},
        {"unknown weight", [](Request& r) { r.weights = {{"vector", 1.0}}; },
         ErrorCode::InvalidArgument},
        {"preset", [](Request& r) { r.fusion.preset = "nope"; }, ErrorCode::InvalidArgument},
        {"depth", [](Request& r) { r.dense_top_k = 0; }, ErrorCode::InvalidArgument},
    };
    for (const BadRequest& bad : cases) {
        Request request = hybrid_request();
        bad.change(request);
        const auto answer = retrieve(backend, request);
        ASSERT_FALSE(answer) << bad.name;
        EXPECT_EQ(answer.error().code, bad.code) << bad.name << ": " << answer.error().message;
    }
}

}  // namespace
}  // namespace braid::retrieval
