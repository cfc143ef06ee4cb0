#include "braid/eval/experiments.hpp"

#include <string>

#include <gtest/gtest.h>

#include "braid/eval/clicks.hpp"

namespace braid::eval {
namespace {

std::string answer_line(const std::string& id, const std::string& key, const std::string& side,
                        const std::string& teams = "") {
    return R"({"event":"answer","experiment":"x","id":")" + id + R"(","key":")" + key +
           R"(","side":")" + side +
           R"(","query":"red fox","documents":["d1","d2","d2"],"chunks":["c1","c2","c3"])" +
           (teams.empty() ? "" : ",\"teams\":" + teams) + "}\n";
}

std::string click_line(const std::string& id, const std::string& chunk) {
    return R"({"event":"click","experiment":"x","id":")" + id + R"(","chunk":")" + chunk + "\"}\n";
}

ExperimentReport report_of(const std::string& text) {
    const auto log = parse_experiment_log(text, "log");
    EXPECT_TRUE(log) << log.error().message;
    const auto report = report_experiment(*log, {});
    EXPECT_TRUE(report) << report.error().message;
    return report.value_or(ExperimentReport{});
}

TEST(Experiments, SidesAreComparedOverKeys) {
    std::string text;
    for (int i = 0; i < 20; ++i) {
        const std::string a = "a" + std::to_string(i);
        const std::string b = "b" + std::to_string(i);
        text += answer_line(a, "k" + a, "a") + answer_line(b, "k" + b, "b");
        if (i % 2 == 0) text += click_line(a, "c2");
        text += click_line(b, "c1") + click_line(b, "c1");
    }
    const ExperimentReport report = report_of(text);
    ASSERT_TRUE(report.a && report.b && report.clicked_gain && report.reciprocal_gain);
    EXPECT_EQ(report.a->answers, 20U);
    EXPECT_DOUBLE_EQ(report.a->clicked.mean, 0.5);
    EXPECT_DOUBLE_EQ(report.a->reciprocal.mean, 0.25);
    EXPECT_DOUBLE_EQ(report.b->reciprocal.mean, 1);
    EXPECT_DOUBLE_EQ(report.reciprocal_gain->mean, 0.75);
    EXPECT_GT(report.reciprocal_gain->interval.low, 0.6);
    EXPECT_LT(report.reciprocal_gain->interval.high, 0.9);
    EXPECT_NE(to_text(report).find("b is better"), std::string::npos);
    EXPECT_FALSE(report.interleaved);
}

TEST(Experiments, AKeyCountsOnceHoweverOftenItAsks) {
    std::string text = answer_line("q", "other", "a");
    for (int i = 0; i < 99; ++i) {
        text += answer_line("p" + std::to_string(i), "eager", "a");
        text += click_line("p" + std::to_string(i), "c1");
    }
    const ExperimentReport report = report_of(text);
    EXPECT_EQ(report.a->keys, 2U);
    EXPECT_NEAR(report.a->clicked.mean, 0.5, 1e-9);
    EXPECT_NE(to_text(report).find("Only one side"), std::string::npos);
}

TEST(Experiments, MixedAnswersAreWonByTheSideWithMoreClicks) {
    std::string text;
    for (int i = 0; i < 12; ++i) {
        const std::string id = "m" + std::to_string(i);
        text += answer_line(id, "", "both", R"(["a","b","b"])");
        text += click_line(id, i < 10 ? "c2" : "c1");
    }
    text += answer_line("none", "", "both", R"(["b","a","a"])");
    text += click_line("lost", "c1") + click_line("none", "c9");
    const ExperimentReport report = report_of(text);
    ASSERT_TRUE(report.interleaved);
    EXPECT_EQ(report.interleaved->b_wins, 10U);
    EXPECT_EQ(report.interleaved->a_wins, 2U);
    EXPECT_EQ(report.interleaved->ties, 1U);
    EXPECT_NEAR(report.interleaved->preference.mean, 8.0 / 12, 1e-12);
    EXPECT_NEAR(report.interleaved->p_value, 2 * (1 + 12 + 66) / 4096.0, 1e-9);
    EXPECT_EQ(report.lost_clicks, 2U);
}

TEST(Experiments, ALineCutOffAtTheEndIsPassedOver) {
    const auto log = parse_experiment_log(answer_line("i", "k", "a") + R"({"event":"cl)", "log");
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ(log->unread, 1U);
    EXPECT_EQ(log->answers.size(), 1U);
}

TEST(Experiments, WhatIsNoLogIsNamed) {
    for (const char* const bad :
         {"{}\n", "[]\n", "nonsense\n", "{\"event\":\"answer\"}\n",
          "{\"event\":\"answer\",\"experiment\":\"x\",\"id\":\"i\",\"side\":\"c\",\"query\":\"q\","
          "\"documents\":[],\"chunks\":[]}\n",
          "{\"event\":\"answer\",\"experiment\":\"x\",\"id\":\"i\",\"side\":\"both\",\"query\":"
          "\"q\",\"documents\":[\"d\"],\"chunks\":[\"c\"]}\n",
          "{\"event\":\"answer\",\"experiment\":\"x\",\"id\":7}\n"}) {
        const auto log = parse_experiment_log(bad, "log");
        ASSERT_FALSE(log) << bad;
        EXPECT_EQ(log.error().message.rfind("log:1: ", 0), 0U) << log.error().message;
    }
    EXPECT_FALSE(report_experiment(parse_experiment_log("", "log").value(), {}));
    auto two = parse_experiment_log(answer_line("i", "k", "a"), "log").value();
    two.names.emplace_back("y");
    EXPECT_FALSE(report_experiment(two, {}));
    EXPECT_TRUE(report_experiment(two, {.experiment = "x"}));
    EXPECT_FALSE(report_experiment(two, {.experiment = "z"}));
}

TEST(Experiments, BecomeClicksOfDocuments) {
    const auto log =
        parse_experiment_log(answer_line("i", "k", "a") + click_line("i", "c3"), "log");
    const auto clicks = parse_clicks(clicks_of(*log), "clicks");
    ASSERT_TRUE(clicks) << clicks.error().message;
    ASSERT_EQ(clicks->size(), 1U);
    EXPECT_EQ((*clicks)[0].shown, (std::vector<std::string>{"d1", "d2"}));
    EXPECT_EQ((*clicks)[0].clicked, std::vector<std::string>{"d2"});
}

}  // namespace
}  // namespace braid::eval
