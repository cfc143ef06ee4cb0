#include "braid/remote/filter_query.hpp"

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "braid/remote/leg_query.hpp"

namespace braid::remote {
namespace {

std::string query_of(const std::string& filter) {
    const auto json = json::parse(filter);
    EXPECT_TRUE(json.has_value()) << filter;
    const auto parsed = parse_filter(*json);
    EXPECT_TRUE(parsed.has_value()) << filter;
    return json::print(filter_clause(*parsed));
}

TEST(FilterQuery, EqualityIsOneWord) {
    EXPECT_EQ(query_of(R"({"chunk_id": "a"})"), R"({"terms":{"id":["a"]}})");
    EXPECT_EQ(query_of(R"({"kind": "red"})"), R"({"terms":{"facts":[".kind\u0001sred"]}})");
    EXPECT_EQ(query_of(R"({"kind": {"$in": ["a", true]}})"),
              R"({"terms":{"facts":[".kind\u0001sa",".kind\u0001b1"]}})");
    EXPECT_EQ(query_of(R"({"kind": {"$in": []}})"), R"({"match_none":{}})");
    EXPECT_EQ(query_of(R"({"kind": {"$ne": "a"}})"),
              R"({"bool":{"must_not":[{"terms":{"facts":[".kind\u0001sa"]}}]}})");
}

TEST(FilterQuery, OrderStaysWithinAType) {
    EXPECT_EQ(query_of(R"({"flag": {"$gt": false}})"),
              R"({"range":{"facts":{"gt":".flag\u0001b0","lt":".flag\u0001c"}}})");
    EXPECT_EQ(
        query_of(R"({"sensitivity": {"$lte": "public"}})"),
        R"({"range":{"facts":{"gte":"=sensitivity\u0001s","lte":"=sensitivity\u0001spublic"}}})");
    // A text that says a time is compared as a time with others that do, by its bytes with the
    // rest.
    const std::string times = query_of(R"({"when": {"$gte": "2024-01-01"}})");
    EXPECT_NE(times.find(R"(".when\u0001t)"), std::string::npos) << times;
    EXPECT_NE(times.find(R"(".when\u0001s2024-01-01")"), std::string::npos) << times;
}

TEST(FilterQuery, WildcardsOfTheClusterAreOrdinaryCharacters) {
    EXPECT_EQ(query_of(R"({"chunk_id": {"$contains": "a*?\\"}})"),
              R"({"wildcard":{"id":{"value":"*a\\*\\?\\\\*"}}})");
}

TEST(FilterQuery, AScopeIsItsNamespaceItsPrincipalAndItsFilter) {
    ReadScope scope;
    scope.namespace_ = "team";
    scope.principal.clearance = "normal";
    scope.principal.scopes = {"red"};
    scope.filter = Filter::compare(Filter::Op::Exists, "kind", true);
    const auto clauses = scope_clauses(scope, Schema{}, {});
    ASSERT_TRUE(clauses.has_value());
    EXPECT_EQ(
        json::print(Value(*clauses)),
        R"([{"term":{"ns":"team"}},{"range":{"level":{"lte":1}}},{"terms":{"scope":["","red"]}},)"
        R"({"term":{"facts":".kind\u0001e"}}])");
    scope.principal.clearance = "unheard of";
    EXPECT_EQ(scope_clauses(scope, Schema{}, {}).error().code, ErrorCode::InvalidArgument);
}

TEST(LegQuery, WordsAreCountedAndPhrasingsCompete) {
    Leg leg;
    EXPECT_EQ(phrasings_clause(leg).clause, std::nullopt);
    leg.phrasings = {{"fox", "den", "fox"}, {}};
    EXPECT_EQ(json::print(*phrasings_clause(leg).clause),
              R"({"bool":{"should":[{"term":{"terms":{"value":"fox","_name":"fox","boost":2.0}}},)"
              R"({"term":{"terms":{"value":"den","_name":"den"}}}],"minimum_should_match":1}})");
    leg.phrasings = {{"fox"}, {"owl"}};
    EXPECT_TRUE(phrasings_clause(leg).clause->find("dis_max") != nullptr);
}

TEST(LegQuery, HitsSayWhichTermsTheyMatch) {
    Leg leg;
    leg.phrasings = {{"fox", "den", "fox"}, {"owl", "den"}};
    const Value answer = *json::parse(
        R"({"hits":{"hits":[{"matched_queries":["fox"]},{},{"matched_queries":["fox","owl"]}]}})");
    EXPECT_EQ(unmatched_terms(leg, answer), std::vector<std::string>{"den"});
    EXPECT_EQ(unmatched_terms(leg, Object{}), (std::vector<std::string>{"fox", "den", "owl"}));
}

TEST(LegQuery, AGraphSearchKeepsMoreCandidatesForMoreRecall) {
    EXPECT_GE(ef_search(10, 0.98), 100U);
    EXPECT_LT(ef_search(10, 0.9), ef_search(10, 0.98));
    EXPECT_LT(ef_search(10, 0.98), ef_search(10, 0.99));
    EXPECT_EQ(ef_search(9'999, 0.99), kMostHits);
}

TEST(LegQuery, TheSameQuestionGoesToTheSameCopies) {
    Leg one;
    one.phrasings = {{"fox"}};
    Leg other = one;
    EXPECT_EQ(preference_of(one), preference_of(other));
    other.phrasings = {{"owl"}};
    EXPECT_NE(preference_of(one), preference_of(other));
}

}  // namespace
}  // namespace braid::remote
