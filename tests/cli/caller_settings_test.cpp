// The settings of whoever asks are used, whether the database is served or not.

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "braid/net/client/http_client.hpp"
#include "cli/program_run.hpp"
#include "cli/served.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::run_braid;
using braid::testing::RunOptions;
using braid::testing::RunResult;
using braid::testing::Served;
using braid::testing::steady;
using braid::testing::TemporaryFolder;

/// Thirty chunks with vectors, among which words and meaning disagree.
std::string numbered_chunks() {
    std::string lines;
    for (int i = 0; i < 30; ++i) {
        const std::string number = std::to_string(i);
        lines += R"({"_id": "c)" + number + R"(", "text": "fox )" + number + " " +
                 std::string(static_cast<std::size_t>(i) + 1, 'x') + R"(", "vector": [)" +
                 std::to_string(i % 7) + ", " + std::to_string(30 - i) + "]}\n";
    }
    return lines;
}

/// One way to configure the caller.
struct CallerConfiguration {
    std::string name;
    std::vector<std::pair<std::string, std::string>> environment{};
    std::string config{};  // config.json
    std::vector<std::string> flags{};
};

const std::vector<CallerConfiguration>& caller_configurations() {
    static const std::vector<CallerConfiguration> kAll{
        {.name = "nothing"},
        {.name = "a number of hits", .environment = {{"RETRIEVAL_TOP_K", "3"}}},
        {.name = "weights",
         .environment = {{"RETRIEVAL_VECTOR_WEIGHT", "0.9"}, {"RETRIEVAL_BM25_WEIGHT", "0.1"}}},
        {.name = "another profile", .environment = {{"BRAID_PROFILE", "topic"}}},
        {.name = "a profile of one's own",
         .config = R"({"profiles": {"mine": {"method": "weighted_sum", "dense_weight": 0.2,
                                             "top_k": 4, "depth": 5}}})",
         .flags = {"--profile", "mine"}},
        {.name = "a profile of one's own as the default",
         .config = R"({"profile": "mine", "profiles": {"mine": {"base": "service", "top_k": 6}}})"},
        {.name = "a built-in profile in other words",
         .config = R"({"profiles": {"default": {"top_k": 2, "dense_weight": 1}}})"},
        {.name = "a stage of the profile",
         .config =
             R"({"profile": "m", "profiles": {"m": {"stages": [{"min_score": {"value": 0.01}}]}}})"},
        {.name = "flags", .flags = {"--fusion", "dbsf", "-k", "5", "--dense-top-k", "4"}},
        {.name = "an unknown profile", .flags = {"--profile", "nope"}},
    };
    return kAll;
}

std::vector<std::vector<std::string>> asking_commands(const std::string& queries,
                                                      const std::string& vectors) {
    const std::string vector = "[1, 0.5]";
    return {
        {"retrieve", "fox xx", "--query-vector", vector, "--json"},
        {"retrieve", "fox xx", "--query-vector", vector, "--explain"},
        {"retrieve", "xxxx", "--strategy", "sparse", "--json"},
        {"context", "fox", "--strategy", "sparse", "--json"},
        {"explain", "fox xxx", "--chunk", "c2", "--strategy", "sparse", "--json"},
        {"why-not", "fox xxx", "--chunk", "c29", "--strategy", "sparse", "--json"},
        {"run", "--queries", queries, "--query-vectors", vectors},
    };
}

/// Two rows of two numbers, as NumPy writes them.
std::string two_vectors() {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
    header.resize(117, ' ');
    header += '\n';
    const std::vector<float> numbers{1, 0.5F, 0, 1};
    std::string file("\x93NUMPY\x01\x00\x76\x00", 10);
    file += header;
    file.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
    return file;
}

TEST(CallerSettings, AreUsedWhetherTheDatabaseIsServedOrNot) {
    const TemporaryFolder folder;
    const std::string corpus = folder.write("corpus.jsonl", numbered_chunks());
    const std::string queries = folder.write("queries.tsv", "q1\tfox xx\nq2\tfox 7\n");
    const std::string vectors = folder.write("queries.npy", two_vectors());
    const std::string here = folder / "here";
    const std::string there = folder / "there";
    ASSERT_EQ(run_braid({"--data", here, "ingest", corpus}).exit_code, 0);
    // The server has settings of its own, which are not the caller's.
    RunOptions others;
    others.environment = {{"RETRIEVAL_TOP_K", "1"}};
    std::filesystem::copy(here, there, std::filesystem::copy_options::recursive);
    const Served server(there, {"--log", "none"}, others);
    for (const CallerConfiguration& configuration : caller_configurations()) {
        RunOptions options;
        options.environment = configuration.environment;
        std::filesystem::create_directories(folder / "config/braid");
        folder.write("config/braid/config.json",
                     configuration.config.empty() ? "{}" : configuration.config);
        options.environment.emplace_back("XDG_CONFIG_HOME", folder / "config");
        for (std::vector<std::string> command : asking_commands(queries, vectors)) {
            SCOPED_TRACE(configuration.name + ": " + command.front());
            command.insert(command.end(), configuration.flags.begin(), configuration.flags.end());
            const auto run_at = [&](const std::string& data) {
                std::vector<std::string> whole{"--data", data};
                whole.insert(whole.end(), command.begin(), command.end());
                return run_braid(whole, options);
            };
            const RunResult local = run_at(here);
            const RunResult remote = run_at(there);
            EXPECT_EQ(local.exit_code, remote.exit_code) << local.errors << remote.errors;
            EXPECT_EQ(steady(local.output), steady(remote.output));
            EXPECT_EQ(steady(local.errors), steady(remote.errors));
            EXPECT_EQ(local.exit_code == 0, configuration.name != "an unknown profile")
                << local.errors;
        }
    }
}

/// What of an answer says how it was ranked.
std::string ranking_of(const std::string& answer) {
    const auto json = json::parse(answer);
    if (!json || json->find("chunks") == nullptr) return "no answer: " + answer;
    std::string text = json->find("profile")->as_string();
    for (const Value& hit : json->find("chunks")->as_array()) {
        text += " " + hit.find("chunk_id")->as_string() + "=" + json::print(*hit.find("score"));
    }
    return text;
}

TEST(CallerSettings, TheSameQuestionRanksTheSameAtEveryDoor) {
    const TemporaryFolder folder;
    const std::string corpus = folder.write("corpus.jsonl", numbered_chunks());
    const std::string data = folder / "data";
    ASSERT_EQ(run_braid({"--data", data, "ingest", corpus}).exit_code, 0);
    const std::string question = R"({"query": "fox xx", "query_embedding": [1, 0.5]})";
    for (const std::string profile : {"default", "service"}) {
        SCOPED_TRACE(profile);
        RunOptions options;
        if (profile == "service") options.environment = {{"RETRIEVAL_TOP_K", "8"}};
        options.input = question;
        const std::string asked = ranking_of(run_braid({"--data", data, "retrieve", "fox xx",
                                                        "--query-vector", "[1, 0.5]", "--json"},
                                                       options)
                                                 .output);
        EXPECT_TRUE(asked.starts_with(profile)) << asked;
        EXPECT_EQ(
            ranking_of(run_braid({"--data", data, "retrieve", "--request", "-", "--json"}, options)
                           .output),
            asked);
        Served server(data, {"--log", "none"}, options);
        net::HttpClientOptions client;
        client.allow_private = true;
        const auto response =
            net::HttpClient(client).send({.method = "POST",
                                          .url = server.url() + "/v1/retrieve",
                                          .headers = {{"Content-Type", "application/json"}},
                                          .body = question},
                                         {});
        ASSERT_TRUE(response) << response.error().message;
        EXPECT_EQ(ranking_of(response->body), asked);
        EXPECT_EQ(server.stop().exit_code, 0);
    }
}

}  // namespace
}  // namespace braid::cli
