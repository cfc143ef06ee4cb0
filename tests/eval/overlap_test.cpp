#include "braid/eval/overlap.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace braid::eval {
namespace {

RankedList list_of(std::string query, const std::vector<std::string>& documents) {
    RankedList list{std::move(query), {}};
    for (const std::string& document : documents) {
        list.hits.push_back({document, 1.0 / static_cast<double>(list.hits.size() + 1)});
    }
    return list;
}

TEST(Overlap, CountsWhatBothListsHoldAndHowFarItMoved) {
    const eval::Run now{"now", {list_of("q1", {"a", "b", "c"}), list_of("q2", {"x", "y"})}};
    const eval::Run other{"other", {list_of("q1", {"c", "a", "d"}), list_of("q2", {"x", "y"})}};
    const RunOverlap found = overlap_of(now, other, 10);
    ASSERT_EQ(found.queries.size(), 2U);
    const QueryOverlap& first = found.queries.front();  // differs most
    EXPECT_EQ(first.query, "q1");
    EXPECT_DOUBLE_EQ(first.overlap, 2.0 / 3);
    EXPECT_DOUBLE_EQ(first.moved, 1.5);  // c by two, a by one
    EXPECT_FALSE(first.same_first);
    EXPECT_TRUE(found.queries.back().same);
    EXPECT_DOUBLE_EQ(found.overlap, (1 + 2.0 / 3) / 2);
    EXPECT_EQ(found.same_first, 1U);
    EXPECT_EQ(found.same, 1U);
}

TEST(Overlap, LooksNoFurtherThanTheDepth) {
    const eval::Run now{"now", {list_of("q", {"a", "b", "c"})}};
    const eval::Run other{"other", {list_of("q", {"a", "c", "b"})}};
    EXPECT_TRUE(overlap_of(now, other, 1).queries.front().same);
    EXPECT_DOUBLE_EQ(overlap_of(now, other, 2).overlap, 0.5);
    EXPECT_DOUBLE_EQ(overlap_of(now, other, 3).overlap, 1);
}

TEST(Overlap, StandsEmptyListsAndMissingQueries) {
    EXPECT_EQ(overlap_of({"a", {}}, {"b", {}}, 10).queries.size(), 0U);
    const eval::Run now{"now", {list_of("q1", {}), list_of("q2", {"a"})}};
    const eval::Run other{"other", {list_of("q1", {}), list_of("q3", {"b"})}};
    const RunOverlap found = overlap_of(now, other, 10);
    ASSERT_EQ(found.queries.size(), 3U);
    EXPECT_TRUE(found.queries.back().same);  // nothing, twice
    EXPECT_DOUBLE_EQ(found.queries.front().overlap, 0);
    EXPECT_DOUBLE_EQ(found.moved, 0);
}

TEST(Overlap, IsShownWithoutMarkupOfOthers) {
    const eval::Run now{"<now>", {list_of("q1", {"<script>alert(1)</script>"})}};
    const eval::Run other{"other", {list_of("q1", {"b"})}};
    const std::vector<Query> queries{{"q1", "a \"quoted\" <b>question</b>"}};
    const RunOverlap found = overlap_of(now, other, 10);
    const std::string page = html_page(found, queries, 10);
    EXPECT_EQ(page.find("<script>"), std::string::npos);
    EXPECT_EQ(page.find("<b>question"), std::string::npos);
    EXPECT_NE(page.find("&lt;now&gt;"), std::string::npos);
    EXPECT_NE(to_text(found, queries, 10).find("0 % in both"), std::string::npos);
    EXPECT_EQ(to_text(found, queries, 0).find("q1"), std::string::npos);
    const Value value = to_value(found, 10);
    EXPECT_EQ(value.find("differ")->as_array().size(), 1U);
}

}  // namespace
}  // namespace braid::eval
