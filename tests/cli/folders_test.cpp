// `braid ingest` of folders: nothing is lost, whoever has the database.

#include <csignal>
#include <filesystem>
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
using braid::testing::RunningBraid;
using braid::testing::RunResult;
using braid::testing::TemporaryFolder;

class IngestFolders : public ::testing::Test {
protected:
    IngestFolders() {
        folder.write("p1/README.md", "Foxes hunt at dusk.");
        folder.write("p2/README.md", "Owls hunt at night.");
    }
    RunResult run(const std::vector<std::string>& arguments, const std::string& in = {}) {
        std::vector<std::string> all{"--data", folder / "data"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return run_braid(all, {.folder = in});
    }
    void expect_both_are_kept() {
        const RunResult first = run({"ingest", folder / "p1", folder / "p2"});
        ASSERT_EQ(first.exit_code, 0) << first.errors;
        EXPECT_TRUE(has(first.errors, "p2/README.md")) << first.errors;
        EXPECT_TRUE(has(run({"retrieve", "dusk"}).output, "Foxes"));
        EXPECT_TRUE(has(run({"retrieve", "night"}).output, "Owls"));
        // From another folder, by relative paths, in another order, alone.
        for (const auto& paths : std::vector<std::vector<std::string>>{
                 {"ingest", ".", "../p1", "--json"}, {"ingest", "README.md", "--json"}}) {
            const RunResult again = run(paths, folder / "p2");
            ASSERT_EQ(again.exit_code, 0) << again.errors;
            const auto report = json::parse(again.output);
            ASSERT_TRUE(report) << again.output;
            EXPECT_EQ(*report->find("chunks"), Value(0));
            EXPECT_EQ(*report->find("unchanged_files"), *report->find("text_files"));
        }
    }

    TemporaryFolder folder;
};

TEST_F(IngestFolders, KeepFilesOfTheSameName) {
    expect_both_are_kept();
}

TEST_F(IngestFolders, KeepFilesOfTheSameNameInADatabaseThatIsServed) {
    RunningBraid server({"--data", folder / "data", "serve", "--port", "0", "--json"});
    ASSERT_TRUE(server.read_line());
    expect_both_are_kept();
    server.signal(SIGTERM);
    EXPECT_EQ(server.finish().exit_code, 0);
}

TEST_F(IngestFolders, ADryRunMakesNothing) {
    const RunResult looked = run({"ingest", folder / "p1", "--dry-run", "--json"});
    ASSERT_EQ(looked.exit_code, 0) << looked.errors;
    EXPECT_EQ(*json::parse(looked.output)->find("stored_files"), Value(1));
    EXPECT_FALSE(std::filesystem::exists(folder / "data"));
    ASSERT_EQ(run({"ingest", folder / "p1"}).exit_code, 0);
    EXPECT_TRUE(has(run({"ingest", folder / "p1", "--dry-run"}).output, "1 unchanged file"));
}

TEST_F(IngestFolders, StandardInputCanBeADocument) {
    const RunResult piped =
        run_braid({"--data", folder / "data", "ingest", "-", "--name", "a.html"},
                  {.input = "<title>T</title><p>Foxes hunt at dusk.</p>"});
    ASSERT_EQ(piped.exit_code, 0) << piped.errors;
    const RunResult found = run({"retrieve", "dusk"});
    EXPECT_TRUE(has(found.output, "a.html#0")) << found.output;
    EXPECT_EQ(run({"ingest", folder / "p1", "--name", "x"}).exit_code, 2);
    const RunResult unnamed =
        run_braid({"--data", folder / "data", "ingest", "-"}, {.input = "# Foxes\n\nThey hunt.\n"});
    EXPECT_EQ(unnamed.exit_code, 2);
    EXPECT_TRUE(has(unnamed.errors, "a document needs --name FILE")) << unnamed.errors;
    EXPECT_EQ(run({"ingest", folder.write("a.png", "\x89PNG")}).exit_code, 2);
}

TEST_F(IngestFolders, ABadLineDoesNotStopTheOthers) {
    const std::string lines =
        folder.write("c.jsonl",
                     "{\"_id\": \"a\", \"text\": \"Foxes.\"}\n{broken\n{\"_id\": \"b\", \"text\": "
                     "\"Owls.\"}\n");
    const RunResult stored = run({"ingest", lines, "--json"});
    EXPECT_EQ(stored.exit_code, 2);
    const auto report = json::parse(stored.output);
    ASSERT_TRUE(report) << stored.output;
    EXPECT_EQ(*report->find("chunks"), Value(2));
    EXPECT_EQ(*report->find("failed_lines"), Value(1));
    EXPECT_TRUE(has(run({"retrieve", "owls"}).output, "Owls"));
    const RunResult strict = run_braid({"--data", folder / "other", "ingest", lines, "--strict"});
    EXPECT_EQ(strict.exit_code, 2);
    EXPECT_TRUE(has(strict.errors, "c.jsonl:2: ")) << strict.errors;
    const RunResult none =
        run_braid({"--data", folder / "other", "ingest", folder.write("n.jsonl", "{broken\n[]\n")});
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_TRUE(has(none.errors, "n.jsonl:1: ")) << none.errors;
    EXPECT_TRUE(has(none.errors, "(and 1 more)")) << none.errors;
    EXPECT_FALSE(std::filesystem::exists(folder / "other"));
}

TEST_F(IngestFolders, NothingMakesNoCollection) {
    folder.write("none.jsonl", "");
    const RunResult nothing = run({"ingest", folder / "none.jsonl", "--collection", "none"});
    EXPECT_EQ(nothing.exit_code, 0) << nothing.errors;
    EXPECT_TRUE(has(nothing.output, "Skipped: 1 empty.")) << nothing.output;
    EXPECT_EQ(run({"stats", "--collection", "none"}).exit_code, 3);
}

TEST_F(IngestFolders, WhatIsNotReadIsNamedWhateverItBeginsWith) {
    folder.write("a.rtf", "{\\rtf1 words}");
    folder.write("a.bin", std::string("{\0\1\2\3\4", 6));
    for (const char* const name : {"a.rtf", "a.bin"}) {
        const RunResult refused = run({"ingest", folder / name});
        EXPECT_EQ(refused.exit_code, 2) << refused.errors;
        EXPECT_TRUE(has(refused.errors, "its format is not supported; braid reads"))
            << refused.errors;
    }
}

TEST_F(IngestFolders, ArtifactsAreStoredWholeAndInParts) {
    const RunResult stored = run({"ingest", folder / "p1", "--profile", "artifacts"});
    ASSERT_EQ(stored.exit_code, 0) << stored.errors;
    EXPECT_TRUE(has(stored.output, "1 document whole in collection \"artifacts\""))
        << stored.output;
    const RunResult found = run({"retrieve", "dusk", "--profile", "artifacts", "--json"});
    EXPECT_TRUE(has(found.output, "artifact_chunks")) << found.output;
    EXPECT_TRUE(has(run({"get", "README.md", "--collection", "artifacts"}).output, "Foxes"));
}

TEST_F(IngestFolders, DecisionsAreStoredAsTheyAreSearched) {
    const std::string lines = folder.write(
        "d.jsonl",
        R"({"id": "d1", "summary": "Backups", "decision": "Nightly copies", "context": "Disks fail", "category": "ops"})"
        "\n{\"summary\": \"no id\"}\n");
    const RunResult stored = run({"ingest", lines, "--profile", "decisions"});
    EXPECT_EQ(stored.exit_code, 2);
    EXPECT_TRUE(has(stored.errors, "d.jsonl:2: \"id\" is required")) << stored.errors;
    EXPECT_TRUE(has(stored.output, "new collection \"decisions\"")) << stored.output;
    const RunResult got = run({"get", "d1", "--collection", "decisions", "--json"});
    EXPECT_TRUE(has(got.output, "Backups Nightly copies Disks fail")) << got.output;
    EXPECT_EQ(run({"ingest", lines, "--profile", "topic"}).exit_code, 2);
}

TEST_F(IngestFolders, OtherProgramsJsonIsRead) {
    const std::string documents = folder.write(
        "lc.json", R"([{"page_content": "Foxes hunt at dusk.", "metadata": {"source": "a.pdf"}}])");
    const RunResult stored = run({"ingest", documents, "--from", "langchain"});
    ASSERT_EQ(stored.exit_code, 0) << stored.errors;
    EXPECT_TRUE(has(run({"retrieve", "dusk"}).output, "Foxes hunt"));
}

TEST_F(IngestFolders, AWatchedFolderIsFollowedUntilInterrupted) {
    RunningBraid watching(
        {"--data", folder / "data", "ingest", folder / "p1", "--watch", "--prune"});
    const auto first = watching.read_line();
    ASSERT_TRUE(first);
    EXPECT_TRUE(has(*first, "Stored 1 chunk of 1 file")) << *first;
    folder.write("p1/new.md", "Badgers dig.");
    const auto second = watching.read_line();
    ASSERT_TRUE(second);
    EXPECT_TRUE(has(*second, "Stored 1 chunk of 1 file")) << *second;
    EXPECT_TRUE(has(*second, "1 unchanged file skipped")) << *second;
    EXPECT_TRUE(has(run({"retrieve", "badgers"}).output, "new.md"));
    std::filesystem::remove(folder / "p1/new.md");
    const auto third = watching.read_line();
    ASSERT_TRUE(third);
    EXPECT_TRUE(has(*third, "removed")) << *third;
    watching.signal(SIGINT);
    EXPECT_EQ(watching.finish().exit_code, 0);
    EXPECT_FALSE(has(run({"retrieve", "badgers"}).output, "new.md"));
}

TEST_F(IngestFolders, AnInterruptedRunKeepsWhatItAcknowledged) {
    for (int i = 0; i < 3000; ++i) {
        folder.write("many/f" + std::to_string(i) + ".md", "Text of " + std::to_string(i));
    }
    RunningBraid stopped({"--data", folder / "data", "ingest", folder / "many", "--ack"});
    ASSERT_TRUE(stopped.read_line());
    stopped.signal(SIGINT);
    EXPECT_NE(stopped.finish().exit_code, 0);
    const RunResult again = run({"ingest", folder / "many", "--json"});
    ASSERT_EQ(again.exit_code, 0) << again.errors;
    const auto report = json::parse(again.output);
    ASSERT_TRUE(report);
    EXPECT_GT(report->find("unchanged_files")->as_int(), 0);
    EXPECT_EQ(report->find("unchanged_files")->as_int() + report->find("stored_files")->as_int(),
              3000);
}

TEST_F(IngestFolders, AHitShowsItsLine) {
    folder.write("p3/a.md", "# T\n\nOne.\n\n## Part\n\nBadgers dig.\n");
    ASSERT_EQ(run({"ingest", folder / "p3"}).exit_code, 0);
    EXPECT_TRUE(has(run({"retrieve", "badgers", "-k", "1"}).output, "/p3/a.md:7"));
}

}  // namespace
}  // namespace braid::cli
