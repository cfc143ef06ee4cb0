// Experiments: two sides by key or mixed, what is logged, and clicks.

#include "braid/service/experiment.hpp"

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/core/vocabulary.hpp"
#include "braid/eval/experiments.hpp"
#include "server/http_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::Headers;
using braid::testing::HttpTest;
using service::Experiment;
using service::ExperimentPlan;
using service::read_experiment;

TEST(ExperimentPlans, AreReadStrictly) {
    const core::Vocabulary words;
    const auto plan = read_experiment(
        R"({"name": "x", "b": {"fusion": "auto"}, "method": "interleave", "share": 0.2})", words);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_TRUE(plan->interleave);
    EXPECT_EQ(plan->share, 0.2);
    for (const char* const bad :
         {"", "[]", "{}", R"({"name": ""})", R"({"name": "x"})", R"({"name": "x", "b": 7})",
          R"({"name": "x", "b": {"fusoin": "auto"}})", R"({"name": "x", "b": {"top_k": "many"}})",
          R"({"name": "x", "b": {"query": "fox"}})", R"({"name": "x", "b": {"cursor": "fox"}})",
          R"({"name": "x", "b": {"top_k": 3}, "share": 1})",
          R"({"name": "x", "b": {"top_k": 3}, "method": "toss"})",
          R"({"name": "x", "b": {"top_k": 3}, "sharee": 0.5})"}) {
        EXPECT_FALSE(read_experiment(bad, words)) << bad;
    }
}

std::vector<Hit> hits(std::initializer_list<const char*> ids) {
    std::vector<Hit> out;
    for (const char* const id : ids) {
        out.emplace_back().chunk.chunk_id = id;
        out.back().rank = out.size();
    }
    return out;
}

TEST(Interleaving, EachRoundTakesTheBestOfBothThatIsNotThere) {
    const auto a = hits({"1", "2", "3", "4"});
    const auto b = hits({"3", "1", "5", "6"});
    std::set<std::string> firsts;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto mixed = service::interleave(a, b, 4, seed);
        ASSERT_EQ(mixed.hits.size(), 4U);
        ASSERT_EQ(mixed.teams.size(), 4U);
        std::set<std::string> ids;
        int of_a = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            ids.insert(mixed.hits[i].chunk.chunk_id);
            EXPECT_EQ(mixed.hits[i].rank, i + 1);
            of_a += mixed.teams[i] == "a" ? 1 : 0;
        }
        EXPECT_EQ(ids.size(), 4U);
        EXPECT_EQ(of_a, 2);
        firsts.insert(mixed.teams.front());
        EXPECT_EQ(service::interleave(a, b, 4, seed).teams, mixed.teams);
    }
    EXPECT_EQ(firsts.size(), 2U);
    EXPECT_EQ(service::interleave(a, {}, 10, 1).hits.size(), 4U);
    EXPECT_TRUE(service::interleave({}, {}, 10, 1).hits.empty());
}

TEST(ExperimentSides, AreThoseOfTheKey) {
    const Experiment experiment({"x", {}, {{"top_k", 3}}, false, 0.25}, nullptr);
    int b = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::string key = "key" + std::to_string(i);
        EXPECT_EQ(experiment.side_of(key), experiment.side_of(key));
        b += experiment.side_of(key) == "b" ? 1 : 0;
    }
    EXPECT_NEAR(b, 250, 60);
}

class ExperimentHttpTest : public HttpTest {
protected:
    void run(const std::string& plan) {
        HttpAppOptions options;
        options.service.experiment = std::make_shared<Experiment>(
            read_experiment(plan, {}).value(), [this](std::string_view line) {
                const std::scoped_lock lock(mutex_);
                log_ += std::string(line) + "\n";
            });
        restart(std::move(options));
        json("POST", "/v1/collections/notes/chunks",
             R"({"chunks": [{"chunk_id": "a", "content": "red fox"},
                            {"chunk_id": "b", "content": "fox and owl"},
                            {"chunk_id": "c", "content": "the fox of the hills"}]})");
    }
    Value question(const std::string& user, const std::string& more = "") {
        return json("POST", "/v1/retrieve",
                    R"({"query": "fox", "collection": "notes", "strategy": "sparse")" + more + "}",
                    200, Headers{{"X-Braid-User", user}});
    }

    std::mutex mutex_;
    std::string log_;
};

TEST_F(ExperimentHttpTest, SplitsByKeyLogsAndTakesClicks) {
    run(R"({"name": "short", "b": {"top_k": 1}})");
    std::set<std::string> sides;
    for (int i = 0; i < 40; ++i) {
        const std::string user = "user" + std::to_string(i % 20);
        const Value answer = question(user);
        const std::string side = at(answer, "experiment.side").as_string();
        sides.insert(side);
        EXPECT_EQ(at(answer, "chunks").as_array().size(), side == "a" ? 3U : 1U);
        const std::string id = at(answer, "experiment.id").as_string();
        const std::string chunk = at(answer, "chunks").as_array()[0].find("chunk_id")->as_string();
        json("POST", "/v1/click", R"({"id": ")" + id + R"(", "chunk_id": ")" + chunk + "\"}");
        json("POST", "/v1/click", R"({"id": ")" + id + R"(", "chunk_id": "z"})", 404);
    }
    EXPECT_EQ(sides.size(), 2U);
    json("POST", "/v1/click", R"({"id": "nope", "chunk_id": "a"})", 404);
    json("POST", "/v1/click", R"({"id": 7, "chunk_id": "a"})", 400);
    json("POST", "/v1/click", R"({})", 400);
    EXPECT_EQ(log_.find("user1"), std::string::npos);  // keys are hashed
    const auto log = eval::parse_experiment_log(log_, "log");
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ(log->answers.size(), 40U);
    const auto report = eval::report_experiment(*log, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->a->keys + report->b->keys, 20U);
    EXPECT_DOUBLE_EQ(report->clicked_gain->mean, 0);
}

TEST_F(ExperimentHttpTest, MixesBothSides) {
    run(R"({"name": "mix", "a": {"top_k": 2}, "b": {"top_k": 3}, "method": "interleave"})");
    const Value answer = question("ann");
    EXPECT_EQ(at(answer, "experiment.side").as_string(), "both");
    EXPECT_EQ(at(answer, "chunks").as_array().size(), 3U);
    EXPECT_TRUE(at(answer, "cursor").is_null());
    EXPECT_NE(log_.find("\"teams\":["), std::string::npos);
}

TEST_F(ExperimentHttpTest, PagesAndFailuresStayOutOfIt) {
    run(R"({"name": "far", "a": {"top_k": 1}, "b": {"top_k": 5000}})");
    int plain = 0;
    for (int i = 0; i < 20; ++i) {
        const Value answer = question("user" + std::to_string(i));
        if (answer.find("experiment") == nullptr) {
            ++plain;  // beyond the limits of callers
            EXPECT_EQ(at(answer, "chunks").as_array().size(), 3U);
            EXPECT_FALSE(at(answer, "warnings").as_array().empty());
            continue;
        }
        const std::string cursor = at(answer, "cursor").as_string();
        const Value next = json("POST", "/v1/retrieve", R"({"cursor": ")" + cursor + "\"}");
        EXPECT_EQ(next.find("experiment"), nullptr);
    }
    EXPECT_GT(plain, 0);
    EXPECT_LT(plain, 20);
}

TEST_F(HttpTest, ClicksNeedAnExperiment) {
    json("POST", "/v1/click", R"({"id": "x", "chunk_id": "a"})", 501);
}

}  // namespace
}  // namespace braid::server
