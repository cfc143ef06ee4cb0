#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"

namespace braid::testing {

/// The `braid` program over a database of its own.
class ProgramTest : public ::testing::Test {
protected:
    RunResult run(std::vector<std::string> arguments, const RunOptions& options = {}) {
        arguments.insert(arguments.begin(), {"--data", data()});
        return run_braid(arguments, options);
    }
    std::string data() const { return folder / "data"; }
    /// Runs, expects success, and returns the object printed.
    Value json(std::vector<std::string> arguments, const RunOptions& options = {}) {
        arguments.emplace_back("--json");
        const RunResult result = run(arguments, options);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        const auto value = json::parse(result.output);
        EXPECT_TRUE(value) << result.output;
        return value.value_or(Value());
    }
    void ingest_corpus() {
        const RunResult result = run({"ingest", folder.write("corpus.jsonl", kAnimals)});
        ASSERT_EQ(result.exit_code, 0) << result.errors;
    }
    std::vector<std::string> ids_of(const Value& answer) {
        std::vector<std::string> ids;
        for (const Value& chunk : answer.find("chunks")->as_array()) {
            ids.push_back(chunk.find("chunk_id")->as_string());
        }
        return ids;
    }
    /// The command fails with the code, says the words, and leaves no database behind.
    void expect_failure(const std::vector<std::string>& arguments, int code,
                        const std::string& words, const RunOptions& options = {}) {
        const RunResult result = run(arguments, options);
        EXPECT_EQ(result.exit_code, code) << result.errors;
        EXPECT_TRUE(has(result.errors, words)) << result.errors;
        EXPECT_TRUE(has("\n" + result.errors, "\nbraid: ")) << result.errors;
        EXPECT_EQ(result.output, "");
    }

    TemporaryFolder folder;
};

}  // namespace braid::testing
