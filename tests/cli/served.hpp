#pragma once

#include <csignal>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "cli/program_run.hpp"

namespace braid::testing {

/// `braid serve` on a free port, and what it said of itself.
class Served {
public:
    explicit Served(const std::string& data, const std::vector<std::string>& flags = {},
                    const RunOptions& options = {})
        : program_(arguments(data, flags), options) {
        const auto line = program_.read_line();
        EXPECT_TRUE(line.has_value()) << program_.finish().errors;
        const auto json = json::parse(line.value_or("{}"));
        if (json) facts_ = *json;
    }
    std::string url() const { return facts_.find("listening")->as_string(); }
    std::string socket() const { return facts_.find("socket")->as_string(); }
    RunResult stop(int signal = SIGTERM) {
        program_.signal(signal);
        return program_.finish();
    }

private:
    static std::vector<std::string> arguments(const std::string& data,
                                              const std::vector<std::string>& flags) {
        std::vector<std::string> all{"--data", data, "serve", "--port", "0", "--json"};
        all.insert(all.end(), flags.begin(), flags.end());
        return all;
    }

    RunningBraid program_;
    Value facts_ = Object{{"listening", ""}, {"socket", ""}};
};

/// Without what differs from run to run.
inline std::string steady(std::string text) {
    // Every number below a key that says milliseconds or seconds, and those that people read.
    static const std::regex kTimes(R"x("([a-z0-9_]*(?:ms|seconds|per_second))":[-0-9.e+]+)x");
    static const std::regex kShown(R"x([0-9.,]+ (ms|s|chunks/s|tokens/s)\b)x");
    static const std::regex kCursor(R"x("cursor":"[^"]*")x");
    static const std::regex kLegs(R"x( \([a-z]+ [0-9.]+[^)]*\))x");
    // Versions are opaque, and each database has its own.
    static const std::regex kVersions(R"x(\bversion("?:? +|":)[0-9]{6,})x");
    // Of the process that answers.
    static const std::regex kMemory(R"x((resident_bytes":|in memory +)[0-9.]+( [kMG]?B)?)x");
    text = std::regex_replace(text, kMemory, "$1N");
    text = std::regex_replace(text, kVersions, "version$1N");
    text = std::regex_replace(text, kTimes, "\"$1\":0");
    text = std::regex_replace(text, kShown, "N $1");
    text = std::regex_replace(text, kCursor, "\"cursor\":\"\"");
    return std::regex_replace(text, kLegs, "");  // what took no time is not listed
}

}  // namespace braid::testing
