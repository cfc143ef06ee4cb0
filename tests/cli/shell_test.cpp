// What the program prints for shells, for man, and about itself.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/cli/args/completion.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/manual.hpp"
#include "braid/json/json.hpp"
#include "braid/service/operation_json.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::run_braid;
using braid::testing::RunOptions;
using braid::testing::RunResult;
using braid::testing::TemporaryFolder;

bool succeeds(const std::string& command) {
    return std::system(command.c_str()) == 0;  // NOLINT(concurrency-mt-unsafe): no other thread
}

std::string output_of(const std::string& command, const TemporaryFolder& folder) {
    const std::string file = folder / "output";
    EXPECT_TRUE(succeeds(command + " > " + file + " 2>&1")) << command;
    const std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
}

TEST(Completion, BashOffersCommandsFlagsAndValues) {
    const TemporaryFolder folder;
    const std::string script = folder.write("braid.bash", bash_completion(all_commands()));
    const std::string helper = folder.write("try.sh", "source " + script + R"(
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _braid; echo "${COMPREPLY[*]}"
)");
    const auto offered = [&](const std::string& words) {
        std::string text = output_of("bash " + helper + " braid " + words, folder);
        text.pop_back();
        return text;
    };
    EXPECT_EQ(offered("ret"), "retrieve");
    EXPECT_EQ(offered("--data d ret"), "retrieve");
    EXPECT_EQ(offered("collections ''"), "create drop");
    EXPECT_EQ(offered("collections create --metr"), "--metric");
    EXPECT_EQ(offered("collections create x --metric ''"), "cosine dot euclidean");
    EXPECT_EQ(offered("config ''"), "show trust");
    EXPECT_EQ(offered("serve --tls-c"), "--tls-cert");
    EXPECT_EQ(offered("retrieve -k ''"), "");
    // Every flag of every command is there.
    for (const CommandSpec* const command : all_commands()) {
        const std::string all = " " + offered(std::string(command->name) + " --") + " ";
        for (const FlagSpec& flag : command->flags) {
            EXPECT_TRUE(has(all, " --" + std::string(flag.name) + " "))
                << command->name << " " << flag.name;
        }
    }
}

TEST(Completion, OtherShellsTakeTheirScripts) {
    const TemporaryFolder folder;
    const std::string zsh = zsh_completion(all_commands());
    const std::string fish = fish_completion(all_commands());
    for (const CommandSpec* const command : all_commands()) {
        EXPECT_TRUE(has(zsh, "'" + std::string(command->name) + "') flags=(")) << command->name;
        for (const FlagSpec& flag : command->flags) {
            EXPECT_TRUE(has(zsh, "--" + std::string(flag.name) + "[")) << flag.name;
            EXPECT_TRUE(has(fish, " -l " + std::string(flag.name) + " ")) << flag.name;
        }
    }
    if (succeeds("command -v zsh > /dev/null")) {
        output_of("zsh -n " + folder.write("_braid", zsh), folder);
    }
    if (succeeds("command -v fish > /dev/null")) {
        output_of("fish -n " + folder.write("braid.fish", fish), folder);
    }
    EXPECT_EQ(run_braid({"completion", "tcsh"}).exit_code, 2);
    EXPECT_EQ(run_braid({"completion", "zsh"}).output, zsh);
}

TEST(Manual, NamesEveryCommandFlagAndVariable) {
    const std::string page = manual_page(all_commands());
    EXPECT_TRUE(page.starts_with(".TH BRAID 1 "));
    for (const CommandSpec* const command : all_commands()) {
        for (const FlagSpec& flag : command->flags) {
            std::string name = "\\-\\-" + std::string(flag.name);
            for (std::size_t at = 4; (at = name.find('-', at)) != std::string::npos; at += 2) {
                name.insert(at, "\\");
            }
            EXPECT_TRUE(has(page, name)) << name;
        }
    }
    EXPECT_TRUE(has(page, "BRAID_PORT"));
    EXPECT_EQ(run_braid({"man"}).output, page);
    const TemporaryFolder folder;
    if (succeeds("command -v groff > /dev/null")) {
        const std::string file = folder.write("braid.1", page);
        EXPECT_EQ(output_of("groff -man -Tutf8 -ww -z " + file, folder), "");
    }
}

TEST(Doctor, SaysWhatIsThereWhatLeavesAndWhatIsWrong) {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder / "config/braid");
    const std::string data = folder / "data";
    RunOptions options;
    options.folder = folder.path().string();
    options.environment = {{"XDG_CONFIG_HOME", folder / "config"}};
    const RunResult fine = run_braid({"doctor", "--data", data, "--json"}, options);
    EXPECT_EQ(fine.exit_code, 0) << fine.errors;
    const auto report = json::parse(fine.output);
    ASSERT_TRUE(report) << fine.output;
    EXPECT_TRUE(service::list_in(*report, "problems").empty());
    EXPECT_TRUE(service::list_in(*report, "leaves_the_machine").empty());
    EXPECT_FALSE(std::filesystem::exists(data));

    EXPECT_EQ(run_braid({"add", "--data", data, "--text", "a fox"}).exit_code, 0);
    EXPECT_TRUE(
        has(run_braid({"doctor", "--data", data}, options).output, "1 chunk, vectors: none"));

    folder.write("config/braid/config.json",
                 R"({"openai": {"baseUrl": "https://vectors.example/v1"},
                     "llm": {"model": "small", "baseUrl": "https://chat.example/v1"},
                     "serve": {"host": "0.0.0.0", "tls_cert": "/nowhere/c.pem"}})");
    options.environment.emplace_back("BRAID_EMBEDDER", "openai");
    const RunResult ill = run_braid({"doctor", "--data", data}, options);
    EXPECT_EQ(ill.exit_code, 1) << ill.output;
    EXPECT_TRUE(has(ill.output, "https://vectors.example/v1 (new collections)")) << ill.output;
    EXPECT_TRUE(has(ill.output, "https://chat.example/v1")) << ill.output;
    EXPECT_TRUE(has(ill.output, "/nowhere/c.pem cannot be read")) << ill.output;
    EXPECT_TRUE(has(ill.output, "serve.host")) << ill.output;
    EXPECT_TRUE(has(ill.errors, "2 problems found")) << ill.errors;

    options.environment.emplace_back("BRAID_OFFLINE", "true");
    const RunResult offline = run_braid({"doctor", "--data", data, "--json"}, options);
    EXPECT_EQ(offline.exit_code, 1);
    EXPECT_TRUE(has(offline.output, R"("leaves_the_machine":[])")) << offline.output;
    EXPECT_TRUE(has(offline.output, R"(but \"offline\" is on)")) << offline.output;
}

TEST(Keys, AreShownOnceAndKeptAsHashes) {
    const TemporaryFolder folder;
    const std::string file = folder / "keys.json";
    const RunResult made =
        run_braid({"keys", "add", "agent", "--grant", "notes=write", "--file", file, "--json"});
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    const auto json = json::parse(made.output);
    ASSERT_TRUE(json);
    const std::string key = service::text_in(*json, "key");
    EXPECT_TRUE(key.starts_with("braid_"));
    const std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    EXPECT_FALSE(has(text.str(), key));
    EXPECT_TRUE(has(text.str(), "sha256"));
    EXPECT_EQ(run_braid({"keys", "add", "reader", "--file", file}).exit_code, 0);
    EXPECT_EQ(run_braid({"keys", "add", "agent", "--file", file}).exit_code, 2);
    EXPECT_EQ(run_braid({"keys", "add", "x", "--grant", "notes=all", "--file", file}).exit_code, 2);
    EXPECT_EQ(run_braid({"keys", "add", "x"}).exit_code, 2);
}

}  // namespace
}  // namespace braid::cli
