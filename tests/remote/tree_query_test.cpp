#include "braid/remote/tree_query.hpp"

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/json/json.hpp"
#include "braid/retrieval/query_language.hpp"

namespace braid::remote {
namespace {

using testing::expect_error;
using testing::must;

std::shared_ptr<const index::WordTree> tree_of(const std::string& query) {
    static const Schema schema = testing::words_schema();
    const auto parsed = retrieval::parse_query(query, schema.text_fields);
    EXPECT_TRUE(parsed.clause.has_value()) << parsed.problem;
    const auto analyzer = text::Analyzer::create({.name = schema.analyzer});
    EXPECT_TRUE(analyzer.has_value());
    return must(index::analyze_tree(*parsed.clause, schema, *analyzer));
}

std::string clause_of(const std::string& query, const std::vector<PatternTerms>& patterns = {}) {
    return json::print(must(tree_clause(*tree_of(query), patterns)));
}

TEST(TreeQuery, AGroupWithoutAPlusNeedsOneOfItsClauses) {
    EXPECT_NE(clause_of("fox owl").find(R"("minimum_should_match":1)"), std::string::npos);
    EXPECT_NE(clause_of("+fox owl").find(R"("minimum_should_match":0)"), std::string::npos);
    EXPECT_EQ(clause_of("-fox"), R"({"match_none":{}})");
}

TEST(TreeQuery, APhraseStaysInItsField) {
    const std::string clause = clause_of("title:\"red fox\"");
    const auto fields = testing::words_schema().text_fields;
    const auto title = std::ranges::find(fields, "title", &TextField::name) - fields.begin();
    const std::string field = std::to_string(title);
    EXPECT_NE(clause.find(field + ":red " + field + ":fox"), std::string::npos) << clause;
    EXPECT_EQ(clause.find(std::to_string(1 - title) + ":red"), std::string::npos) << clause;
}

TEST(TreeQuery, WordsOfAPatternCountAsOne) {
    EXPECT_NE(clause_of("fo*", {{{"fox", 0, 2}, {"fog", 0, 1}}}).find("fox\\u0001fog"),
              std::string::npos);
    EXPECT_EQ(clause_of("fo*", {{}}).find("fo"), std::string::npos);
    const std::string fuzzy = clause_of("fox~", {{{"fox", 0, 2}, {"fog", 1, 1}}});
    EXPECT_NE(fuzzy.find("dis_max"), std::string::npos) << fuzzy;
    EXPECT_NE(fuzzy.find(R"("boost":0.5)"), std::string::npos) << fuzzy;
}

TEST(TreeQuery, PatternsShareTheRoomThatWordsLeave) {
    EXPECT_EQ(terms_of_a_pattern(*tree_of("fo*")), 64U);
    std::string many;
    for (int i = 0; i < 960; ++i) many += "w" + std::to_string(i) + " ";
    EXPECT_EQ(terms_of_a_pattern(*tree_of(many + "fo* ow*")), 20U);
}

TEST(TreeQuery, WhatIsTooLongIsRefused) {
    std::string many = "\"";
    for (int i = 0; i < 1'500; ++i) many += "w" + std::to_string(i) + " ";
    expect_error(tree_clause(*tree_of(many + "\""), {}), ErrorCode::InvalidArgument,
                 "too long for a cluster");
}

TEST(TreeQuery, BeginningsAreTakenLiterally) {
    EXPECT_EQ(beginning_pattern("a.b*"), "a\\.b\\*");
    EXPECT_EQ(beginning_pattern("größe"), "größe");
}

}  // namespace
}  // namespace braid::remote
