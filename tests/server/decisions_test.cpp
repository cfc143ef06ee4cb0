#include "braid/apps/decisions/decisions.hpp"

#include <string>

#include <gtest/gtest.h>

#include "server/service_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::memory_database;
using braid::testing::parsed;

class DecisionsTest : public ::testing::Test {
protected:
    Value query(const std::string& params, const service::Caller& caller = {}) {
        auto result = decisions.query(parsed(params).as_object(), caller);
        EXPECT_TRUE(result) << result.error().message;
        return result.value_or(Value());
    }
    ErrorCode failure(const std::string& params) {
        const auto result = decisions.query(parsed(params).as_object(), {});
        EXPECT_FALSE(result);
        return result ? ErrorCode::IoError : result.error().code;
    }
    Value index(const std::string& params) {
        auto result = decisions.index(parsed(params).as_object(), {});
        EXPECT_TRUE(result) << result.error().message;
        return result.value_or(Value());
    }
    void index_three() {
        index(R"({"decisions": [
            {"id": "1", "summary": "Implemented CSRF protection", "category": "security"},
            {"id": "2", "summary": "Added OAuth login flow", "category": "security",
             "reasons": [{"type": "analysis", "text": "users asked"}, "because", null]},
            {"id": "3", "summary": "Security improvements", "project": "web"}]})");
    }

    Database database = memory_database();
    service::Operations operations{database, {.profiles = {}, .embedder = "fake"}};
    apps::Decisions decisions{operations};
};

TEST_F(DecisionsTest, SearchableTextJoinsWhatADecisionSays) {
    const auto text = [](const char* json) {
        return apps::searchable_text(parsed(json).as_object());
    };
    EXPECT_EQ(text(R"({"summary": "a", "decision": "b", "context": "c",
                       "reasons": [{"text": "d"}, {"type": "x"}, "e", null, {"text": null}]})"),
              "a b c d ");
    EXPECT_EQ(text(R"({"summary": "a"})"), "a  ");
    EXPECT_EQ(text(R"({"summary": null, "decision": "b", "context": 3, "reasons": "no list"})"),
              "b");
}

TEST_F(DecisionsTest, FindsExactKeywords) {
    index_three();
    const Value answer = query(R"({"query": "CSRF", "retrieval_mode": "keyword", "top_k": 3})");
    EXPECT_EQ(at(answer, "decisions"),
              parsed(R"([{"id": "1", "summary": "Implemented CSRF protection",
                          "category": "security"}])"));
    EXPECT_EQ(at(answer, "scores"),
              parsed(R"({"1": {"semantic": null, "keyword": 1.0, "combined": 1.0}})"));
    EXPECT_EQ(at(answer, "retrieval_mode"), Value("keyword"));
}

TEST_F(DecisionsTest, SearchesByMeaningUnlessToldOtherwise) {
    index_three();
    const Value answer = query(R"({"query": "login flow"})");
    EXPECT_EQ(at(answer, "retrieval_mode"), Value("semantic"));
    EXPECT_EQ(at(answer, "decisions.0.id"), Value("2"));
    EXPECT_EQ(at(answer, "decisions").as_array().size(), 3U);
    EXPECT_EQ(at(answer, "scores.2.semantic"), Value(1.0));
    EXPECT_EQ(at(answer, "scores.2.keyword"), Value());
    EXPECT_EQ(at(answer, "scores.2.combined"), Value(1.0));
    EXPECT_EQ(at(answer, "unused"), Value(Array{}));
}

TEST_F(DecisionsTest, CombinesBothByWeight) {
    index_three();
    for (const double weight : {0.0, 0.25, 0.7, 1.0}) {
        const Value answer = query(R"({"query": "CSRF login", "retrieval_mode": "hybrid",
                                       "hybrid_weight": )" +
                                   std::to_string(weight) + "}");
        ASSERT_EQ(at(answer, "decisions").as_array().size(), 3U);
        double before = 2;
        const Value scores = at(answer, "scores");
        for (const auto& [id, score] : scores.as_object()) {
            const double semantic = at(score, "semantic").as_double();
            const double keyword = at(score, "keyword").as_double();
            const double combined = at(score, "combined").as_double();
            EXPECT_NEAR(combined, weight * semantic + (1 - weight) * keyword, 1e-12) << id;
            EXPECT_LE(combined, before);
            before = combined;
        }
    }
}

TEST_F(DecisionsTest, WeighsTheMeaningBySevenTenths) {
    index_three();
    EXPECT_EQ(query(R"({"query": "CSRF", "retrieval_mode": "hybrid"})"),
              query(R"({"query": "CSRF", "retrieval_mode": "hybrid", "hybrid_weight": 0.7,
                        "top_k": 10, "category": null})"));
}

TEST_F(DecisionsTest, CutsToTopKAndCountsScoresOverAllCandidates) {
    index_three();
    const Value all = query(R"({"query": "login flow"})");
    const Value one = query(R"({"query": "login flow", "top_k": 2})");
    EXPECT_EQ(at(one, "decisions").as_array().size(), 2U);
    EXPECT_EQ(at(one, "scores").as_object().size(), 2U);
    EXPECT_EQ(at(one, "decisions.1"), at(all, "decisions.1"));
    const std::string second = at(one, "decisions.1.id").as_string();
    EXPECT_EQ(at(one, "scores." + second), at(all, "scores." + second));
}

TEST_F(DecisionsTest, LeavesOutKeywordHitsWithoutAScoreAboveZero) {
    // Every word of a single decision is in all of them: rank-bm25 gives it a negative weight.
    index(R"({"decisions": [{"id": "1", "summary": "CSRF"}]})");
    EXPECT_EQ(at(query(R"({"query": "CSRF", "retrieval_mode": "keyword"})"), "decisions"),
              Value(Array{}));
    const Value hybrid = query(R"({"query": "CSRF", "retrieval_mode": "hybrid"})");
    EXPECT_EQ(at(hybrid, "scores.1"),
              parsed(R"({"semantic": 1.0, "keyword": 0.0, "combined": 0.7})"));
}

TEST_F(DecisionsTest, Filters) {
    index_three();
    EXPECT_EQ(at(query(R"({"query": "security", "category": "security"})"), "decisions")
                  .as_array()
                  .size(),
              2U);
    EXPECT_EQ(at(query(R"({"query": "security", "project": "web"})"), "decisions.0.id"),
              Value("3"));
    EXPECT_EQ(at(query(R"({"query": "security", "stakes": "high"})"), "decisions"), Value(Array{}));
}

TEST_F(DecisionsTest, AcceptsAWeightItDoesNotUse) {
    index_three();
    EXPECT_EQ(at(query(R"({"query": "x", "hybrid_weight": 0.5})"), "unused.0"),
              Value("hybrid_weight"));
}

TEST_F(DecisionsTest, RefusesWhatItDoesNotKnow) {
    index_three();
    EXPECT_EQ(failure(R"({"query": "x", "retrieval_mode": "magic"})"), ErrorCode::InvalidArgument);
    EXPECT_EQ(failure(R"({"query": "x", "hybrid_weight": 1.5})"), ErrorCode::InvalidArgument);
    EXPECT_EQ(failure(R"({"query": "x", "top_k": 0})"), ErrorCode::InvalidArgument);
    EXPECT_EQ(failure(R"({"query": "x", "mode": "keyword"})"), ErrorCode::InvalidArgument);
    EXPECT_EQ(failure(R"({"query": "  ", "retrieval_mode": "keyword"})"),
              ErrorCode::InvalidArgument);
    EXPECT_EQ(failure("{}"), ErrorCode::InvalidArgument);
    EXPECT_EQ(error_facts(ErrorCode::InvalidArgument).rpc_code, -32602);
}

TEST_F(DecisionsTest, FindsNothingBeforeAnythingIsStored) {
    const Value answer = query(R"({"query": "CSRF"})");
    EXPECT_EQ(at(answer, "decisions"), Value(Array{}));
    EXPECT_EQ(at(answer, "scores"), Value(Object{}));
    EXPECT_EQ(at(answer, "warnings").as_array().size(), 1U);
    EXPECT_FALSE(database.describe("decisions"));
}

TEST_F(DecisionsTest, CreatesTheCollectionAsTheSeedHasIt) {
    EXPECT_EQ(at(index(R"({"decisions": []})"), "created"), Value(true));
    const Schema schema = database.describe("decisions")->schema;
    EXPECT_EQ(schema.analyzer, "simple");
    EXPECT_EQ(schema.bm25,
              (Bm25{.variant = Bm25Variant::Okapi, .k1 = 1.5, .b = 0.75, .epsilon = 0.25}));
    EXPECT_EQ(schema.vectors.embedder, "fake");
}

TEST_F(DecisionsTest, CountsWhatItStored) {
    index_three();
    const Value again = index(R"({"decisions": [{"id": "1", "summary": "new"}, {"id": 7}]})");
    EXPECT_EQ(at(again, "indexed"), Value(2));
    EXPECT_EQ(at(again, "replaced"), Value(1));
    EXPECT_EQ(at(again, "created"), Value(false));
    EXPECT_EQ(at(query(R"({"query": "new", "top_k": 1})"), "decisions.0.summary"), Value("new"));
}

TEST_F(DecisionsTest, StoresAllOrNone) {
    for (const char* params :
         {R"({"decisions": [{"id": "1", "summary": "x"}, {"summary": "no id"}]})",
          R"({"decisions": [{"id": "1"}, {"id": "1"}]})", R"({"decisions": [3]})",
          R"({"decisions": {}})", "{}"}) {
        EXPECT_FALSE(decisions.index(parsed(params).as_object(), {})) << params;
    }
    EXPECT_EQ(at(query(R"({"query": "x"})"), "decisions"), Value(Array{}));
}

TEST_F(DecisionsTest, ReturnsWhatWasStoredUnchanged) {
    const Value decision = parsed(R"({"id": "d1", "summary": "Keep", "confidence": 0.85,
        "tags": ["a", "b"], "reasons": [{"text": "r", "strength": 0.5}], "nested": {"x": null},
        "created_at": "2025-12-25T10:00:00Z", "hop": 3})");
    ASSERT_TRUE(decisions.index(Object{{"decisions", Array{decision}}}, {}));
    EXPECT_EQ(at(query(R"({"query": "keep"})"), "decisions.0"), decision);
}

TEST_F(DecisionsTest, SaysWhenTheMeaningCannotBeSearched) {
    Database words = memory_database();
    const service::Operations word_operations{words, {}};
    const apps::Decisions word_decisions{word_operations};
    const Object stored = parsed(R"({"decisions": [{"id": "1", "summary": "a b"},
        {"id": "2", "summary": "c d"}, {"id": "3", "summary": "e f"}]})")
                              .as_object();
    ASSERT_TRUE(word_decisions.index(stored, {}));
    EXPECT_FALSE(word_decisions.query(parsed(R"({"query": "a"})").as_object(), {}));
    const auto hybrid = word_decisions.query(
        parsed(R"({"query": "a", "retrieval_mode": "hybrid"})").as_object(), {});
    ASSERT_TRUE(hybrid);
    EXPECT_EQ(at(*hybrid, "complete"), Value(false));
    EXPECT_EQ(at(*hybrid, "scores.1.semantic"), Value());
    EXPECT_EQ(at(*hybrid, "decisions").as_array().size(), 1U);
}

}  // namespace
}  // namespace braid::server
