#include "braid/eval/clicks.hpp"

#include <gtest/gtest.h>

namespace braid::eval {
namespace {

TEST(Clicks, AreReadLineByLine) {
    const auto read = parse_clicks(
        "{\"query\": \"a\", \"shown\": [\"x\", \"y\"], \"clicked\": [\"y\"]}\n\n"
        "{\"query\": \"b\", \"shown\": [], \"clicked\": []}\n",
        "log");
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), 2U);
    EXPECT_EQ((*read)[0].clicked, std::vector<std::string>{"y"});
}

TEST(Clicks, WhatIsWrongIsNamedWithItsLine) {
    const auto problem = [](std::string_view line) {
        const auto read = parse_clicks(
            "{\"query\": \"a\", \"shown\": [\"x\"], \"clicked\": [\"x\"]}\n" + std::string(line),
            "log");
        return read ? std::string("none") : read.error().message;
    };
    EXPECT_NE(problem("{").find("log:2"), std::string::npos) << problem("{");
    EXPECT_NE(problem(R"({"query": "a", "shown": ["x"]})").find("\"clicked\""), std::string::npos);
    EXPECT_NE(problem(R"({"query": "a", "shown": ["x"], "clicked": ["y"]})").find("not shown"),
              std::string::npos);
    EXPECT_NE(problem(R"({"query": "a", "shown": ["x", "x"], "clicked": []})").find("twice"),
              std::string::npos);
    EXPECT_NE(problem(R"({"query": "a", "shown": ["x"], "clicked": [], "at": 1})").find("\"at\""),
              std::string::npos);
    EXPECT_FALSE(parse_clicks("", "log"));
    EXPECT_FALSE(parse_clicks("{\"query\": \"a\", \"shown\": [\"x\"], \"clicked\": []}", "log"));
}

TEST(Clicks, FurtherDownCountMore) {
    const std::vector<Impression> log{
        {"q", {"a", "b", "c"}, {"a"}}, {"q", {"a", "b", "c"}, {"c"}}, {"other", {"a"}, {}}};
    const ClickJudgements corrected = judgements_of(log, 1);
    ASSERT_EQ(corrected.queries.size(), 2U);
    ASSERT_EQ(corrected.qrels.queries.size(), 1U);  // nobody clicked for the other
    const std::vector<Judgement>& judged = corrected.qrels.queries.front().judgements;
    ASSERT_EQ(judged.size(), 3U);
    EXPECT_EQ(judged[0], (Judgement{"a", 2}));  // 3 * (1 / 2), rounded
    EXPECT_EQ(judged[1], (Judgement{"b", 0}));
    EXPECT_EQ(judged[2], (Judgement{"c", 5}));  // 3 * (3 / 2), rounded
    const ClickJudgements plain = judgements_of(log, 0);
    EXPECT_EQ(plain.qrels.queries.front().judgements[2].relevance, 2);
}

TEST(Clicks, OfABiasedAudienceStillFindTheBetterDocument) {
    // People look at rank r with chance 1/r, and click what is relevant. The better document is
    // always shown second, the worse one, half as relevant, first.
    std::vector<Impression> log;
    for (int i = 0; i < 1000; ++i) {
        Impression one{"q", {"worse", "better"}, {}};
        if (i % 10 < 4) one.clicked.emplace_back("worse");          // 1 * 0.4
        if ((i / 10) % 10 < 4) one.clicked.emplace_back("better");  // 1/2 * 0.8
        log.push_back(std::move(one));
    }
    const auto grades = judgements_of(log, 1).qrels.queries.front().judgements;
    EXPECT_EQ(grades[0].document, "better");
    EXPECT_GT(grades[0].relevance, grades[1].relevance);
}

}  // namespace
}  // namespace braid::eval
