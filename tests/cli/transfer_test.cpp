// `braid export` and `braid import`.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::run_braid;
using braid::testing::RunOptions;
using braid::testing::RunResult;
using braid::testing::TemporaryFolder;

class Transfer : public ::testing::Test {
protected:
    void SetUp() override {
        const std::string corpus = folder.write(
            "corpus.jsonl",
            R"({"_id": "fox", "text": "Foxes hunt.", "title": "Fox", "vector": [0.1, -3e-7],)"
            R"( "metadata": {"year": 2020, "tags": ["a"]}, "created_at": "2020-01-02T03:04:05Z"})"
            "\n"
            R"({"_id": "owl", "document_id": "birds", "chunk_index": 3, "text": "Owls hunt.",)"
            R"( "vector": [1, 2], "sensitivity": "restricted", "visibility_scope": ["x"]})"
            "\n");
        done({"collections", "create", "notes", "--embedder", "external", "--bm25", "okapi"});
        done({"ingest", corpus, "--collection", "notes"});
        done({"ingest", corpus, "--collection", "notes", "--namespace", "other"});
    }
    RunResult run(std::vector<std::string> arguments, const std::string& input = {}) const {
        arguments.insert(arguments.end(), {"--data", folder / "data"});
        RunOptions options;
        options.input = input;
        return run_braid(arguments, options);
    }
    std::string done(const std::vector<std::string>& arguments,
                     const std::string& input = {}) const {
        const RunResult result = run(arguments, input);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.output;
    }

    TemporaryFolder folder;
};

TEST_F(Transfer, WhatWasExportedComesBackWhole) {
    const std::string exported = done({"export", "--collection", "notes"});
    done({"import", "-", "--collection", "again"}, exported);
    std::string again = done({"export", "--collection", "again"});
    const std::string name = R"("collection":"again")";
    const std::size_t at = again.find(name);
    ASSERT_NE(at, std::string::npos);
    again.replace(at, name.size(), R"("collection":"notes")");
    EXPECT_EQ(again, exported);
}

TEST_F(Transfer, MoreChunksThanAPageHoldsAllComeBack) {
    std::string lines;
    for (int i = 0; i < 1201; ++i) {
        lines += R"({"_id": ")" + std::to_string(i) + R"(", "text": "number )" + std::to_string(i) +
                 "\"}\n";
    }
    done({"ingest", folder.write("many.jsonl", lines), "--collection", "many", "--embedder",
          "none"});
    const std::string file = folder.write("many.export", done({"export", "--collection", "many"}));
    const RunResult result = run({"import", file, "--collection", "many2", "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, R"({"collection":"many2","stored":1201})"
                             "\n");
}

TEST_F(Transfer, WrongInputNamesWhatIsWrong) {
    const std::string exported = done({"export", "--collection", "notes"});
    const std::string header = exported.substr(0, exported.find('\n') + 1);
    const auto refused = [&](const std::vector<std::string>& arguments, const std::string& input,
                             int code, const std::string& words) {
        const RunResult result = run(arguments, input);
        EXPECT_EQ(result.exit_code, code) << result.errors;
        EXPECT_TRUE(has(result.errors, words)) << result.errors;
        EXPECT_EQ(result.output, "");
    };
    refused({"export", "--collection", "none"}, "", 3, "none");
    refused({"import", folder / "absent"}, "", 3, "absent");
    refused({"import", "-"}, "", 2, "is empty");
    refused({"import", "-"}, "{\"_id\": \"a\", \"text\": \"b\"}\n", 2, "braid_export");
    refused({"import", "-"}, "{\"braid_export\": 9, \"collection\": \"c\"}\n", 2,
            "format 1, not 9");
    refused({"import", "-"}, "nonsense\n", 2, "standard input:1");
    refused({"import", "-"}, exported, 1, "exists already");
    refused({"import", "-", "--collection", "part"}, header + "{\"text\": 3}\n", 2,
            "standard input:2");
    refused({"import", "-", "--collection", "../x"}, exported, 2, "../x");
}

}  // namespace
}  // namespace braid::cli
