#include "scenarios/scenario_run.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "scenarios/scenario.hpp"
#include "server/service_fixture.hpp"

namespace braid::testing {
namespace {

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

void expect_scores(const Array& given, const Value& expected, double tolerance) {
    ASSERT_EQ(given.size(), expected.as_array().size()) << json::print(given);
    for (std::size_t i = 0; i < given.size(); ++i) {
        // The texts were written by hand; between doors the bits are the same.
        EXPECT_NEAR(given[i].as_double(), expected.as_array()[i].as_double(), tolerance)
            << json::print(given);
    }
}

bool cannot(const Step& step, const Behind& behind) {
    return std::ranges::any_of(step.expected, [&](const auto& item) {
        return item.first == "needs" && behind.lacks.contains(item.second.as_string());
    });
}

void check(const Step& step, const Result<Value>& outcome, const Behind& behind) {
    if (cannot(step, behind)) {
        ASSERT_FALSE(outcome) << json::print(*outcome);
        EXPECT_EQ(error_facts(outcome.error().code).name, "unsupported");
        return;
    }
    for (const auto& [name, value] : step.expected) {
        if (name == "needs") continue;
        if (name == "error") {
            ASSERT_FALSE(outcome) << json::print(*outcome);
            EXPECT_EQ(json::print(error_facts(outcome.error().code).name), json::print(value));
            continue;
        }
        ASSERT_TRUE(outcome) << outcome.error().message;
        if (name == "ids") {
            EXPECT_EQ(json::print(ids_of(*outcome)), json::print(value));
        } else if (name == "scores") {
            expect_scores(members(*outcome, "score"), value, behind.score_tolerance);
        } else if (name == "live_scores") {
            // Where the deleted count for a while, words seem more or less frequent than they are.
            const double tolerance =
                behind.lacks.contains("live_df") ? 0.2 : behind.score_tolerance;
            expect_scores(members(*outcome, "score"), value, tolerance);
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

}  // namespace

std::vector<std::string> scenario_files() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(BRAID_SCENARIOS)) {
        if (entry.path().extension() == ".scn") paths.push_back(entry.path().string());
    }
    std::ranges::sort(paths);
    return paths;
}

void run_scenario(const std::string& path, const Behind& behind) {
    const std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    const auto scenario = parse_scenario(std::filesystem::path(path).filename(), text.str());
    ASSERT_TRUE(scenario) << scenario.error().message;
    std::vector<Value> of_library(scenario->steps.size());
    for (const auto& door : all_doors(behind)) {
        for (std::size_t i = 0; i < scenario->steps.size(); ++i) {
            const Step& step = scenario->steps[i];
            SCOPED_TRACE(scenario->name + ":" + std::to_string(step.line) + ", " + door->name());
            auto outcome = door->run(step);
            if (!outcome) continue;
            const bool coarse = door->name() == "MCP" || door->name() == "command line";
            if (!coarse || *outcome) check(step, *outcome, behind);
            if (coarse && !*outcome) {
                EXPECT_TRUE(
                    cannot(step, behind) ||
                    std::ranges::any_of(step.expected,
                                        [](const auto& item) { return item.first == "error"; }))
                    << outcome->error().message;
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

}  // namespace braid::testing
