// `braid export` and `braid import`.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::run_braid;
using braid::testing::RunningBraid;
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

/// Chunks get versions of their own when they are imported.
std::string without_versions(const std::string& lines) {
    static const std::regex kVersions(R"x("version":[0-9]+)x");
    return std::regex_replace(lines, kVersions, "\"version\":0");
}

TEST_F(Transfer, WhatWasExportedComesBackWhole) {
    const std::string exported = done({"export", "--collection", "notes"});
    done({"import", "-", "--collection", "again"}, exported);
    std::string again = done({"export", "--collection", "again"});
    const std::string name = R"("collection":"again")";
    const std::size_t at = again.find(name);
    ASSERT_NE(at, std::string::npos);
    again.replace(at, name.size(), R"("collection":"notes")");
    EXPECT_EQ(without_versions(again), without_versions(exported));
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
            "format 2, not 9");
    refused({"import", "-"}, "nonsense\n", 2, "standard input:1");
    refused({"import", "-"}, exported, 1, "already exists");
    refused({"import", "-", "--collection", "part"}, header + "{\"text\": 3}\n", 2,
            "standard input:2");
    refused({"import", "-", "--collection", "../x"}, exported, 2, "../x");
    EXPECT_FALSE(has(done({"collections"}), "part")) << "a failed import leaves nothing";
}

TEST_F(Transfer, AnExportThatWasCutShortIsNotImported) {
    const std::string exported = done({"export", "--collection", "notes"});
    for (std::size_t cut = exported.find('\n') + 1; cut != 0 && cut < exported.size();
         cut = exported.find('\n', cut) + 1) {
        const RunResult result =
            run({"import", "-", "--collection", "part"}, exported.substr(0, cut));
        EXPECT_EQ(result.exit_code, 2) << result.errors;
        EXPECT_TRUE(has(result.errors, "cut short")) << result.errors;
        EXPECT_FALSE(has(done({"collections"}), "part"));
    }
    const std::size_t first = exported.find('\n') + 1;
    const std::size_t second = exported.find('\n', first) + 1;
    const RunResult holed = run({"import", "-", "--collection", "part"},
                                exported.substr(0, first) + exported.substr(second));
    EXPECT_EQ(holed.exit_code, 2) << "a line is missing in the middle";
}

TEST_F(Transfer, AnExportOfTheFirstFormatIsStillRead) {
    std::string exported = done({"export", "--collection", "notes"});
    exported.resize(exported.rfind('\n', exported.size() - 2) + 1);
    const std::string format = R"({"braid_export":2)";
    ASSERT_TRUE(exported.starts_with(format)) << exported;
    exported.replace(0, format.size(), R"({"braid_export":1)");
    EXPECT_TRUE(has(done({"import", "-", "--collection", "again"}, exported), "4 chunks"));
}

TEST_F(Transfer, AKilledImportIsListedAsUnfinishedAndTheNextReplacesIt) {
    const std::string exported = done({"export", "--collection", "notes"});
    {
        RunningBraid import({"import", "-", "--collection", "again", "--data", folder / "data"});
        import.write(exported.substr(0, exported.find('\n') + 1));
        while (!std::filesystem::exists(folder / "data/collections/again/manifest")) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        import.signal(SIGKILL);
        import.finish();
    }
    EXPECT_TRUE(has(done({"collections"}), "interrupted"));
    const RunResult read = run({"get", "fox", "--collection", "again"});
    EXPECT_NE(read.exit_code, 0);
    EXPECT_TRUE(has(read.errors, "interrupted")) << read.errors;
    const RunResult empty = run({"export", "--collection", "again"});
    EXPECT_NE(empty.exit_code, 0) << empty.output;
    EXPECT_TRUE(has(empty.errors, "\"again\" cannot be read")) << empty.errors;
    const RunResult checked = run({"check"});
    EXPECT_EQ(checked.exit_code, 1) << checked.errors;
    EXPECT_TRUE(has(checked.output, "collection \"again\": its import")) << checked.output;
    EXPECT_TRUE(has(checked.errors, "1 collection is unfinished")) << checked.errors;
    const RunResult report = run({"check", "--json"});
    EXPECT_EQ(report.exit_code, 1);
    EXPECT_TRUE(has(report.output, R"("clean":false)")) << report.output;
    EXPECT_TRUE(has(report.output, R"("unfinished":["collection \"again\": its import)"))
        << report.output;
    EXPECT_TRUE(has(done({"repair"}), "Nothing is damaged."));
    const RunResult copied = run({"backup", folder / "copy"});
    EXPECT_EQ(copied.exit_code, 0) << copied.errors;
    EXPECT_TRUE(has(copied.errors, "collection \"again\": left out: its import is under way"))
        << copied.errors;
    EXPECT_TRUE(
        has(done({"backup", folder / "second", "--json"}), "left out: its import is under way"));
    EXPECT_TRUE(has(done({"import", "-", "--collection", "again"}, exported), "4 chunks"));
    EXPECT_FALSE(has(done({"collections"}), "interrupted"));
    done({"check"});
    EXPECT_EQ(without_versions(done({"export", "--collection", "again"})).size(),
              without_versions(exported).size());
}

TEST_F(Transfer, AnInterruptedImportLeavesNothing) {
    const std::string exported = done({"export", "--collection", "notes"});
    RunningBraid import({"import", "-", "--collection", "again", "--data", folder / "data"});
    import.write(exported.substr(0, exported.find('\n') + 1));
    while (!std::filesystem::exists(folder / "data/collections/again/manifest")) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    import.signal(SIGINT);
    EXPECT_EQ(import.read_line(), std::nullopt) << "it ends although its input does not";
    const RunResult result = import.finish();
    EXPECT_EQ(result.exit_code, 130) << result.errors;
    EXPECT_TRUE(has(result.errors, "nothing was imported")) << result.errors;
    EXPECT_FALSE(has(done({"collections"}), "again"));
}

}  // namespace
}  // namespace braid::cli
