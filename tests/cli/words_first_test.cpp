// The program on a database whose embedding endpoint has stopped answering: words answer in time.

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "braid/net/client/http_client.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"
#include "net/http_test_server.hpp"

namespace braid::cli {
namespace {

using braid::testing::kAnimals;
using braid::testing::run_braid;
using braid::testing::RunningBraid;
using braid::testing::RunOptions;
using braid::testing::TemporaryFolder;

class WordsFirstProgram : public ::testing::Test {
protected:
    WordsFirstProgram()
        : endpoint([this](const net::ReceivedRequest& request, net::TestConnection& connection) {
              if (hangs) {
                  connection.say_nothing();
                  return false;
              }
              connection.reply(200, vectors_for(request.body));
              return true;
          }) {
        options.environment = {{"BRAID_EMBEDDER", "openai"},
                               {"BRAID_OPENAI_BASE_URL", endpoint.url("/v1")},
                               {"BRAID_OPENAI_API_KEY", "none"}};
        RunOptions adding = options;
        adding.input = kAnimals;
        const auto added = run_braid({"--data", data(), "ingest", "-"}, adding);
        EXPECT_EQ(added.exit_code, 0) << added.errors;
        hangs = true;
    }

    static std::string vectors_for(const std::string& request) {
        const std::size_t count = json::parse(request)->find("input")->as_array().size();
        Array vectors;
        for (std::size_t i = 0; i < count; ++i) {
            vectors.emplace_back(Object{{"index", Value(i)}, {"embedding", Array{1.0, 0.5, 0.25}}});
        }
        return json::print(Object{{"data", std::move(vectors)}});
    }

    std::string data() const { return folder / "data"; }

    static void expect_words_only(const std::string& text) {
        const auto answer = json::parse(text);
        ASSERT_TRUE(answer) << text;
        ASSERT_NE(answer->find("complete"), nullptr) << text;
        EXPECT_FALSE(answer->find("complete")->as_bool());
        const Array& chunks = answer->find("chunks")->as_array();
        ASSERT_EQ(chunks.size(), 1U);
        EXPECT_EQ(chunks.front().find("chunk_id")->as_string(), "oak");
        const Value& dense = answer->find("sources")->as_array().front();
        EXPECT_EQ(dense.find("source")->as_string(), "dense");
        EXPECT_FALSE(dense.find("error")->as_string().empty());
    }

    TemporaryFolder folder;
    std::atomic<bool> hangs = false;
    net::HttpTestServer endpoint;
    RunOptions options;
};

TEST_F(WordsFirstProgram, AColdCommandAnswersInSpiteOfTheEndpoint) {
    const auto found = run_braid(
        {"--data", data(), "retrieve", "trees", "--deadline-ms", "800", "--json"}, options);
    EXPECT_EQ(found.exit_code, 0) << found.errors;
    expect_words_only(found.output);
}

TEST_F(WordsFirstProgram, AServerAnswersInSpiteOfTheEndpoint) {
    RunningBraid server(
        {"--data", data(), "serve", "--port", "0", "--json", "--max-deadline-ms", "800"}, options);
    const auto facts = json::parse(server.read_line().value_or("{}"));
    ASSERT_TRUE(facts && facts->find("listening") != nullptr);
    const std::string url = facts->find("listening")->as_string();
    net::HttpClientOptions direct;
    direct.allow_private = true;
    const net::HttpClient client(direct);
    const auto post = [&](const std::string& path, const std::string& body,
                          std::vector<net::HttpHeader> headers = {}) {
        headers.push_back({"Content-Type", "application/json"});
        auto response = client.send(
            {.method = "POST", .url = url + path, .headers = std::move(headers), .body = body}, {});
        EXPECT_TRUE(response) << (response ? "" : response.error().message);
        if (!response) return std::string("{}");
        EXPECT_EQ(response->status, 200) << response->body;
        return response->body;
    };
    expect_words_only(post("/v1/retrieve", R"({"query": "trees", "deadline_ms": 600})"));
    expect_words_only(post("/v1/retrieve", R"({"query": "trees"})"));  // the server's own deadline
    const auto rpc =
        json::parse(post("/rpc", R"({"jsonrpc": "2.0", "id": 1, "method": "braid.retrieve",
                    "params": {"query": "trees", "deadline_ms": 600}})"));
    ASSERT_TRUE(rpc && rpc->find("result") != nullptr);
    expect_words_only(json::print(*rpc->find("result")));
    const auto expect_words = [](const Value* found) {
        ASSERT_NE(found, nullptr);
        ASSERT_NE(found->find("complete"), nullptr) << json::print(*found);
        EXPECT_FALSE(found->find("complete")->as_bool());
        EXPECT_EQ(found->find("results")->as_array().size(), 1U);
    };
    const auto hybrid = json::parse(post("/v1/hybrid_search", R"({"query": "trees"})"));
    expect_words(hybrid ? &*hybrid : nullptr);
    const auto mcp = json::parse(post("/mcp",
                                      R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                 "params": {"name": "hybrid_search", "arguments": {"query": "trees"},
                            "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                                      "io.modelcontextprotocol/clientCapabilities": {}}}})",
                                      {{"Accept", "application/json, text/event-stream"},
                                       {"MCP-Protocol-Version", "2026-07-28"},
                                       {"Mcp-Method", "tools/call"},
                                       {"Mcp-Name", "hybrid_search"}}));
    ASSERT_TRUE(mcp && mcp->find("result") != nullptr);
    expect_words(mcp->find("result")->find("structuredContent"));
    // The command line, through that server.
    const auto found = run_braid(
        {"--data", data(), "retrieve", "trees", "--deadline-ms", "600", "--json"}, options);
    EXPECT_EQ(found.exit_code, 0) << found.errors;
    expect_words_only(found.output);
}

TEST_F(WordsFirstProgram, AServedCollectionIsEmbeddedAnew) {
    hangs = false;
    RunningBraid server({"--data", data(), "serve", "--port", "0", "--json"}, options);
    const auto facts = json::parse(server.read_line().value_or("{}"));
    ASSERT_TRUE(facts && facts->find("listening") != nullptr);
    const auto reembed = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"--data", data(), "reembed"});
        return run_braid(words, options);
    };
    const auto done = reembed({"--json"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    const auto report = json::parse(done.output);
    ASSERT_TRUE(report && report->find("embedded") != nullptr) << done.output;
    EXPECT_EQ(report->find("embedded")->as_int(), 3);
    EXPECT_EQ(report->find("chunks")->as_int(), 3);
    EXPECT_TRUE(report->find("embedder")->as_string().starts_with("openai"));
    EXPECT_NE(reembed({}).output.find("3 of 3 chunks were embedded"), std::string::npos);
    EXPECT_NE(reembed({"--embedder", "openai:other"}).exit_code, 0)
        << "its operator did not configure that one";
    EXPECT_EQ(reembed({"--collection", "no"}).exit_code, 3);

    net::HttpClientOptions direct;
    direct.allow_private = true;
    const net::HttpClient client(direct);
    const auto post = [&](const std::string& path, const std::string& body) {
        auto response = client.send({.method = "POST",
                                     .url = facts->find("listening")->as_string() + path,
                                     .headers = {{"Content-Type", "application/json"}},
                                     .body = body},
                                    {});
        return response ? std::to_string(response->status) + " " + response->body
                        : response.error().message;
    };
    const std::string here = "/v1/collections/default/reembed";
    EXPECT_EQ(post(here, "{}").substr(0, 3), "200");
    EXPECT_NE(post(here, "").find(R"("embedded":3)"), std::string::npos);
    EXPECT_EQ(post(here, R"({"embedder": "nobody"})").substr(0, 3), "404");
    EXPECT_EQ(post(here, R"({"embeder": "none"})").substr(0, 3), "400");
    EXPECT_NE(post("/rpc", R"({"jsonrpc": "2.0", "id": 1, "method": "braid.reembed",
                               "params": {"collection": "default"}})")
                  .find(R"("embedded":3)"),
              std::string::npos);
}

}  // namespace
}  // namespace braid::cli
