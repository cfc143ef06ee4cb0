// The fusion "auto": weights chosen per query, from scores alone.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

Request auto_request(std::string query, std::vector<std::string> collections = {"notes"}) {
    Request request;
    request.query = std::move(query);
    request.collections = std::move(collections);
    request.fusion.method = FusionMethod::Auto;
    return request;
}

Result<Answer> ask(const Backend& store, const Request& request, const Principal& principal = {}) {
    return Retriever(store, fake_query_embedder(), application_options())
        .retrieve(request, principal, {});
}

std::vector<Chunk> animals() {
    return {chunk_of("a", "red fox at dusk"), chunk_of("b", "owl in the barn"),
            chunk_of("c", "a fox and a hen"), chunk_of("d", "the river at night"),
            chunk_of("e", "red barn on the hill")};
}

TEST(Auto, GivesEveryHitTheScoresOfBothLegsAndSaysHowItChose) {
    LocalStore store;
    store.add("notes", animals());
    const auto answer = ask(store, auto_request("red fox"));
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->hits.size(), 5U);
    for (const Hit& hit : answer->hits) {
        EXPECT_EQ(hit.receipt.method, "auto");
        ASSERT_EQ(hit.receipt.sources.size(), 2U);
        ASSERT_TRUE(hit.receipt.choice);
        EXPECT_EQ(*hit.receipt.choice, *answer->hits.front().receipt.choice);
        EXPECT_EQ(hit.receipt.sources[0].weight, hit.receipt.choice->dense_weight);
        EXPECT_EQ(hit.receipt.sources[1].weight, 1 - hit.receipt.choice->dense_weight);
    }
    EXPECT_EQ(answer->hits.front().chunk.chunk_id, "a");
}

TEST(Auto, AnswersFromBothListsWhereTheBackendCannotScore) {
    LocalStore store;
    store.add("notes", animals());
    store.score_fault = [](const Leg&) {
        return Error{ErrorCode::Unsupported, "this backend scores nothing"};
    };
    Request request = auto_request("red fox");
    request.sparse_top_k = 2;
    const auto answer = ask(store, request);
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->hits.size(), 5U);
    EXPECT_EQ(answer->hits.front().chunk.chunk_id, "a");
    EXPECT_TRUE(answer->complete);  // both legs ran
    ASSERT_EQ(answer->warnings.size(), 1U);
    EXPECT_NE(answer->warnings.front().find("scores nothing"), std::string::npos);
    for (const Hit& hit : answer->hits) {
        EXPECT_TRUE(hit.receipt.choice);
        double sum = 0;
        for (const ReceiptSource& source : hit.receipt.sources) {
            EXPECT_FALSE(source.filled);
            sum += source.contribution;
        }
        EXPECT_EQ(sum, hit.receipt.fused);
    }
}

TEST(Auto, TakesNoWeightsAndAlwaysFillsScores) {
    LocalStore store;
    store.add("notes", animals());
    Request weighed = auto_request("fox");
    weighed.weights = {{"dense", 0.5}};
    const auto refused = ask(store, weighed);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(refused.error().message.find("auto"), std::string::npos) << refused.error().message;

    Request unfilled = auto_request("fox");
    unfilled.fusion.fill_scores = false;
    const auto without = ask(store, unfilled);
    ASSERT_FALSE(without);
    EXPECT_NE(without.error().message.find("fill_scores"), std::string::npos);

    Request shorthand = auto_request("fox");
    shorthand.dense_weight = 0.5;
    const auto unused = ask(store, shorthand);
    ASSERT_TRUE(unused) << unused.error().message;
    EXPECT_EQ(unused->unused, std::vector<std::string>{"dense_weight"});
}

TEST(Auto, AnswersByTheOtherLegWhereOneFails) {
    LocalStore store;
    store.add("notes", animals());
    for (const LegKind down : {LegKind::Dense, LegKind::Sparse}) {
        store.leg_fault = [&](const Leg& leg) -> std::optional<Error> {
            if (leg.kind != down) return std::nullopt;
            return Error{ErrorCode::IoError, "gone"};
        };
        const auto answer = ask(store, auto_request("red fox"));
        ASSERT_TRUE(answer) << answer.error().message;
        EXPECT_FALSE(answer->complete);
        EXPECT_EQ(answer->hits.front().chunk.chunk_id, "a");
    }
}

TEST(Auto, ComparesSeveralCollectionsByScoresWhereItCan) {
    LocalStore store;
    store.add("notes", animals());
    store.add("more", {chunk_of("x", "a red fox"), chunk_of("y", "rain")});
    store.add("brought", {chunk_of("z", "fox")}, "external");
    const auto pooled = ask(store, auto_request("red fox", {"notes", "more"}));
    ASSERT_TRUE(pooled) << pooled.error().message;
    EXPECT_EQ(pooled->hits.front().receipt.method, "auto");  // one level, not ranks of ranks
    EXPECT_EQ(pooled->hits.front().receipt.sources.front().source, "dense");

    Request by_ranks = auto_request("red fox", {"notes", "more"});
    by_ranks.across = Across::Ranks;
    const auto ranked = ask(store, by_ranks);
    ASSERT_TRUE(ranked) << ranked.error().message;
    EXPECT_EQ(ranked->hits.front().receipt.method, "rrf");
    EXPECT_EQ(ranked->hits.front().receipt.sources.front().nested->method, "auto");

    Request mixed = auto_request("red fox", {"notes", "brought"});
    mixed.query_embedding = fake_embed("red fox");
    const auto incomparable = ask(store, mixed);
    ASSERT_TRUE(incomparable) << incomparable.error().message;
    EXPECT_EQ(incomparable->hits.front().receipt.method, "rrf");
    ASSERT_FALSE(incomparable->warnings.empty());
    EXPECT_NE(incomparable->warnings.front().find("by ranks"), std::string::npos);

    Request favoured = auto_request("red fox", {"notes", "more"});
    favoured.weights = {{"more", 2.0}};
    const auto weighed = ask(store, favoured);
    ASSERT_TRUE(weighed) << weighed.error().message;
    EXPECT_EQ(weighed->hits.front().receipt.method, "rrf");
}

TEST(Auto, DoesNotChangeByWhatIsHidden) {
    const Principal reader{.name = "r", .clearance = "normal", .scopes = {}};
    std::vector<Answer> answers;
    for (const bool with_secrets : {false, true}) {
        LocalStore store;
        std::vector<Chunk> chunks = animals();
        if (with_secrets) {
            for (int i = 0; i < 40; ++i) {
                Chunk secret = chunk_of("s" + std::to_string(i), "red fox red fox dusk");
                secret.sensitivity = "restricted";
                chunks.push_back(secret);
            }
        }
        store.add("notes", chunks);
        auto answer = ask(store, auto_request("red fox"), reader);
        ASSERT_TRUE(answer) << answer.error().message;
        answer->timings = {};
        answer->sources.clear();
        for (Hit& hit : answer->hits) hit.chunk.version = 0;
        answers.push_back(*std::move(answer));
    }
    EXPECT_EQ(answers[0], answers[1]);
}

}  // namespace
}  // namespace braid::retrieval
