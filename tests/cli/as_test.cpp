// --as: commands on behalf of somebody who sees less.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "braid/net/client/http_client.hpp"
#include "braid/service/operation_json.hpp"
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
using braid::testing::TemporaryFolder;

constexpr const char* kLabelled =
    R"({"_id": "open", "text": "The fox is known to all."})"
    "\n"
    R"({"_id": "red", "text": "The fox is red.", "visibility_scope": ["sales"]})"
    "\n"
    R"({"_id": "blue", "text": "The fox is blue.", "visibility_scope": ["legal"]})"
    "\n"
    R"({"_id": "secret", "text": "The fox is secret.", "sensitivity": "restricted"})"
    "\n";

class AsTest : public ::testing::Test {
protected:
    AsTest() {
        const std::string corpus = folder.write("corpus.jsonl", kLabelled);
        std::filesystem::create_directories(folder / "config/braid");
        folder.write("config/braid/config.json", R"({"principals": {
            "ann": {"clearance": "normal", "scopes": ["sales"]},
            "acme": {"namespaces": ["acme"]}}})");
        options.environment = {{"XDG_CONFIG_HOME", folder / "config"}};
        EXPECT_EQ(run({"ingest", corpus}).exit_code, 0);
    }
    RunResult run(std::vector<std::string> arguments, const std::string& as = "") const {
        arguments.insert(arguments.begin(), {"--data", folder / "data"});
        if (!as.empty()) arguments.insert(arguments.end(), {"--as", as});
        return run_braid(arguments, options);
    }
    std::string ids(const std::string& as) const {
        const RunResult found = run({"retrieve", "fox", "--json"}, as);
        EXPECT_EQ(found.exit_code, 0) << found.errors;
        const auto json = json::parse(found.output);
        std::vector<std::string> names;
        if (json) {
            for (const Value& hit : service::list_in(*json, "chunks"))
                names.push_back(service::text_in(hit, "chunk_id"));
        }
        std::ranges::sort(names);
        std::string joined;
        for (const std::string& name : names) joined += name + " ";
        return joined;
    }

    TemporaryFolder folder;
    RunOptions options;
};

TEST_F(AsTest, ShowsWhatThePrincipalMaySee) {
    const std::string given = R"({"clearance": "restricted", "scopes": ["legal"]})";
    for (const bool served : {false, true}) {
        SCOPED_TRACE(served ? "served" : "not served");
        std::optional<Served> server;
        if (served) server.emplace(folder / "data", std::vector<std::string>{"--log", "none"});
        EXPECT_EQ(ids(""), "blue open red secret ");
        EXPECT_EQ(ids("ann"), "open red ");
        EXPECT_EQ(ids(given), "blue open secret ");
        EXPECT_TRUE(
            has(run({"get", "blue", "red", "--json"}, "ann").output, R"("chunk_id":"red")"));
        EXPECT_FALSE(has(run({"get", "blue", "red", "--json"}, "ann").output, "is blue"));
        EXPECT_TRUE(has(run({"stats", "--json"}, "ann").output, R"("chunks":2)"));
        EXPECT_EQ(run({"explain", "fox", "--chunk", "blue"}, "ann").exit_code, 3);
        // What it may not see it can neither change nor overwrite.
        EXPECT_NE(run({"add", "--id", "blue", "--text", "mine"}, "ann").exit_code, 0);
        EXPECT_TRUE(has(run({"delete", "--id", "blue", "--json"}, "ann").output, R"("deleted":0)"));
        EXPECT_EQ(run({"compact"}, "ann").exit_code, 1);
        EXPECT_EQ(run({"check"}, "ann").exit_code, 1);
        EXPECT_EQ(run({"retrieve", "fox"}, "nobody").exit_code, 3);
        EXPECT_TRUE(has(run({"retrieve", "fox"}, "nobody").errors, "ann, acme"));
        EXPECT_EQ(run({"retrieve", "fox"}, R"({"scopes": ["x"]})").exit_code, 2);
    }
    EXPECT_EQ(run({"backup", folder / "copy"}, "ann").exit_code, 2);
}

TEST_F(AsTest, StaysInItsNamespaces) {
    for (const bool served : {false, true}) {
        SCOPED_TRACE(served ? "served" : "not served");
        std::optional<Served> server;
        if (served) server.emplace(folder / "data", std::vector<std::string>{"--log", "none"});
        EXPECT_EQ(run({"add", "--id", "x", "--text", "The fox of acme."}, "acme").exit_code, 0);
        EXPECT_EQ(ids("acme"), "x ");
        EXPECT_TRUE(has(run({"stats", "--json"}, "acme").output, R"("chunks":1)"));
        EXPECT_TRUE(has(run({"collections", "--json"}, "acme").output, R"("namespaces":["acme"])"));
        EXPECT_EQ(run({"stats", "--namespace", "default"}, "acme").exit_code, 1);
        EXPECT_EQ(run({"retrieve", "fox", "--namespace", "default"}, "acme").exit_code, 1);
        EXPECT_EQ(run({"add", "--text", "no", "--namespace", "default"}, "acme").exit_code, 1);
        const std::string queries = folder.write("queries.tsv", "q1\tfox\n");
        EXPECT_TRUE(has(run({"run", "--queries", queries}, "acme").output, "q1 Q0 x 1"));
        std::filesystem::create_directory(folder / "texts");
        folder.write("texts/a.txt", "A fox in a file.");
        EXPECT_EQ(run({"ingest", folder / "texts"}, "acme").exit_code, 0);
        EXPECT_TRUE(has(run({"stats", "--json"}).output, R"("chunks":4)"));
        EXPECT_EQ(run({"delete", "--document", "a.txt"}, "acme").exit_code, 0);
    }
}

TEST_F(AsTest, AgentsSeeWhatThePrincipalMaySee) {
    RunOptions with_input = options;
    with_input.input =
        R"({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})"
        "\n"
        R"({"jsonrpc": "2.0", "method": "notifications/initialized"})"
        "\n"
        R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get", "arguments": {"collection": "default", "chunk_ids": ["red", "blue"]}}})"
        "\n";
    const RunResult told = run_braid({"mcp", "--data", folder / "data", "--as", "ann"}, with_input);
    EXPECT_EQ(told.exit_code, 0) << told.errors;
    EXPECT_TRUE(has(told.output, "The fox is red.")) << told.output;
    EXPECT_FALSE(has(told.output, "The fox is blue.")) << told.output;
}

TEST(KeysAdd, WritesClearanceScopesAndNamespaces) {
    const TemporaryFolder folder;
    const std::string file = folder / "keys.json";
    const RunResult made =
        run_braid({"keys", "add", "ann", "--clearance", "normal", "--scope", "sales", "--namespace",
                   "acme", "--namespace", "acme-*", "--file", file, "--json"});
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    const auto json = json::parse(made.output);
    ASSERT_TRUE(json);
    const std::string data = folder / "data";
    const std::string corpus =
        folder.write("corpus.jsonl", R"({"_id": "a", "text": "fox"})"
                                     "\n"
                                     R"({"_id": "b", "text": "fox", "sensitivity": "restricted"})"
                                     "\n"
                                     R"({"_id": "c", "text": "fox", "visibility_scope": ["legal"]})"
                                     "\n");
    for (const char* name : {"acme", "default"}) {
        ASSERT_EQ(run_braid({"--data", data, "ingest", corpus, "--namespace", name}).exit_code, 0);
    }
    const Served server(data, {"--log", "none", "--key-file", file});
    net::HttpClientOptions client;
    client.allow_private = true;
    const auto count = [&](const std::string& namespace_) {
        const auto response = net::HttpClient(client).send(
            {.method = "POST",
             .url = server.url() + "/v1/collections/default/count",
             .headers = {{"Content-Type", "application/json"},
                         {"Authorization", "Bearer " + service::text_in(*json, "key")}},
             .body = R"({"namespace": ")" + namespace_ + "\"}"},
            {});
        return response ? response->body : response.error().message;
    };
    EXPECT_EQ(count("acme"), R"({"count":1})");
    EXPECT_TRUE(has(count("default"), "permission_denied"));
    EXPECT_EQ(run_braid({"keys", "add", "x", "--scope", "sales", "--file", file}).exit_code, 2);
    EXPECT_EQ(run_braid({"keys", "add", "x", "--namespace", "", "--file", file}).exit_code, 2);
}

}  // namespace
}  // namespace braid::cli
