#include <chrono>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "braid/server/http/mcp.hpp"
#include "server/http_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::header_of;
using braid::testing::Headers;
using braid::testing::HttpTest;
using braid::testing::memory_database;
using braid::testing::parsed;
using braid::testing::send;

constexpr std::string_view kModernMeta =
    R"("_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                 "io.modelcontextprotocol/clientCapabilities": {}})";

std::string message(const std::string& method, const std::string& params, int id = 1) {
    return R"({"jsonrpc": "2.0", "id": )" + std::to_string(id) + R"(, "method": ")" + method +
           R"(", "params": {)" + params + "}}";
}

Headers modern_headers(const std::string& method, const std::string& name = "") {
    Headers headers{{"Accept", "application/json, text/event-stream"},
                    {"MCP-Protocol-Version", "2026-07-28"},
                    {"Mcp-Method", method}};
    if (!name.empty()) headers.push_back({"Mcp-Name", name});
    return headers;
}

class McpHttpTest : public HttpTest {
protected:
    McpHttpTest() {
        HttpAppOptions options;
        options.allow_writes = true;
        restart(std::move(options));
    }
    Value mcp(const std::string& body, int status, const Headers& headers) {
        return json("POST", "/mcp", body, status, headers);
    }
    std::string open_session() {
        const auto response =
            ask("POST", "/mcp",
                message("initialize", R"("protocolVersion": "2025-06-18", "capabilities": {},
                        "clientInfo": {"name": "test", "version": "1"})"));
        EXPECT_EQ(response.status, 200) << response.body;
        EXPECT_EQ(at(parsed(response.body), "result.protocolVersion"), Value("2025-06-18"));
        return header_of(response, "Mcp-Session-Id");
    }
    const std::string meta{kModernMeta};
};

TEST_F(McpHttpTest, ServesModernClientsWithoutState) {
    const Value found =
        mcp(message("server/discover", meta), 200, modern_headers("server/discover"));
    EXPECT_EQ(at(found, "result.supportedVersions.0"), Value("2026-07-28"));
    const Value tools = mcp(message("tools/list", meta), 200, modern_headers("tools/list"));
    EXPECT_EQ(at(tools, "result.tools").as_array().size(), 9U);
    const std::string call =
        meta + R"(, "name": "remember", "arguments": {"text": "The user likes foxes."})";
    const auto response =
        ask("POST", "/mcp", message("tools/call", call), modern_headers("tools/call", "remember"));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(header_of(response, "Content-Type"), "application/json");
    EXPECT_EQ(header_of(response, "Mcp-Session-Id"), "");
    EXPECT_EQ(at(parsed(response.body), "result.isError"), Value(false)) << response.body;
}

TEST_F(McpHttpTest, ComparesHeadersWithTheBody) {
    const std::string call = meta + R"(, "name": "list_collections", "arguments": {})";
    const auto wrong = [&](const Headers& headers) {
        const Value reply = mcp(message("tools/call", call), 400, headers);
        EXPECT_EQ(at(reply, "id"), Value(1));
        return at(reply, "error.code");
    };
    const Value mismatch(-32020);
    mcp(message("tools/call", call), 200, modern_headers("tools/call", "list_collections"));
    mcp(message("tools/call", call), 200,
        modern_headers("tools/call", "=?base64?bGlzdF9jb2xsZWN0aW9ucw==?="));
    EXPECT_EQ(wrong(modern_headers("tools/call", "get")), mismatch);
    EXPECT_EQ(wrong(modern_headers("tools/call", "=?base64?*?=")), mismatch);
    EXPECT_EQ(wrong(modern_headers("tools/call")), mismatch);
    EXPECT_EQ(wrong(modern_headers("tools/list", "list_collections")), mismatch);
    EXPECT_EQ(wrong({{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Name", "list_collections"}}),
              mismatch);
    EXPECT_EQ(wrong({{"Mcp-Method", "tools/call"}, {"Mcp-Name", "list_collections"}}), mismatch);
    EXPECT_EQ(wrong({{"MCP-Protocol-Version", "2025-11-25"},
                     {"Mcp-Method", "tools/call"},
                     {"Mcp-Name", "list_collections"}}),
              mismatch);
}

TEST_F(McpHttpTest, GivesErrorsTheirStatus) {
    const Headers list = modern_headers("tools/list");
    EXPECT_EQ(at(mcp(message("nothing", meta), 404, modern_headers("nothing")), "error.code"),
              Value(-32601));
    const std::string future = R"("_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {}})";
    EXPECT_EQ(at(mcp(message("tools/list", future), 400,
                     {{"MCP-Protocol-Version", "2099-01-01"}, {"Mcp-Method", "tools/list"}}),
                 "error.code"),
              Value(-32022));
    EXPECT_EQ(at(mcp(message("tools/list", ""), 400, list), "error.code"), Value(-32602));
    EXPECT_EQ(at(mcp("[" + message("tools/list", meta) + "]", 400, list), "error.code"),
              Value(-32600));
    EXPECT_EQ(at(mcp("{", 400, list), "error.code"), Value(-32700));
    EXPECT_EQ(at(mcp("7", 400, list), "error.code"), Value(-32600));
    const auto notification =
        ask("POST", "/mcp",
            R"({"jsonrpc": "2.0", "method": "notifications/x", "params": {)" + meta + "}}", list);
    EXPECT_EQ(notification.status, 202);
    EXPECT_EQ(notification.body, "");
    const auto get = ask("GET", "/mcp", "", {{"Accept", "text/event-stream"}});
    EXPECT_EQ(code(get, 405), "method_not_allowed");
    EXPECT_EQ(header_of(get, "Allow"), "POST, DELETE");
    EXPECT_EQ(
        code(ask("POST", "/mcp", message("tools/list", meta), {{"Origin", "http://evil.example"}}),
             403),
        "origin_refused");
    EXPECT_EQ(code(ask("POST", "/mcp", "{}", {{"Accept", "text/event-stream"}}), 406),
              "not_acceptable");
    EXPECT_EQ(code(ask("POST", "/mcp", "{}", {{"Content-Type", "text/plain"}}), 415),
              "unsupported_media_type");
}

TEST_F(McpHttpTest, KeepsSessionsForOlderClients) {
    const std::string id = open_session();
    EXPECT_EQ(id.size(), 43U);
    const Headers session{{"Mcp-Session-Id", id}, {"MCP-Protocol-Version", "2025-06-18"}};
    EXPECT_EQ(
        ask("POST", "/mcp", R"({"jsonrpc": "2.0", "method": "notifications/initialized"})", session)
            .status,
        202);
    const Value list = mcp(message("tools/list", ""), 200, session);
    EXPECT_EQ(at(list, "result.tools.0.name"), Value("hybrid_search"));
    EXPECT_EQ(at(list, "result").find("resultType"), nullptr);
    EXPECT_EQ(at(mcp(message("ping", ""), 200, session), "result"), Value(Object{}));
    EXPECT_EQ(at(mcp(message("nothing", ""), 200, session), "error.code"), Value(-32601));
    EXPECT_EQ(at(mcp(message("tools/list", ""), 400, {}), "error.code"), Value(-32600));
    mcp(message("tools/list", ""), 404, {{"Mcp-Session-Id", "no such session"}});
    mcp(message("tools/list", ""), 400,
        {{"Mcp-Session-Id", id}, {"MCP-Protocol-Version", "1999-01-01"}});
    EXPECT_EQ(ask("DELETE", "/mcp", "", {{"Mcp-Session-Id", "other"}}).status, 404);
    EXPECT_EQ(ask("DELETE", "/mcp").status, 400);
    EXPECT_EQ(ask("DELETE", "/mcp", "", session).status, 204);
    mcp(message("tools/list", ""), 404, session);
    EXPECT_EQ(ask("POST", "/mcp", message("initialize", "")).status, 400);
}

TEST_F(McpHttpTest, StopsWhenTheClientIsGone) {
    json("PUT", "/v1/collections/memory/chunks/m", R"({"text": "a fox"})");
    const std::stop_source gone;
    gone.request_stop();
    auto request = braid::testing::http_request(
        "POST", "/mcp",
        message("tools/call", meta + R"(, "name": "memory_search", "arguments": {"query": "fox"})"),
        modern_headers("tools/call", "memory_search"));
    EXPECT_EQ(at(parsed(send(*app, request).body), "result.isError"), Value(false));
    request.gone = gone.get_token();
    EXPECT_EQ(at(parsed(send(*app, request).body), "result.isError"), Value(true));
}

TEST(McpHttp, BoundsSessionsInNumberAndAge) {
    Database database = memory_database();
    const McpServer server(database);
    McpHttp http(server, {.max_sessions = 3, .session_age = std::chrono::seconds(60)});
    const auto start = McpHttp::Clock::now();
    const auto open = [&](const std::string& owner, McpHttp::Clock::time_point now) {
        const auto request = braid::testing::http_request(
            "POST", "/mcp", message("initialize", R"("protocolVersion": "2025-06-18")"));
        return header_of(http.handle(request, {}, owner, now), "Mcp-Session-Id");
    };
    const auto ping = [&](const std::string& id, const std::string& owner,
                          McpHttp::Clock::time_point now) {
        const auto request = braid::testing::http_request("POST", "/mcp", message("ping", ""),
                                                          {{"Mcp-Session-Id", id}});
        return http.handle(request, {}, owner, now).status;
    };
    const std::string first = open("a", start);
    EXPECT_EQ(ping(first, "a", start), 200);
    EXPECT_EQ(ping(first, "b", start), 404) << "another's session";
    std::set<std::string> ids{first};
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(ids.insert(open("b", start)).second);
    EXPECT_EQ(http.sessions(), 3U);
    EXPECT_EQ(ping(first, "a", start), 200) << "b can push out only b's";
    EXPECT_EQ(ping(first, "a", start + std::chrono::seconds(59)), 200);
    EXPECT_EQ(http.sessions(), 3U);
    EXPECT_EQ(ping(first, "a", start + std::chrono::seconds(118)), 200);
    EXPECT_EQ(http.sessions(), 1U);
    EXPECT_EQ(ping(first, "a", start + std::chrono::seconds(179)), 404);
    EXPECT_EQ(http.sessions(), 0U);
}

TEST(McpHttp, DecodesHeaderValues) {
    EXPECT_EQ(decode_mcp_header("us-west1"), "us-west1");
    EXPECT_EQ(decode_mcp_header("=?base64?SGVsbG8sIOS4lueVjA==?="), "Hello, \u4E16\u754C");
    EXPECT_EQ(decode_mcp_header("=?base64?IHBhZGRlZCA=?="), " padded ");
    EXPECT_EQ(decode_mcp_header("=?base64?"
                                "?="),
              "");
    EXPECT_EQ(decode_mcp_header("=?base64?*?="), std::nullopt);
    EXPECT_EQ(decode_mcp_header("=?base64?="), "=?base64?=");
}

}  // namespace
}  // namespace braid::server
