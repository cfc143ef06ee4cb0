#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/core/byte_budget.hpp"
#include "braid/core/charge.hpp"
#include "braid/server/http/app.hpp"
#include "server/http_fixture.hpp"
#include "server/key_fixture.hpp"

// What requests and answers may take of the memory, each and all together.
namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::header_of;
using braid::testing::Headers;
using braid::testing::HttpTest;
using braid::testing::key_entry;
using braid::testing::ring;

/// A document of 40 chunks of 1,000 bytes each.
class HttpMemoryTest : public HttpTest {
protected:
    void open(std::size_t answer_bytes, std::size_t memory_bytes = 10'000'000) {
        memory = std::make_shared<ByteBudget>(memory_bytes);
        HttpAppOptions options;
        options.limits.answer_bytes = answer_bytes;
        options.memory = memory;
        restart(std::move(options));
    }
    void fill() {
        std::string lines;
        for (int i = 0; i < 40; ++i) {
            lines += R"({"_id": "d#)" + std::to_string(i) +
                     R"(", "document_id": "d", "chunk_index": )" + std::to_string(i) +
                     R"(, "text": "fox )" + std::string(996, static_cast<char>('a' + i % 26)) +
                     "\"}\n";
        }
        json("POST", "/v1/collections/notes/chunks", lines, 200,
             {{"Content-Type", "application/x-ndjson"}});
    }
    static std::string search(int top_k, int neighbors) {
        return R"({"query": "fox", "collection": "notes", "strategy": "sparse",
                   "keep_duplicates": true, "top_k": )" +
               std::to_string(top_k) + R"(, "expand_neighbors": )" + std::to_string(neighbors) +
               "}";
    }
    static std::string call(int id, const std::string& params) {
        return R"({"jsonrpc": "2.0", "id": )" + std::to_string(id) +
               R"(, "method": "braid.retrieve", "params": )" + params + "}";
    }

    std::shared_ptr<ByteBudget> memory;
};

TEST_F(HttpMemoryTest, StopsBuildingAnAnswerThatIsTooLarge) {
    open(50'000);
    fill();
    EXPECT_EQ(at(json("POST", "/v1/retrieve", search(20, 0)), "chunks").as_array().size(), 20U);
    json("POST", "/v1/retrieve", search(5, 2));
    // 20 hits of 41 chunks each would be 820 kB.
    const Value problem = json("POST", "/v1/retrieve", search(20, 20), 400);
    EXPECT_EQ(at(problem, "code"), Value("invalid_argument"));
    EXPECT_NE(at(problem, "detail").as_string().find("too large: one may hold 50000 bytes"),
              std::string::npos);
    json("GET", "/v1/collections/notes/chunks?limit=60");
    open(30'000);
    json("GET", "/v1/collections/notes/chunks?limit=40", "", 400);
    json("GET", "/v1/collections/notes/documents/d", "", 400);
    json("GET", "/v1/collections/notes/chunks/d%2320/neighbors?count=20", "", 400);
    EXPECT_EQ(memory->used(), 0U);
}

TEST_F(HttpMemoryTest, ExpandsHitsOfOneDocumentAsIfEachWereAlone) {
    open(10'000'000);
    fill();
    const Value answer = json("POST", "/v1/retrieve", search(40, 3));
    const Value chunks = at(answer, "chunks");
    const Array& hits = chunks.as_array();
    ASSERT_EQ(hits.size(), 40U);
    for (const Value& hit : hits) {
        const std::string id = hit.find("chunk_id")->as_string();
        const Value around =
            json("GET", "/v1/collections/notes/chunks/d%23" + id.substr(2) + "/neighbors?count=3");
        EXPECT_EQ(*hit.find("expanded"), at(around, "text")) << id;
    }
}

TEST_F(HttpMemoryTest, HoldsTheLimitOverAWholeBatch) {
    open(50'000);
    fill();
    std::string requests;
    std::string calls;
    for (int i = 0; i < 8; ++i) {
        requests += (i > 0 ? ", " : "") + search(10, 0);
        calls += (i > 0 ? ", " : "") + call(i, search(10, 0));
    }
    // Ten hits take some more than 10,000 bytes: four answers of eight fit.
    const Value batch = json("POST", "/v1/retrieve_batch", R"({"requests": [)" + requests + "]}");
    const Value replies = json("POST", "/rpc", "[" + calls + "]");
    for (std::size_t i = 0; i < 8; ++i) {
        const std::string n = std::to_string(i);
        EXPECT_EQ(at(batch, "answers." + n + ".chunks").is_array(), i < 4) << i;
        EXPECT_EQ(at(replies, n + ".result.chunks").is_array(), i < 4) << i;
        if (i < 4) continue;
        EXPECT_EQ(at(batch, "answers." + n + ".error.code"), Value("invalid_argument"));
        EXPECT_EQ(at(replies, n + ".error.code"), Value(-32602));
    }
    // A batch inside a batch shares it too.
    const std::string inner = R"({"jsonrpc": "2.0", "id": 1, "method": "braid.retrieve_batch",
        "params": {"requests": [)" +
                              requests + "]}}";
    const Value nested = json("POST", "/rpc", "[" + inner + ", " + inner + "]");
    EXPECT_TRUE(at(nested, "0.result.answers.3.chunks").is_array());
    EXPECT_TRUE(at(nested, "1.result.answers.0.chunks").is_null());
    EXPECT_EQ(memory->used(), 0U);
}

TEST_F(HttpMemoryTest, HoldsTheLimitForAgents) {
    open(5'000);
    fill();
    const Headers headers{{"MCP-Protocol-Version", "2026-07-28"},
                          {"Accept", "application/json, text/event-stream"},
                          {"Mcp-Method", "tools/call"},
                          {"Mcp-Name", "get"}};
    const auto get = [&](const std::string& ids) {
        return json("POST", "/mcp",
                    R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "get", "arguments": {"collection": "notes", "chunk_ids": )" +
                        ids +
                        R"(}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                            "io.modelcontextprotocol/clientCapabilities": {}}}})",
                    200, headers);
    };
    EXPECT_EQ(at(get(R"(["d#1", "d#2"])"), "result.isError"), Value(false));
    const Value refused = get(R"(["d#1", "d#2", "d#3", "d#4", "d#5"])");
    EXPECT_EQ(at(refused, "result.isError"), Value(true));
    EXPECT_NE(at(refused, "result.content.0.text").as_string().find("5000 bytes"),
              std::string::npos);
    EXPECT_EQ(memory->used(), 0U);
}

TEST_F(HttpMemoryTest, AnswersLaterWhenAllCallersTogetherHoldTooMuch) {
    open(50'000, 100'000);
    fill();
    {
        HeldBytes others(memory);
        ASSERT_TRUE(others.grow_to(80'000));
        const auto busy = ask("POST", "/v1/retrieve", search(20, 0));
        EXPECT_EQ(code(busy, 503), "unavailable");
        EXPECT_EQ(header_of(busy, "Retry-After"), "1");
        EXPECT_EQ(ask("POST", "/v1/retrieve", search(2, 0)).status, 200) << "small ones go on";
        // What is parsed counts as well: many small values are much more than their text.
        std::string numbers = R"({"query": "fox", "query_embedding": [0)";
        for (int i = 0; i < 40'000; ++i) numbers += ",0";
        EXPECT_EQ(code(ask("POST", "/v1/retrieve", numbers + "]}"), 503), "overloaded");
    }
    EXPECT_EQ(memory->used(), 0U);
    auto answered = ask("POST", "/v1/retrieve", search(20, 0));
    EXPECT_EQ(answered.status, 200);
    EXPECT_GE(memory->used(), answered.body.size()) << "until it is sent";
    answered = {};
    EXPECT_EQ(memory->used(), 0U);
    const auto metrics = ask("GET", "/metrics");
    EXPECT_NE(metrics.body.find("braid_memory_limit_bytes 100000"), std::string::npos);
}

TEST_F(HttpMemoryTest, CountsTextsAsTheyArePrinted) {
    for (const std::string& text :
         {std::string("plain"), std::string("\"quoted\" \\ and\nbroken\tlines"),
          std::string("\x01\x02\x1f\x00", 4), std::string("münchen 東京")}) {
        EXPECT_EQ(core::printed_size(std::string_view(text)) + 2,
                  braid::json::print(Value(text)).size())
            << text;
    }
}

TEST_F(HttpMemoryTest, CountsABatchOfManyAsMany) {
    HttpAppOptions options;
    std::string keys;
    for (const char* const name : {"a", "b", "c", "d", "e"}) {
        keys += (keys.empty() ? "" : ",") +
                key_entry(name, R"("collections": {"*": "read"}, "requests_per_second": 0.001)");
    }
    options.keys = ring(keys);
    restart(std::move(options));
    const auto as = [&](const std::string& name, const std::string& target,
                        const std::string& body) {
        return ask("POST", target, body, braid::testing::bearer(name));
    };
    const std::string one = call(1, search(1, 0));
    EXPECT_EQ(as("a", "/rpc", "[" + one + "]").status, 200);
    const auto refused = as("b", "/rpc", "[" + one + ", " + one + "]");
    EXPECT_EQ(code(refused, 429), "rate_limited");
    EXPECT_GE(std::stoi(header_of(refused, "Retry-After")), 1);
    const std::string two = R"({"requests": [)" + search(1, 0) + ", " + search(1, 0) + "]}";
    EXPECT_EQ(code(as("c", "/v1/retrieve_batch", two), 429), "rate_limited");
    EXPECT_EQ(code(as("d", "/rpc",
                      R"({"jsonrpc": "2.0", "id": 1, "method": "braid.retrieve_batch",
                                       "params": [)" +
                          two + "]}"),
                   429),
              "rate_limited");
    EXPECT_EQ(code(as("e", "/v1/eval", R"({"queries": [{"id": "1", "text": "x"},
        {"id": "2", "text": "y"}], "qrels": {"1": {"d": 1}}})"),
                   429),
              "rate_limited");
}

}  // namespace
}  // namespace braid::server
