// 10,000 damaged requests per door, made of valid ones: no crash, no 500, always an answer.

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "server/http_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::header_of;
using braid::testing::Headers;
using braid::testing::http_request;
using braid::testing::HttpTest;
using braid::testing::parsed;
using braid::testing::send;

constexpr unsigned kRequests = 10'000;

Value random_value(std::mt19937& rng) {
    switch (rng() % 12) {
        case 0:
            return {};
        case 1:
            return Value(true);
        case 2:
            return Value(-1);
        case 3:
            return Value(0);
        case 4:
            return Value(std::int64_t{1} << 62);
        case 5:
            return Value(1e308);
        case 6:
            return Value("");
        case 7:
            return Value(std::string(1 + rng() % 2000, 'x'));
        case 8:
            return Value("\xF0\x9F\xA6\x8A \xE2\x80\xAE * ? ../ %00");
        case 9:
            return Array{Value(1), Value("a"), Array{}};
        case 10:
            return Object{{"$gt", Value("x")}, {"$nope", Value(1)}};
        default:
            return Value(0.5);
    }
}

/// Puts a random value somewhere into a JSON value.
void damage(Value& value, std::mt19937& rng, int depth = 0) {
    if (depth < 6 && rng() % 4 != 0) {
        if (value.is_array() && !value.as_array().empty()) {
            damage(value.as_array()[rng() % value.as_array().size()], rng, depth + 1);
            return;
        }
        if (value.is_object() && !value.as_object().empty()) {
            auto& object = value.as_object();
            const auto member = object.begin() + static_cast<std::ptrdiff_t>(rng() % object.size());
            if (rng() % 6 == 0) {
                const std::string key = member->first;
                object.erase(key);
            } else if (rng() % 6 == 0) {
                object.set(member->first + "x", random_value(rng));
            } else {
                damage(member->second, rng, depth + 1);
            }
            return;
        }
    }
    value = random_value(rng);
}

void damage(std::string& text, std::mt19937& rng) {
    if (text.empty()) text = "x";
    const std::size_t place = rng() % text.size();
    switch (rng() % 4) {
        case 0:
            text[place] = static_cast<char>(rng() % 256);
            break;
        case 1:
            text.erase(place, 1 + rng() % 8);
            break;
        case 2:
            text.insert(place, text.substr(rng() % text.size(), rng() % 20));
            break;
        default:
            text.resize(place);
    }
}

net::IncomingRequest damaged(net::IncomingRequest request, std::mt19937& rng) {
    for (unsigned i = 0; i <= rng() % 3; ++i) {
        switch (rng() % 10) {
            case 0: {
                const std::vector<std::string> methods{"GET",   "PUT",     "DELETE", "PATCH",
                                                       "TRACE", "OPTIONS", "",       "get"};
                request.method = methods[rng() % methods.size()];
                break;
            }
            case 1:
                damage(request.target, rng);
                break;
            case 2: {
                net::HttpHeader& header = request.headers[rng() % request.headers.size()];
                damage(rng() % 2 == 0 ? header.name : header.value, rng);
                break;
            }
            case 3:
            case 4:
            case 5:
                damage(request.body, rng);
                break;
            default: {
                auto json = json::parse(request.body);
                if (!json) break;
                damage(*json, rng);
                request.body = json::print(*json);
            }
        }
    }
    return request;
}

class HttpFuzz : public HttpTest {
protected:
    HttpFuzz() {
        HttpAppOptions options;
        options.allow_writes = true;
        // Lines are made, though nobody reads them.
        options.log = [this](std::string_view line) { logged += line.size(); };
        options.log_texts = true;
        options.audit = [this](std::string_view line) { logged += line.size(); };
        restart(std::move(options));
        add_notes();
    }

    /// Every answer is whole: a known status, a name, and JSON if there is a body.
    void run(const std::vector<net::IncomingRequest>& seeds) {
        std::map<int, int> statuses;
        for (unsigned seed = 0; seed < kRequests; ++seed) {
            SCOPED_TRACE(::testing::Message() << "seed " << seed);
            std::mt19937 rng(seed);
            const auto request = damaged(seeds[seed % seeds.size()], rng);
            const auto response = send(*app, request);
            ++statuses[response.status];
            ASSERT_NE(response.status, 500) << request.target << "\n" << request.body;
            ASSERT_GE(response.status, 200);
            ASSERT_LT(response.status, 505);
            ASSERT_FALSE(header_of(response, "X-Request-Id").empty());
            for (const net::HttpHeader& header : response.headers) {
                ASSERT_EQ(header.value.find_first_of("\r\n"), std::string::npos) << header.name;
            }
            if (response.body.empty() || header_of(response, "Content-Type").starts_with("text/")) {
                continue;
            }
            const Value answer = parsed(response.body);
            const Value& first =
                answer.is_array() && !answer.as_array().empty() ? answer.as_array()[0] : answer;
            ASSERT_NE(at(first.is_object() ? first : Value(Object{}), "error.code"), Value(-32603))
                << request.body;
        }
        EXPECT_GT(statuses[200], 100) << "damage that leaves nothing of the requests tests nothing";
        EXPECT_GT(statuses[400], 100);
    }

    std::size_t logged = 0;
};

TEST_F(HttpFuzz, RestSurvives) {
    const std::string notes = "/v1/collections/notes";
    const Headers keys{{"Idempotency-Key", "k"}, {"X-Request-Id", "r"}, {"Accept", "*/*"}};
    const Headers lines{{"Content-Type", "application/x-ndjson"}};
    run({http_request("POST", "/v1/retrieve",
                      R"({"query": "fox", "collection": "notes", "top_k": 3, "strategy": "hybrid",
                "filter": {"$or": [{"year": {"$gte": 2000}}, {"kind": {"$in": ["plant"]}}]},
                "fusion": {"method": "rrf", "k": 60}, "stages": [{"min_score": {"value": 0}}],
                "expand_neighbors": 1, "deadline_ms": 500})"),
         http_request("POST", "/v1/retrieve_batch",
                      R"({"requests": [{"query": "fox", "collection": "notes"}]})"),
         http_request("POST", "/v1/context",
                      R"({"query": "fox", "collection": "notes", "budget": 100})"),
         http_request("POST", "/v1/explain",
                      R"({"query": "fox", "collection": "notes", "chunk_id": "oak"})"),
         http_request("POST", "/v1/why_not",
                      R"({"query": "fox", "collection": "notes", "chunk_id": "oak", "top_k": 1})"),
         http_request("POST", "/v1/hybrid_search",
                      R"({"query": "fox", "limit": 5, "filters": {"artifact_type": "doc"}})"),
         http_request("POST", "/v1/eval", R"({"queries": [{"id": "q", "text": "oak"}],
                "qrels": {"q": {"oak": 1}}, "measures": ["nDCG@10", "P(rel=2)@5"],
                "request": {"collection": "notes"}, "per_query": true})"),
         http_request("GET", notes + "/chunks?limit=2&after=a&vectors=true", "", keys),
         http_request("GET", notes + "/chunks/fox%230/neighbors?count=2", ""),
         http_request("GET", notes + "/documents/fox", ""),
         http_request("POST", notes + "/facets", R"({"field": "kind", "limit": 3})"),
         http_request("PUT", notes + "/chunks/new", R"({"text": "new", "metadata": {"a": [1]},
                "created_at": "2020-01-01T00:00:00Z", "visibility_scope": ["x"]})",
                      keys),
         http_request("PATCH", notes + "/chunks/new?if_version=3", R"({"metadata": {"a": 1}})"),
         http_request("POST", notes + "/delete", R"({"filter": {"kind": "none"}})"),
         http_request(
             "POST", notes + "/chunks",
             "{\"_id\": \"l1\", \"text\": \"one\"}\n{\"_id\": \"l2\", \"text\": \"two\"}\n", lines),
         http_request("PUT", notes + "/documents/doc",
                      R"({"text": "# A\n\nb", "format": "plain"})"),
         http_request("POST", "/v1/collections",
                      R"({"name": "made", "schema": {"embedder": "none", "bm25": {"k1": 1.2}}})"),
         http_request("DELETE", "/v1/collections/made", ""),
         http_request("GET", "/v1/openapi.json", ""),
         http_request("GET", "/metrics", "")});
}

TEST_F(HttpFuzz, JsonRpcSurvives) {
    run({http_request(
             "POST", "/rpc",
             R"({"jsonrpc":"2.0","id":1,"method":"braid.retrieve","params":{"query":"fox","collection":"notes","top_k":3}})"),
         http_request(
             "POST", "/rpc",
             R"([{"jsonrpc":"2.0","id":1,"method":"braid.add","params":{"collection":"notes","chunks":[{"_id":"x","text":"y"}]}},{"jsonrpc":"2.0","method":"braid.count"}])"),
         http_request(
             "POST", "/rpc",
             R"({"jsonrpc":"2.0","id":"q","method":"cstp.indexDecisions","params":{"decisions":[{"id":"d1","summary":"s","reasons":[{"text":"r"}]}]}})"),
         http_request(
             "POST", "/rpc",
             R"({"jsonrpc":"2.0","id":"q","method":"cstp.queryDecisions","params":{"query":"s","retrieval_mode":"hybrid","top_k":3}})"),
         http_request(
             "POST", "/rpc",
             R"({"jsonrpc":"2.0","id":1,"method":"braid.eval","params":{"queries":[{"id":"q","text":"oak"}],"qrels":{"q":{"oak":1}}}})"),
         http_request(
             "POST", "/rpc",
             R"({"jsonrpc":"2.0","id":1,"method":"braid.scan","params":{"collection":"notes","limit":2}})"),
         // What is damaged in the head never reaches the method: 400 comes from there.
         http_request("POST", "/rpc?x=%41", R"({"jsonrpc":"2.0","id":1,"method":"braid.stats"})")});
}

TEST_F(HttpFuzz, McpSurvives) {
    const std::string meta =
        R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";
    const auto modern = [&](const std::string& method, const std::string& params,
                            const std::string& name = "") {
        Headers headers{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", method}};
        if (!name.empty()) headers.push_back({"Mcp-Name", name});
        return http_request("POST", "/mcp",
                            R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" +
                                meta + params + "}}",
                            headers);
    };
    const auto call = [&](const std::string& tool, const std::string& arguments) {
        return modern("tools/call", R"(,"name":")" + tool + R"(","arguments":)" + arguments, tool);
    };
    const auto opened = ask(
        "POST", "/mcp",
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})");
    const Headers session{{"Mcp-Session-Id", header_of(opened, "Mcp-Session-Id")}};
    run({modern("server/discover", ""), modern("tools/list", ""),
         call("hybrid_search", R"({"query":"fox","limit":3,"filters":{"artifact_type":"doc"}})"),
         call("get", R"({"collection":"notes","chunk_ids":["oak"]})"),
         call("explain", R"({"collection":"notes","chunk_id":"oak","query":"oak"})"),
         call("neighbors", R"({"collection":"notes","chunk_id":"fox#0","count":1})"),
         call("remember", R"({"text":"The user likes foxes.","metadata":{"a":1}})"),
         call("ingest", R"({"document_id":"d","text":"# A\n\nb"})"),
         call("forget", R"({"chunk_ids":["m"]})"),
         http_request("POST", "/mcp", R"({"jsonrpc":"2.0","id":7,"method":"tools/list"})", session),
         http_request(
             "POST", "/mcp",
             R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_collections"}})",
             session),
         http_request(
             "POST", "/mcp",
             R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})"),
         http_request("DELETE", "/mcp", "", {{"Mcp-Session-Id", "none"}})});
}

}  // namespace
}  // namespace braid::server
