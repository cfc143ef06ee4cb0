// A request's own BM25 parameters and field weights.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

Chunk titled(std::string id, std::string title, std::string content) {
    Chunk chunk = chunk_of(std::move(id), std::move(content));
    chunk.title = std::move(title);
    return chunk;
}

std::vector<std::string> ids_of(const Answer& answer) {
    std::vector<std::string> ids;
    for (const Hit& hit : answer.hits) ids.push_back(hit.chunk.chunk_id);
    return ids;
}

class Bm25Choices : public ::testing::Test {
protected:
    Bm25Choices() {
        store.add("default", {titled("body", "a river", "fox and fox in a wood"),
                              titled("head", "fox", "an animal that hunts in a wood"),
                              titled("none", "owl", "hunts at night")});
        options = application_options();
        request.query = "fox";
        request.strategy = Strategy::Sparse;
    }

    Result<Answer> ask() const {
        return Retriever(store, fake_query_embedder(), options).retrieve(request, {}, {});
    }
    std::vector<std::string> found() {
        const auto answer = ask();
        EXPECT_TRUE(answer) << answer.error().message;
        return answer ? ids_of(*answer) : std::vector<std::string>();
    }

    LocalStore store;
    RetrieverOptions options;
    Request request;
};

using Ids = std::vector<std::string>;

TEST_F(Bm25Choices, AFieldsWeightMovesItsHitsUp) {
    EXPECT_EQ(found(), (Ids{"body", "head"}));
    request.bm25.text_fields = {{"title", 5}};
    EXPECT_EQ(found(), (Ids{"head", "body"}));
}

TEST_F(Bm25Choices, OfAProfileTheRequestOverridesWhatItNames) {
    Profile heads;
    heads.name = "heads";
    heads.bm25 = {.k1 = 0.5, .b = {}, .text_fields = {{"title", 5}}};
    options.profiles.push_back(heads);
    request.profile = "heads";
    EXPECT_EQ(found(), (Ids{"head", "body"}));
    request.bm25.text_fields = {{"title", 1}};
    const auto answer = ask();
    ASSERT_TRUE(answer);
    EXPECT_EQ(ids_of(*answer), (Ids{"body", "head"}));
    Request spelt = request;
    request.profile.clear();
    request.bm25.k1 = 0.5;
    EXPECT_EQ(ask()->hits.front().score, answer->hits.front().score);
}

TEST_F(Bm25Choices, AFieldThatNoCollectionHasIsNamed) {
    request.bm25.text_fields = {{"titel", 5}};
    const auto answer = ask();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(answer.error().message,
              "\"bm25\": no collection searched has a text field \"titel\"");
}

TEST_F(Bm25Choices, ParametersOutOfRangeAreRefused) {
    request.bm25.b = 1.5;
    EXPECT_EQ(ask().error().message, "\"bm25\": b must be from 0 to 1");
    request.bm25 = {.k1 = -1, .b = {}, .text_fields = {}};
    EXPECT_EQ(ask().error().message, "\"bm25\": k1 must be 0 or more");
    request.bm25 = {.k1 = {}, .b = {}, .text_fields = {{"title", 0}}};
    EXPECT_EQ(ask().error().message,
              "\"bm25\": the weight of text field \"title\" must be above 0");
}

TEST_F(Bm25Choices, PagesJoinedAreOneLargePage) {
    request.bm25 = {.k1 = 2, .b = 0.1, .text_fields = {{"title", 5}}};
    const auto whole = ask();
    ASSERT_TRUE(whole);
    const Retriever retriever(store, fake_query_embedder(), options);
    request.top_k = 1;
    for (const Hit& expected : whole->hits) {
        const auto answer = retriever.retrieve(request, {}, {});
        ASSERT_TRUE(answer) << answer.error().message;
        ASSERT_EQ(answer->hits.size(), 1U);
        EXPECT_EQ(answer->hits.front().chunk.chunk_id, expected.chunk.chunk_id);
        EXPECT_EQ(answer->hits.front().score, expected.score);
        request.cursor = answer->cursor.value_or("");
    }
}

TEST_F(Bm25Choices, WhyNotMeasuresByTheSameScores) {
    request.bm25.text_fields = {{"title", 5}};
    request.top_k = 1;
    const Retriever retriever(store, fake_query_embedder(), options);
    const auto why = retriever.why_not(request, "body", {}, {});
    ASSERT_TRUE(why) << why.error().message;
    ASSERT_EQ(why->explanation.legs.size(), 1U);
    EXPECT_EQ(why->explanation.legs.front().rank, 2U);
}

}  // namespace
}  // namespace braid::retrieval
