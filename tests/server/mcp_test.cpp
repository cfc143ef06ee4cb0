#include <algorithm>
#include <array>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "braid/server/mcp/agent.hpp"
#include "braid/server/mcp/stdio.hpp"
#include "server/service_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::memory_database;
using braid::testing::parsed;

const std::string kMeta =
    R"("_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                 "io.modelcontextprotocol/clientCapabilities": {}})";

std::string request(const std::string& method, const std::string& params, int id = 1) {
    return R"({"jsonrpc": "2.0", "id": )" + std::to_string(id) + R"(, "method": ")" + method +
           R"(", "params": {)" + params + "}}";
}

class McpTest : public ::testing::Test {
protected:
    explicit McpTest(bool allow_writes = true)
        : server(database, {.profiles = {}, .embedder = "fake"},
                 {.allow_writes = allow_writes, .version = "1.2.3"}) {}

    Value raw(const std::string& body) {
        const auto reply = session.handle(body, caller);
        EXPECT_TRUE(reply) << body;
        return parsed(reply.value_or("null"));
    }
    /// In the new era.
    Value modern(const std::string& method, const std::string& params = "") {
        return raw(request(method, kMeta + (params.empty() ? "" : ", ") + params));
    }
    Value call(const std::string& tool, const std::string& arguments) {
        const Value reply =
            modern("tools/call", R"("name": ")" + tool + R"(", "arguments": )" + arguments);
        EXPECT_EQ(reply.find("error"), nullptr) << json::print(reply);
        return at(reply, "result");
    }
    /// The structured content of a call that succeeds.
    Value structured(const std::string& tool, const std::string& arguments) {
        const Value result = call(tool, arguments);
        EXPECT_EQ(at(result, "isError"), Value(false)) << json::print(result);
        return at(result, "structuredContent");
    }
    std::string complaint(const std::string& tool, const std::string& arguments) {
        const Value result = call(tool, arguments);
        EXPECT_EQ(at(result, "isError"), Value(true)) << json::print(result);
        EXPECT_EQ(result.find("structuredContent"), nullptr);
        return at(result, "content.0.text").as_string();
    }
    void ingest() {
        structured("ingest", R"({"document_id": "fox", "text":
            "# Foxes\n\nRed foxes hunt mice.\n\n## Dusk\n\nThey hunt at dusk.",
            "metadata": {"artifact_type": "doc", "source_url": "https://example.com/fox"}})");
        structured("remember", R"({"text": "The user likes foxes.", "id": "m1"})");
    }

    Database database = memory_database();
    McpServer server;
    McpSession session{server};
    service::Caller caller;
};

class ReadingMcpTest : public McpTest {
protected:
    ReadingMcpTest() : McpTest(false) {}
};

TEST_F(McpTest, TellsModernClientsWhatItIs) {
    const Value result = at(modern("server/discover"), "result");
    EXPECT_EQ(at(result, "supportedVersions.0"), Value("2026-07-28"));
    EXPECT_EQ(at(result, "resultType"), Value("complete"));
    EXPECT_TRUE(at(result, "capabilities.tools").is_object());
    EXPECT_TRUE(at(result, "ttlMs").is_int());
    EXPECT_EQ(at(result, "cacheScope"), Value("private"));
    const Value meta = at(result, "_meta");
    EXPECT_EQ(at(*meta.find("io.modelcontextprotocol/serverInfo"), "version"), Value("1.2.3"));
    EXPECT_EQ(session.legacy_version(), std::nullopt);
}

TEST_F(McpTest, RefusesVersionsItDoesNotKnow) {
    const Value reply = raw(
        request("tools/list", R"("_meta": {"io.modelcontextprotocol/protocolVersion": "1900-01-01",
                                   "io.modelcontextprotocol/clientCapabilities": {}})"));
    EXPECT_EQ(at(reply, "error.code"), Value(-32022));
    EXPECT_EQ(at(reply, "error.data.requested"), Value("1900-01-01"));
    EXPECT_EQ(at(reply, "error.data.supported.0"), Value("2026-07-28"));
}

TEST_F(McpTest, AsksModernClientsForTheirMetadata) {
    EXPECT_EQ(at(raw(request("tools/list", "")), "error.code"), Value(kInvalidParams));
    EXPECT_EQ(at(raw(request("server/discover", "")), "error.code"), Value(kInvalidParams));
    EXPECT_EQ(
        at(raw(request("tools/list", R"("_meta": {"io.modelcontextprotocol/protocolVersion": 3})")),
           "error.code"),
        Value(kInvalidParams));
    EXPECT_EQ(
        at(raw(request("tools/list",
                       R"("_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"})")),
           "error.code"),
        Value(kInvalidParams));
    EXPECT_EQ(at(modern("ping"), "error.code"), Value(kMethodNotFound));
    EXPECT_EQ(at(modern("initialize"), "error.code"), Value(kMethodNotFound));
}

TEST_F(McpTest, ShakesHandsWithOlderClients) {
    EXPECT_EQ(at(raw(request("ping", "")), "result"), Value(Object{}));
    for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
        const Value result =
            at(raw(request("initialize", R"("protocolVersion": ")" + std::string(version) +
                                             R"(", "capabilities": {})")),
               "result");
        EXPECT_EQ(at(result, "protocolVersion"), Value(version));
        EXPECT_EQ(at(result, "serverInfo.name"), Value("braid"));
        EXPECT_EQ(result.find("resultType"), nullptr);
    }
    EXPECT_EQ(at(raw(request("initialize", R"("protocolVersion": "2099-01-01")")),
                 "result.protocolVersion"),
              Value("2025-11-25"));
    EXPECT_EQ(session.handle(R"({"jsonrpc": "2.0", "method": "notifications/initialized"})", {}),
              std::nullopt);
    const Value list = at(raw(request("tools/list", "")), "result");
    EXPECT_EQ(at(list, "tools.0.name"), Value("hybrid_search"));
    EXPECT_EQ(list.find("resultType"), nullptr);
    EXPECT_EQ(list.find("ttlMs"), nullptr);
    EXPECT_EQ(at(raw(request("initialize", "")), "error.code"), Value(kInvalidParams));
    EXPECT_EQ(at(raw(request("resources/list", "")), "error.code"), Value(kMethodNotFound));
}

TEST_F(McpTest, ServesBothErasAtOnce) {
    raw(request("initialize", R"("protocolVersion": "2025-06-18")"));
    EXPECT_EQ(at(modern("tools/list"), "result.resultType"), Value("complete"));
    EXPECT_EQ(at(raw(request("tools/list", "")), "result").find("resultType"), nullptr);
}

TEST_F(McpTest, ListsItsToolsWithSchemas) {
    const Value list = at(modern("tools/list"), "result.tools");
    std::vector<std::string> names;
    for (const Value& tool : list.as_array()) {
        names.push_back(at(tool, "name").as_string());
        EXPECT_EQ(at(tool, "inputSchema.type"), Value("object")) << names.back();
        EXPECT_EQ(at(tool, "outputSchema.type"), Value("object")) << names.back();
        EXPECT_FALSE(at(tool, "description").as_string().empty());
        EXPECT_EQ(at(tool, "annotations.openWorldHint"), Value(false));
    }
    EXPECT_EQ(names, (std::vector<std::string>{"hybrid_search", "memory_search", "get", "neighbors",
                                               "list_collections", "explain", "remember", "ingest",
                                               "forget"}));
    EXPECT_EQ(at(list, "0.annotations.readOnlyHint"), Value(true));
    EXPECT_EQ(at(list, "8.annotations.destructiveHint"), Value(true));
    EXPECT_EQ(at(modern("tools/list", R"("cursor": "x")"), "error.code"), Value(kInvalidParams));
}

TEST_F(ReadingMcpTest, OffersNoWritesUnlessAllowed) {
    EXPECT_EQ(at(modern("tools/list"), "result.tools").as_array().size(), 6U);
    for (const char* tool : {"remember", "ingest", "forget"}) {
        const Value reply = modern(
            "tools/call", R"("name": ")" + std::string(tool) + R"(", "arguments": {"text": "x"})");
        EXPECT_EQ(at(reply, "error.code"), Value(kInvalidParams));
        EXPECT_EQ(at(reply, "error.message"), Value("Unknown tool: " + std::string(tool)));
    }
    EXPECT_EQ(complaint("hybrid_search", R"({"query": 5})").find("Search failed: "), 0U);
    EXPECT_TRUE(database.collections()->empty());
}

TEST_F(ReadingMcpTest, FindsNothingInAFreshDatabase) {
    for (const char* arguments :
         {R"({"query": "x"})", R"({"query": "x", "include_memory": true})"}) {
        const Value result = call("hybrid_search", arguments);
        EXPECT_EQ(at(result, "isError"), Value(false));
        EXPECT_EQ(at(result, "content"),
                  parsed(R"([{"type": "text", "text": "No results found."}])"));
        EXPECT_EQ(at(result, "structuredContent.warnings").as_array().size(), 1U);
    }
    const Value memory = structured("memory_search", R"({"query": "x"})");
    EXPECT_EQ(at(memory, "results"), Value(Array{}));
    EXPECT_EQ(at(memory, "warnings").as_array().size(), 1U);
    EXPECT_TRUE(database.collections()->empty());
    const std::string named =
        complaint("hybrid_search", R"({"query": "x", "collections": ["notes"]})");
    EXPECT_NE(named.find("\"notes\""), std::string::npos) << named;
}

TEST_F(McpTest, ShowsNeighborsInASecondText) {
    ingest();
    const Value result =
        call("hybrid_search", R"({"query": "red foxes", "limit": 1, "expand_neighbors": true})");
    ASSERT_EQ(at(result, "content").as_array().size(), 2U);
    EXPECT_NE(at(result, "content.0.text").as_string().find("Snippet: \"Red foxes hunt mice.\""),
              std::string::npos);
    EXPECT_EQ(at(result, "content.1"), parsed(R"({"type": "text", "text":
        "[1]\nRed foxes hunt mice.\n[CHUNK BOUNDARY]\nThey hunt at dusk."})"));
}

TEST_F(McpTest, SearchesTheCollectionsThereAre) {
    structured("ingest",
               R"({"document_id": "n", "text": "Owls at night.", "collection": "notes"})");
    structured("remember", R"({"text": "Likes owls."})");
    const auto searched = [&](const std::string& rest) {
        return at(structured("hybrid_search", R"({"query": "owls")" + rest + "}"), "searched");
    };
    EXPECT_EQ(searched(""), parsed(R"(["notes"])"));  // all but memory and history
    EXPECT_EQ(searched(R"(, "include_memory": true)"), parsed(R"(["memory", "notes"])"));
    EXPECT_EQ(searched(R"(, "collections": ["memory"])"), parsed(R"(["memory"])"));
    ingest();
    EXPECT_EQ(searched(""), parsed(R"(["artifact_chunks"])"));
    EXPECT_EQ(searched(R"(, "collections": ["notes"])"), parsed(R"(["notes"])"));
    EXPECT_EQ(complaint("hybrid_search", R"({"query": "x", "collections": []})").find("Search"),
              0U);
    EXPECT_NE(complaint("hybrid_search", R"({"query": "x", "colections": ["a"]})")
                  .find("\"collections\""),
              std::string::npos);
}

TEST_F(McpTest, SearchesInTheWordsOfTheDecisionRecord) {
    ingest();
    const Value result = call("hybrid_search", R"({"query": "red foxes", "limit": 1})");
    EXPECT_EQ(at(result, "content"), parsed(R"([{"type": "text", "text":
        "Found 1 results (searched: artifact_chunks):\n\n[1] RRF score: 0.017 (from: artifact_chunks)\nType: chunk | ID: fox#0\nTitle: Foxes\nSource: ? | Sensitivity: normal\nSnippet: \"Red foxes hunt mice.\"\nEvidence: https://example.com/fox\n"}])"));
    EXPECT_EQ(at(result, "structuredContent.results.0.trust"), Value("untrusted"));
    EXPECT_EQ(at(result, "structuredContent.results.0.source"), Value("fox"));
    EXPECT_EQ(at(result, "resultType"), Value("complete"));
    const Value both = call("hybrid_search", R"({"query": "foxes", "include_memory": true})");
    EXPECT_EQ(at(both, "structuredContent.searched"), parsed(R"(["artifact_chunks", "memory"])"));
    EXPECT_EQ(at(call("hybrid_search", R"({"query": "x", "filters": {"artifact_type": "none"}})"),
                 "content.0.text"),
              Value("No results found."));
}

TEST_F(McpTest, ReadsWhatItFound) {
    ingest();
    EXPECT_EQ(at(structured("memory_search", R"({"query": "likes"})"), "results.0.id"),
              Value("m1"));
    EXPECT_EQ(
        at(structured("get", R"({"collection": "artifact_chunks", "chunk_ids": ["fox#1", "x"]})"),
           "chunks.0.content"),
        Value("They hunt at dusk."));
    EXPECT_EQ(
        at(structured("neighbors", R"({"collection": "artifact_chunks", "chunk_id": "fox#0"})"),
           "text"),
        Value("Red foxes hunt mice.\n[CHUNK BOUNDARY]\nThey hunt at dusk."));
    EXPECT_EQ(at(structured("list_collections", "{}"), "collections.1.name"), Value("memory"));
    const Value why = structured(
        "explain", R"({"query": "dusk", "collection": "artifact_chunks", "chunk_id": "fox#1"})");
    EXPECT_EQ(at(why, "found"), Value(true));
    EXPECT_EQ(at(why, "rank"), Value(1));
    EXPECT_EQ(at(why, "receipt.fusion.method"), Value("rrf"));
    const Value not_there = structured(
        "explain", R"({"query": "dusk", "collection": "artifact_chunks", "chunk_id": "cat"})");
    EXPECT_EQ(at(not_there, "found"), Value(false));
    EXPECT_NE(at(not_there, "message").as_string().find("\"cat\""), std::string::npos);
}

TEST_F(McpTest, GivesTheSameJsonAsText) {
    ingest();
    const Value result = call("memory_search", R"({"query": "likes"})");
    EXPECT_EQ(parsed(at(result, "content.0.text").as_string()), at(result, "structuredContent"));
}

TEST_F(McpTest, ReplacesADocumentWhole) {
    ingest();
    const Value again =
        structured("ingest", R"({"document_id": "fox", "text": "# Foxes\n\nShort."})");
    EXPECT_EQ(at(again, "chunks"), Value(1));
    EXPECT_EQ(at(again, "removed"), Value(1));
    EXPECT_EQ(*database.count({.collection = "artifact_chunks"}), 1U);
}

TEST_F(McpTest, Forgets) {
    ingest();
    EXPECT_EQ(at(structured("forget", R"({"chunk_ids": ["m1", "m2"]})"), "deleted"), Value(1));
    EXPECT_EQ(
        at(structured("forget", R"({"collection": "artifact_chunks", "document_ids": ["fox"]})"),
           "deleted"),
        Value(2));
    complaint("forget", R"({"collection": "memory"})");
    complaint("forget", R"({"filter": {}, "everything": true})");
}

TEST_F(McpTest, LetsNoAgentVouchForItsText) {
    complaint("remember", R"({"text": "x", "metadata": {"trust": "trusted"}})");
    complaint("ingest", R"({"document_id": "d", "text": "x", "metadata": {"trust": "high"}})");
}

TEST_F(McpTest, TellsTheModelWhatIsWrongWithItsArguments) {
    ingest();
    EXPECT_NE(complaint("hybrid_search", R"({"query": "x", "limits": 3})").find("\"limit\""),
              std::string::npos);
    EXPECT_NE(complaint("get", R"({"chunk_ids": ["a"]})").find("\"collection\" is required"),
              std::string::npos);
    complaint("memory_search", R"({"query": "x", "limit": 51})");
    complaint("memory_search", R"({"query": ""})");
    complaint("neighbors", R"({"collection": "../x", "chunk_id": "a"})");
    complaint("explain", R"({"collection": "memory", "chunk_id": "m1"})");
    complaint("list_collections", R"({"all": true})");
    complaint("remember", R"({"text": "  "})");
    complaint("ingest", R"({"document_id": "d", "text": "x", "format": "pdf"})");
}

TEST_F(McpTest, RefusesMalformedMessages) {
    EXPECT_EQ(at(raw("{"), "error.code"), Value(kParseError));
    EXPECT_EQ(at(raw("\xFF\xFE"), "error.code"), Value(kParseError));
    EXPECT_EQ(at(raw("[" + request("ping", "") + "]"), "error.code"), Value(kInvalidRequest));
    EXPECT_EQ(at(raw(R"({"jsonrpc": "2.0", "id": {}, "method": "ping"})"), "error.code"),
              Value(kInvalidRequest));
    EXPECT_EQ(
        at(raw(R"({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]})"), "error.code"),
        Value(kInvalidParams));
    EXPECT_EQ(at(modern("tools/call"), "error.code"), Value(kInvalidParams));
    EXPECT_EQ(at(modern("tools/call", R"("name": "nothing")"), "error.code"),
              Value(kInvalidParams));
    EXPECT_EQ(at(modern("tools/call", R"("name": "get", "arguments": [])"), "error.code"),
              Value(kInvalidParams));
    EXPECT_EQ(session.handle(R"({"jsonrpc": "2.0", "id": 9, "result": {}})", {}), std::nullopt);
    EXPECT_EQ(session.handle(R"({"jsonrpc": "2.0", "method": "notifications/unknown"})", {}),
              std::nullopt);
}

TEST_F(McpTest, StopsWhatIsCancelled) {
    ingest();
    const std::string search = request(
        "tools/call", kMeta + R"(, "name": "hybrid_search", "arguments": {"query": "foxes"})", 7);
    const auto accepted = session.accept(search, caller);
    ASSERT_TRUE(accepted.work);
    EXPECT_EQ(at(raw(search), "error.code"), Value(kInvalidRequest));  // the id is in use
    const std::string cancel = R"({"jsonrpc": "2.0", "method": "notifications/cancelled",)";
    EXPECT_EQ(session.handle(cancel + R"("params": {"requestId": 8}})", caller), std::nullopt);
    EXPECT_EQ(session.handle(cancel + R"("params": {"requestId": 7}})", caller), std::nullopt);
    EXPECT_EQ(accepted.work(), std::nullopt);
    EXPECT_EQ(session.handle(cancel + R"("params": {}})", caller), std::nullopt);
    EXPECT_EQ(at(raw(search), "result.isError"), Value(false));  // and free again
}

TEST_F(McpTest, StopsWithItsCaller) {
    ingest();
    const std::stop_source stop;
    stop.request_stop();
    caller.call.stop = stop.get_token();
    complaint("hybrid_search", R"({"query": "foxes"})");
}

TEST_F(McpTest, KeepsTheCallersRights) {
    ingest();
    caller.may = [](service::Access access, std::string_view name) {
        return access == service::Access::Read && name == "memory";
    };
    complaint("hybrid_search", R"({"query": "foxes"})");
    complaint("get", R"({"collection": "artifact_chunks", "chunk_ids": ["fox#0"]})");
    complaint("remember", R"({"text": "x"})");
    complaint("ingest", R"({"document_id": "d", "text": "x"})");
    complaint("forget", R"({"chunk_ids": ["m1"]})");
    structured("memory_search", R"({"query": "foxes"})");
    EXPECT_EQ(at(structured("list_collections", "{}"), "collections").as_array().size(), 1U);
}

TEST_F(McpTest, SurvivesRandomlyDamagedMessages) {
    ingest();
    const std::string whole = request(
        "tools/call",
        R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"hybrid_search","arguments":{"query":"foxes","limit":3,"filters":{"year":{"$gt":3}}})");
    for (unsigned seed = 0; seed < 10'000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::string body = whole;
        for (unsigned i = 0; i <= rng() % 3; ++i) {
            const std::size_t place = rng() % body.size();
            if (rng() % 2 == 0) {
                body[place] = static_cast<char>(rng() % 256);
            } else {
                body.erase(place, 1 + rng() % 8);
            }
            if (body.empty()) body = "x";
        }
        const auto reply = session.handle(body, caller);
        if (reply) {
            EXPECT_NE(at(parsed(*reply), "error.code"), Value(kInternalError)) << body;
        }
    }
}

/// What the server writes for what it reads, through real pipes.
std::vector<Value> spoken(McpSession& session, const std::string& input,
                          const service::Caller& caller) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    EXPECT_EQ(::pipe(in.data()), 0);
    EXPECT_EQ(::pipe(out.data()), 0);
    EXPECT_EQ(::write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
    ::close(in[1]);
    std::string output;
    std::jthread reader([&] {
        std::array<char, 4096> buffer{};
        for (ssize_t count = 0; (count = ::read(out[0], buffer.data(), buffer.size())) > 0;) {
            output.append(buffer.data(), static_cast<std::size_t>(count));
        }
    });
    EXPECT_TRUE(serve_stdio(session, caller, {.input = in[0], .output = out[1]}));
    ::close(in[0]);
    ::close(out[1]);
    reader.join();
    ::close(out[0]);
    std::vector<Value> lines;
    for (std::size_t begin = 0; begin < output.size();) {
        const std::size_t end = output.find('\n', begin);
        EXPECT_NE(end, std::string::npos);
        lines.push_back(parsed(output.substr(begin, end - begin)));
        begin = end + 1;
    }
    return lines;
}

TEST_F(McpTest, AnswersLineByLine) {
    const auto lines = spoken(session,
                              "\r\n  \n" + request("ping", "", 1) + "\r\n" + "{\n" +
                                  request("ping", "", 2),  // the last line lacks its end
                              caller);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(at(lines[0], "id"), Value(1));
    EXPECT_EQ(at(lines[1], "error.code"), Value(kParseError));
    EXPECT_EQ(at(lines[2], "id"), Value(2));
}

TEST_F(McpTest, ReadsPastLinesThatAreTooLong) {
    caller.limits.message_bytes = 100;
    const auto lines = spoken(session,
                              std::string(101, 'x') + "\n" + request("ping", "", 1) + "\n" +
                                  std::string(9000, '[') + "\n" + request("ping", "", 2) + "\n",
                              caller);
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(at(lines[0], "error.code"), Value(kInvalidRequest));
    EXPECT_EQ(at(lines[1], "id"), Value(1));
    EXPECT_EQ(at(lines[2], "error.code"), Value(kInvalidRequest));
    EXPECT_EQ(at(lines[3], "id"), Value(2));
}

TEST_F(McpTest, AnswersAllThatWasAskedBeforeTheEnd) {
    ingest();
    std::string input;
    for (int i = 0; i < 100; ++i) {
        std::string line =
            request("tools/call",
                    kMeta + R"(, "name": "memory_search", "arguments": {"query": "foxes"})", i);
        std::erase(line, '\n');
        input += line + "\n";
    }
    EXPECT_EQ(spoken(session, input, caller).size(), 100U);
}

}  // namespace
}  // namespace braid::server
