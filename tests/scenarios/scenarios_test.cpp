// Text scenarios through every door: the same hits and scores at each.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "scenarios/doors.hpp"
#include "scenarios/scenario.hpp"
#include "server/service_fixture.hpp"

namespace braid::testing {
namespace {

/// Leaves out what no two runs share: times.
/// What differs between two databases that hold the same: times, cursors, and versions, which are
/// opaque and each database's own.
void drop_own(Value& value) {
    if (value.is_array()) {
        for (Value& element : value.as_array()) drop_own(element);
    }
    if (!value.is_object()) return;
    for (const std::string_view key :
         {"timings", "latency_ms", "time_ms", "query_embedding_time_ms", "cursor", "version"}) {
        value.as_object().erase(key);
    }
    for (auto& [key, member] : value.as_object()) drop_own(member);
}

/// The member of every hit, under "chunks" or "results".
Array members(const Value& answer, const std::string& key) {
    Array out;
    for (const std::string list : {"chunks", "results"}) {
        const Value hits = at(answer, list);
        if (!hits.is_array()) continue;
        for (const Value& hit : hits.as_array()) out.push_back(at(hit, key));
    }
    return out;
}

Array ids_of(const Value& answer) {
    return members(answer, answer.find("results") != nullptr ? "id" : "chunk_id");
}

void expect_scores(const Array& given, const Value& expected) {
    ASSERT_EQ(given.size(), expected.as_array().size()) << json::print(given);
    for (std::size_t i = 0; i < given.size(); ++i) {
        // The texts were written by hand; between doors the bits are the same.
        EXPECT_NEAR(given[i].as_double(), expected.as_array()[i].as_double(), 1e-12)
            << json::print(given);
    }
}

void check(const Step& step, const Result<Value>& outcome) {
    for (const auto& [name, value] : step.expected) {
        if (name == "error") {
            ASSERT_FALSE(outcome) << json::print(*outcome);
            EXPECT_EQ(json::print(error_facts(outcome.error().code).name), json::print(value));
            continue;
        }
        ASSERT_TRUE(outcome) << outcome.error().message;
        if (name == "ids") {
            EXPECT_EQ(json::print(ids_of(*outcome)), json::print(value));
        } else if (name == "scores") {
            expect_scores(members(*outcome, "score"), value);
        } else {
            EXPECT_EQ(at(*outcome, name), value) << json::print(*outcome);
        }
    }
    if (step.expected.empty()) {
        EXPECT_TRUE(outcome) << outcome.error().message;
    }
}

bool reads(const Step& step) {
    return step.verb != "create" && step.verb != "add" && step.verb != "update" &&
           step.verb != "delete";
}

std::vector<std::string> files() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(BRAID_SCENARIOS)) {
        if (entry.path().extension() == ".scn") paths.push_back(entry.path().string());
    }
    std::ranges::sort(paths);
    return paths;
}

class Scenarios : public ::testing::TestWithParam<std::string> {};

TEST_P(Scenarios, GiveTheSameAtEveryDoor) {
    const std::ifstream in(GetParam());
    std::ostringstream text;
    text << in.rdbuf();
    const auto scenario = parse_scenario(std::filesystem::path(GetParam()).filename(), text.str());
    ASSERT_TRUE(scenario) << scenario.error().message;
    std::vector<Value> of_library(scenario->steps.size());
    for (const auto& door : all_doors()) {
        for (std::size_t i = 0; i < scenario->steps.size(); ++i) {
            const Step& step = scenario->steps[i];
            SCOPED_TRACE(scenario->name + ":" + std::to_string(step.line) + ", " + door->name());
            auto outcome = door->run(step);
            if (!outcome) continue;
            const bool coarse = door->name() == "MCP" || door->name() == "command line";
            if (!coarse || *outcome) check(step, *outcome);
            if (coarse && !*outcome) {
                EXPECT_TRUE(std::ranges::any_of(step.expected, [](const auto& item) {
                    return item.first == "error";
                })) << outcome->error().message;
            }
            if (!reads(step) || !*outcome) continue;
            drop_own(**outcome);
            if (door->name() == "library") {
                of_library[i] = **outcome;
            } else {
                EXPECT_EQ(json::print(**outcome), json::print(of_library[i]));
            }
        }
        Step last;
        last.verb = "check";
        if (const auto report = door->run(last)) {
            ASSERT_TRUE(*report) << door->name() << ": " << report->error().message;
            EXPECT_EQ(at(**report, "clean"), Value(true)) << json::print(**report);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Files, Scenarios, ::testing::ValuesIn(files()), [](const auto& file) {
    return std::filesystem::path(file.param).stem().string();
});

TEST(ScenarioTexts, SayWhatIsWrongWithThem) {
    for (const std::string bad :
         {"fly notes {}", "add notes {", "add notes 7", "  ids []", "retrieve {}\n  ids [", "x"}) {
        EXPECT_FALSE(parse_scenario("bad", bad)) << bad;
    }
    const auto good = parse_scenario("good", "# note\n\nadd n {\"a\": 1}\nretrieve {}\n  ids []\n");
    ASSERT_TRUE(good);
    ASSERT_EQ(good->steps.size(), 2U);
    EXPECT_EQ(good->steps[0].collection, "n");
    EXPECT_EQ(good->steps[1].expected.size(), 1U);
}

}  // namespace
}  // namespace braid::testing
