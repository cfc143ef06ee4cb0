// What the program is like to use: help, names that are wrong, output on a terminal.

#include <csignal>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/cli/args/stage_notes.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/view/pager.hpp"
#include "braid/json/json.hpp"
#include "braid/retrieval/stages.hpp"
#include "cli/program_run.hpp"
#include "cli/terminal_run.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::kAnimals;
using braid::testing::run_braid;
using braid::testing::run_on_terminal;
using braid::testing::RunningBraid;
using braid::testing::RunOptions;
using braid::testing::RunResult;
using braid::testing::TemporaryFolder;
using Words = std::vector<std::string>;

class Hands : public ::testing::Test {
protected:
    Words with_data(Words arguments) const {
        arguments.insert(arguments.begin(), {"--data", folder / "data"});
        return arguments;
    }
    RunResult run(const Words& arguments, const RunOptions& options = {}) const {
        return run_braid(with_data(arguments), options);
    }
    void ingest(const std::string& collection) const {
        const RunResult done =
            run({"ingest", folder.write("c.jsonl", kAnimals), "--collection", collection});
        ASSERT_EQ(done.exit_code, 0) << done.errors;
    }

    TemporaryFolder folder;
};

TEST_F(Hands, EveryCommandAndGroupHasHelp) {
    std::set<std::string> names;
    for (const CommandSpec* command : all_commands()) {
        const std::string name(command->name);
        names.insert(name);
        names.insert(name.substr(0, name.find(' ')));
    }
    for (const std::string& name : names) {
        Words words{name};
        if (const std::size_t space = name.find(' '); space != std::string::npos) {
            words = {name.substr(0, space), name.substr(space + 1)};
        }
        Words asked{"help"};
        asked.insert(asked.end(), words.begin(), words.end());
        const RunResult help = run(asked);
        EXPECT_EQ(help.exit_code, 0) << name << help.errors;
        EXPECT_TRUE(has(help.output, "braid " + name)) << help.output;
        for (const char* flag : {"--help", "-h"}) {
            Words after = words;
            after.emplace_back(flag);
            EXPECT_EQ(run(after).output, help.output) << name;
            after.insert(after.begin(), after.back());
            after.pop_back();
            EXPECT_EQ(run(after).output, help.output) << name;
        }
    }
    // Without help, a group still needs one of its commands.
    const RunResult bare = run({"config"});
    EXPECT_EQ(bare.exit_code, 2);
    EXPECT_TRUE(has(bare.errors, "\"config\" needs one of: show")) << bare.errors;
    EXPECT_TRUE(has(run({"collections", "--help"}).output, "collections drop"));
}

TEST_F(Hands, HelpListsTheStages) {
    Words known;
    for (const StageNote& stage : stage_notes()) known.emplace_back(stage.name);
    ASSERT_EQ(known.back(), "rerank");
    known.pop_back();
    EXPECT_EQ(known, Words(retrieval::builtin_stage_names().begin(),
                           retrieval::builtin_stage_names().end()));
    const std::string help = run({"retrieve", "--help"}).output;
    for (const std::string& name : known) EXPECT_TRUE(has(help, "\n  " + name)) << name;
    // Their parameters are such as the stages take.
    ingest("default");
    for (const StageNote& stage : stage_notes()) {
        if (stage.name == "rerank" || has(std::string(stage.parameters), "...")) continue;
        const std::string parameters =
            stage.parameters.empty() ? "{}" : std::string(stage.parameters);
        const RunResult done = run({"retrieve", "mice", "--stages",
                                    "[{\"" + std::string(stage.name) + "\": " + parameters + "}]"});
        EXPECT_EQ(done.exit_code, 0) << stage.name << done.errors;
    }
}

TEST_F(Hands, AnUnknownCollectionNamesThoseThereAre) {
    ingest("notes");
    ingest("wiki");
    for (const Words& command : std::vector<Words>{{"retrieve", "mice"},
                                                   {"stats"},
                                                   {"get", "fox"},
                                                   {"facets", "kind"},
                                                   {"export"},
                                                   {"explain", "mice", "--chunk", "fox"},
                                                   {"delete", "--id", "fox"}}) {
        Words near = command;
        near.insert(near.end(), {"--collection", "nots"});
        const RunResult wrong = run(near);
        EXPECT_EQ(wrong.exit_code, 3) << command.front();
        EXPECT_TRUE(has(wrong.errors,
                        "there is no collection \"nots\"; did you mean \"notes\"? "
                        "There are \"notes\", \"wiki\""))
            << wrong.errors;
        const RunResult none = run(command);
        EXPECT_EQ(none.exit_code, 3) << command.front();
        EXPECT_TRUE(has(none.errors, "\"default\"; there are \"notes\", \"wiki\"")) << none.errors;
    }
}

TEST_F(Hands, WithoutADatabaseItIsSaidHowToMakeOne) {
    for (const Words& command : std::vector<Words>{
             {"retrieve", "mice"}, {"collections"}, {"stats"}, {"delete", "--id", "fox"}}) {
        const RunResult result = run(command);
        EXPECT_EQ(result.exit_code, 3) << command.front();
        EXPECT_TRUE(has(result.errors, "there is no database at ")) << result.errors;
        EXPECT_TRUE(has(result.errors, "\"braid ingest\" and \"braid add\" create one"));
    }
}

TEST_F(Hands, StatsShowsEveryNameWhole) {
    ingest("notes");
    const RunResult stats = run({"stats"});
    EXPECT_TRUE(has(stats.output, "\nnot in a segment yet  ")) << stats.output;
    EXPECT_TRUE(has(stats.output, "\ndistinct terms        ")) << stats.output;
    EXPECT_FALSE(has(stats.output, "…")) << stats.output;
}

TEST_F(Hands, TheOnlyCollectionNeedsNoName) {
    ingest("notes");
    const std::vector<Words> reading{{"retrieve", "mice"},
                                     {"search", "mice"},
                                     {"context", "mice"},
                                     {"explain", "mice", "--chunk", "fox"},
                                     {"why-not", "mice", "--chunk", "oak"},
                                     {"get", "fox"},
                                     {"stats"},
                                     {"facets", "kind"},
                                     {"export"},
                                     {"compact"},
                                     {"run", "--queries", folder.write("q.tsv", "q1\tmice\n")}};
    const auto check = [&] {
        for (Words command : reading) {
            const RunResult plain = run(command);
            EXPECT_EQ(plain.exit_code, 0) << command.front() << ": " << plain.errors;
            EXPECT_NE(plain.output, "") << command.front();
            if (command.front() == "export") continue;
            command.emplace_back("--json");
            EXPECT_TRUE(json::parse(run(command).output)) << command.front();
        }
    };
    check();
    EXPECT_TRUE(has(run({"stats", "--json"}).output, "\"notes\""));
    EXPECT_EQ(run({"delete", "--id", "fox"}).exit_code, 3);  // what writes is told where
    {
        RunningBraid server(with_data({"serve", "--port", "0", "--json"}));
        ASSERT_TRUE(server.read_line());
        check();
        server.signal(SIGTERM);
        server.finish();
    }
    // With two it must be named again; "default" goes before.
    ingest("wiki");
    EXPECT_EQ(run({"stats"}).exit_code, 3);
    ingest("default");
    EXPECT_TRUE(has(run({"stats", "--json"}).output, "\"default\""));
}

TEST_F(Hands, SearchIsRetrieve) {
    ingest("default");
    EXPECT_EQ(run({"search", "mice", "-k", "1"}).exit_code, 0);
    EXPECT_TRUE(has(run({"search", "mice"}).output, "Foxes"));
    EXPECT_TRUE(has(run({"search"}).errors, "\"search\" needs QUERY"));
}

TEST_F(Hands, GetKeepsLinesIndentsAndColumnsApart) {
    const std::string chunk =
        R"({"_id": "code", "text": "def f():\n\tif x:\n\t\treturn 1\n\nlast \u001b[31m line", )"
        R"("metadata": {"a_rather_long_name_of_a_field": "value", "k": 1}})";
    ASSERT_EQ(run({"add"}, {.input = chunk}).exit_code, 0);
    const std::string shown = run({"get", "code"}).output;
    EXPECT_TRUE(has(shown, "\n  def f():\n      if x:\n          return 1\n\n  last [31m line\n"))
        << shown;
    EXPECT_TRUE(has(shown, "a_rather_long_name_of_a_field  value\n")) << shown;
    EXPECT_TRUE(has(shown, "\n  k                              1\n")) << shown;
}

TEST_F(Hands, TenHitsAreShown) {
    std::string lines;
    for (int i = 0; i < 15; ++i) {
        lines += "{\"_id\": \"" + std::to_string(i) + "\", \"text\": \"mice\"}\n";
    }
    ASSERT_EQ(run({"ingest", folder.write("many.jsonl", lines)}).exit_code, 0);
    EXPECT_TRUE(has(run({"retrieve", "mice"}).output, "10 hits of 15 candidates"));
    const RunResult shown = run_on_terminal(with_data({"search", "mice"}), {{"PAGER", "cat"}});
    EXPECT_TRUE(has(shown.output, "10 hits of 15")) << shown.output;
}

TEST_F(Hands, WhatAnAnswerLacksIsSaidOnce) {
    ingest("default");
    const std::string words = "the stage \"mmr\" failed";
    for (const std::string command : {"retrieve", "context", "explain", "why-not"}) {
        std::vector<std::string> arguments{command, "mice", "--stages", R"(["mmr"])"};
        if (command.starts_with("e") || command.starts_with("w")) {
            arguments.insert(arguments.end(), {"--chunk", "fox"});
        }
        const RunResult result = run(arguments);
        const std::string all = result.output + result.errors;
        const std::size_t first = all.find(words);
        ASSERT_NE(first, std::string::npos) << command << ": " << all;
        EXPECT_EQ(all.find(words, first + 1), std::string::npos) << command << ": " << all;
    }
}

TEST_F(Hands, OneIsNotMany) {
    ingest("default");
    EXPECT_TRUE(has(run({"context", "dusk"}).errors, "1 passage, "));
    EXPECT_TRUE(has(run({"retrieve", "dusk"}).output, "1 hit of 1 candidate"));
    EXPECT_TRUE(has(run({"context", "zebra"}).errors, "No passages."));
    folder.write("a.md", "# A\n\nOne.\n\n# B\n\nTwo.\n");
    ASSERT_EQ(run({"ingest", folder / "a.md"}).exit_code, 0);
    folder.write("a.md", "# A\n\nOne.\n");
    const std::string shorter = run({"ingest", folder / "a.md"}).output;
    EXPECT_TRUE(has(shorter, ", 1 outdated one removed")) << shorter;
    EXPECT_FALSE(has(shorter, "(0 chunks/s)")) << shorter;
}

TEST_F(Hands, WordsAloneAreNoWarningWhereNoVectorsAreWanted) {
    ingest("default");
    EXPECT_FALSE(has(run({"retrieve", "mice"}).output, "vectors"));
    EXPECT_TRUE(has(run({"retrieve", "mice", "--json"}).output, "\"warnings\":[]"));
    // Those who ask for more are told.
    EXPECT_TRUE(has(run({"retrieve", "mice", "--strategy", "hybrid"}).output, "holds no vectors"));
}

TEST_F(Hands, AnEmbedderWithoutItsKeyNamesTheVariable) {
    const RunResult done =
        run({"ingest", folder.write("c.jsonl", kAnimals), "--embedder", "openai"});
    EXPECT_EQ(done.exit_code, 2) << done.errors;
    EXPECT_TRUE(has(done.errors, "OPENAI_API_KEY")) << done.errors;
    EXPECT_FALSE(has(run({"collections"}).output, "default"));
}

TEST_F(Hands, LongOutputGoesThroughAPagerOnATerminalOnly) {
    ingest("default");
    const std::vector<std::pair<std::string, std::string>> paged{{"PAGER", "sed s/^/P:/"}};
    const Words search = with_data({"retrieve", "mice"});
    const RunResult shown = run_on_terminal(search, paged);
    EXPECT_EQ(shown.exit_code, 0) << shown.output;
    EXPECT_TRUE(has(shown.output, "P: 1  Foxes") || has(shown.output, "P: 1  Owls"))
        << shown.output;
    EXPECT_TRUE(has(run_on_terminal({"help", "keys"}, paged).output, "P:braid keys"));
    // What goes wrong is seen too, with its exit code.
    const RunResult wrong = run_on_terminal(with_data({"stats", "--collection", "x"}), paged);
    EXPECT_EQ(wrong.exit_code, 3);
    EXPECT_TRUE(has(wrong.output, "no collection \"x\"")) << wrong.output;

    for (const char* flag : {"--no-pager", "--json"}) {
        Words words = search;
        words.emplace_back(flag);
        EXPECT_FALSE(has(run_on_terminal(words, paged).output, "P:")) << flag;
    }
    EXPECT_FALSE(
        has(run_on_terminal(search, {{"PAGER", "sed s/^/P:/"}, {"BRAID_PAGER", ""}}).output, "P:"));
    EXPECT_TRUE(has(
        run_on_terminal(search, {{"PAGER", "cat"}, {"BRAID_PAGER", "sed s/^/B:/"}}).output, "B:"));
    EXPECT_FALSE(has(run(Words{"retrieve", "mice"}, {.environment = paged}).output, "P:"));
    // One that is closed early is no failure.
    EXPECT_EQ(run_on_terminal(search, {{"PAGER", "true"}}).exit_code, 0);
}

TEST(PagerCommand, IsChosenAsGitDoes) {
    const auto chosen = [](std::vector<std::pair<std::string, std::string>> variables) {
        return pager_command([=](std::string_view name) -> std::optional<std::string> {
            for (const auto& [known, value] : variables) {
                if (known == name) return value;
            }
            return std::nullopt;
        });
    };
    EXPECT_EQ(chosen({{"BRAID_PAGER", "most"}, {"PAGER", "more"}}), "most");
    EXPECT_EQ(chosen({{"PAGER", "more"}}), "more");
    EXPECT_EQ(chosen({{"BRAID_PAGER", ""}, {"PAGER", "more"}}), "");
    EXPECT_EQ(chosen({{"PAGER", "cat"}}), "");
    EXPECT_EQ(chosen({{"PATH", "/nonexistent"}}), "");
}

}  // namespace
}  // namespace braid::cli
