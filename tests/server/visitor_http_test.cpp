// Keys that see less than everything: paging, namespaces, on whose behalf; and what they may name.

#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "braid/service/operation_json.hpp"
#include "braid/service/visitor.hpp"
#include "server/http_fixture.hpp"
#include "server/key_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::bearer;
using braid::testing::Headers;
using braid::testing::http_request;
using braid::testing::HttpTest;
using braid::testing::key_entry;
using braid::testing::parsed;
using braid::testing::ring;
using braid::testing::send;

class VisitorHttpTest : public HttpTest {
protected:
    VisitorHttpTest() {
        HttpAppOptions options;
        options.keys =
            ring(key_entry("root", R"("collections": {"*": "admin"})") + "," +
                 key_entry("notes", R"("collections": {"notes": "read"})") + "," +
                 key_entry("other", R"("collections": {"notes": "read", "other": "read"})") + "," +
                 key_entry("acme", R"("collections": {"*": "admin"}, "namespaces": ["acme"])") +
                 "," + key_entry("teams", R"("collections": {"*": "admin"},
                                  "namespaces": ["team-*", "acme"])"));
        options.allow_writes = true;
        restart(std::move(options));
    }

    void fill(const std::string& collection, const std::string& namespace_, int count) {
        std::string lines;
        for (int i = 0; i < count; ++i) {
            lines += R"({"_id": ")" + namespace_ + std::to_string(i) + R"(", "text": "a fox of )" +
                     namespace_ + R"(", "metadata": {"of": ")" + namespace_ + "\"}}\n";
        }
        Headers headers = bearer("root");
        headers.push_back({"Content-Type", "application/x-ndjson"});
        json("POST", "/v1/collections/" + collection + "/chunks?namespace=" + namespace_, lines,
             200, headers);
    }
    std::string cursor_of(const std::string& collection, const std::string& key) {
        const Value first =
            json("POST", "/v1/retrieve",
                 R"({"query": "fox", "top_k": 2, "collection": ")" + collection + "\"}", 200,
                 bearer(key));
        return at(first, "cursor").is_string() ? at(first, "cursor").as_string() : "";
    }
};

TEST_F(VisitorHttpTest, AKeyLimitedToACollectionReadsPageAfterPage) {
    fill("notes", "default", 5);
    fill("other", "default", 5);
    std::string cursor = cursor_of("notes", "notes");
    std::size_t shown = 2;
    while (!cursor.empty()) {
        const Value page =
            json("POST", "/v1/retrieve", R"({"cursor": ")" + cursor + "\"}", 200, bearer("notes"));
        shown += at(page, "chunks").as_array().size();
        cursor = at(page, "cursor").is_string() ? at(page, "cursor").as_string() : "";
    }
    EXPECT_EQ(shown, 5U);
}

TEST_F(VisitorHttpTest, ACursorIsForItsKeyAndItsCollections) {
    fill("notes", "default", 5);
    fill("other", "default", 5);
    const std::string theirs = R"({"cursor": ")" + cursor_of("other", "other") + "\"}";
    // Somebody else's cursor looks like one that has expired.
    EXPECT_EQ(code(ask("POST", "/v1/retrieve", theirs, bearer("notes")), 404), "not_found");
    EXPECT_EQ(code(ask("POST", "/v1/retrieve", theirs, bearer("root")), 404), "not_found");
    json("POST", "/v1/retrieve", theirs, 200, bearer("other"));
    const Value batch = json("POST", "/v1/retrieve_batch", R"({"requests": [)" + theirs + "]}", 200,
                             bearer("other"));
    EXPECT_EQ(at(batch, "answers.0.chunks").as_array().size(), 2U);
    // The right must still be there.
    service::Caller caller;
    caller.principal.name = "other";
    caller.may = [](service::Access, std::string_view collection) { return collection == "notes"; };
    const service::Operations operations(database);
    const auto refused = service::retrieve_json(operations, parsed(theirs).as_object(), caller);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::PermissionDenied);
}

TEST_F(VisitorHttpTest, AProfileOfOnesOwnGivesNoRights) {
    fill("other", "default", 1);
    for (const std::string profile :
         {R"({"collections": ["other"]})", R"({"base": "decisions"})"}) {
        EXPECT_EQ(code(ask("POST", "/v1/retrieve",
                           R"({"query": "fox", "profile": )" + profile + "}", bearer("notes")),
                       403),
                  "permission_denied")
            << profile;
    }
    for (const std::string profile : {R"({"depth": 100000})", R"({"top_k": 5000})",
                                      R"({"depth_per_hit": 5000})", R"({"max_hops": 50})"}) {
        EXPECT_EQ(code(ask("POST", "/v1/retrieve",
                           R"({"query": "fox", "profile": )" + profile + "}", bearer("root")),
                       400),
                  "invalid_argument")
            << profile;
    }
}

TEST_F(VisitorHttpTest, NamespacesAreKeptApartAtEveryRoute) {
    fill("notes", "acme", 3);
    fill("notes", "default", 4);
    fill("memory", "default", 1);
    const std::string other = R"(, "namespace": "default"})";
    for (const auto& [method, target, body] :
         std::vector<std::tuple<std::string, std::string, std::string>>{
             {"PUT", "/v1/collections/notes/chunks/x?namespace=default", R"({"text": "x"})"},
             {"PATCH", "/v1/collections/notes/chunks/default0?namespace=default",
              R"({"metadata": {}})"},
             {"DELETE", "/v1/collections/notes/chunks/default0?namespace=default", ""},
             {"GET", "/v1/collections/notes/chunks/default0?namespace=default", ""},
             {"GET", "/v1/collections/notes/stats?namespace=default", ""},
             {"GET", "/v1/collections/notes/documents/default0?namespace=default", ""},
             {"PUT", "/v1/collections/notes/documents/d?namespace=default", R"({"text": "x"})"},
             {"DELETE", "/v1/collections/notes/documents/d?namespace=default", ""},
             {"GET", "/v1/collections/notes/chunks?namespace=default", ""},
             {"GET", "/v1/collections/notes/chunks/default0/neighbors?namespace=default", ""},
             {"POST", "/v1/collections/notes/chunks", R"({"chunks": [{"text": "x"}])" + other},
             {"POST", "/v1/collections/notes/facets", R"({"field": "of")" + other},
             {"POST", "/v1/collections/notes/count", R"({"filter": {})" + other},
             {"POST", "/v1/collections/notes/get", R"({"chunk_ids": ["default0"])" + other},
             {"POST", "/v1/collections/notes/update",
              R"({"updates": [{"chunk_id": "default0"}])" + other},
             {"POST", "/v1/collections/notes/delete", R"({"chunk_ids": ["default0"])" + other},
             {"POST", "/v1/retrieve", R"({"query": "fox", "collection": "notes")" + other},
             {"POST", "/v1/retrieve", R"({"query": "fox", "collection": "notes",
                                          "profile": "doctrine"})"},
             {"POST", "/v1/context", R"({"query": "fox", "collection": "notes")" + other},
             {"POST", "/v1/explain",
              R"({"query": "fox", "collection": "notes", "chunk_id": "default0")" + other},
             {"POST", "/v1/why_not",
              R"({"query": "fox", "collection": "notes", "chunk_id": "default0")" + other},
             {"DELETE", "/v1/collections/notes", ""},
             {"POST", "/v1/collections/notes/compact", ""},
             {"POST", "/v1/check", "{}"},
             {"GET", "/metrics", ""}}) {
        EXPECT_EQ(code(ask(method, target, body, bearer("acme")), 403), "permission_denied")
            << method << " " << target;
    }
}

TEST_F(VisitorHttpTest, ANamespaceThatIsNotNamedIsTheKeysOwn) {
    fill("notes", "acme", 3);
    fill("notes", "default", 4);
    const Headers acme = bearer("acme");
    const Value answer =
        json("POST", "/v1/retrieve", R"({"query": "fox", "collection": "notes"})", 200, acme);
    EXPECT_EQ(at(answer, "chunks").as_array().size(), 3U);
    EXPECT_EQ(at(answer, "chunks.0.namespace"), Value("acme"));
    EXPECT_EQ(at(json("GET", "/v1/collections/notes/stats", "", 200, acme), "chunks"), Value(3));
    EXPECT_EQ(at(json("GET", "/v1/collections/notes/stats", "", 200, acme), "bytes_on_disk"),
              Value(0));
    EXPECT_EQ(at(json("POST", "/v1/collections/notes/count", "{}", 200, acme), "count"), Value(3));
    for (const Value& seen : {at(json("GET", "/v1/collections", "", 200, acme), "collections.0"),
                              json("GET", "/v1/collections/notes", "", 200, acme)}) {
        EXPECT_EQ(at(seen, "namespaces"), Value(Array{"acme"}));
        EXPECT_EQ(at(seen, "chunks"), Value(3));
        EXPECT_EQ(at(seen, "documents"), Value(3));
    }
    json("PUT", "/v1/collections/notes/chunks/new", R"({"text": "an owl"})", 200, acme);
    EXPECT_EQ(
        at(json("GET", "/v1/collections/notes/chunks/new?namespace=acme", "", 200, bearer("root")),
           "content"),
        Value("an owl"));
    // Lines that go elsewhere are refused one by one.
    Headers lines = acme;
    lines.push_back({"Content-Type", "application/x-ndjson"});
    const Value bulk = json("POST", "/v1/collections/notes/chunks",
                            "{\"_id\": \"l1\", \"text\": \"x\"}\n"
                            "{\"_id\": \"l2\", \"text\": \"x\", \"namespace\": \"default\"}\n",
                            200, lines);
    EXPECT_EQ(at(bulk, "written"), Value(1));
    EXPECT_EQ(at(bulk, "results.1.error.code"), Value("permission_denied"));
}

TEST_F(VisitorHttpTest, AgentsStayInTheirNamespaceToo) {
    fill("memory", "default", 2);
    const auto tool = [&](const std::string& name, const std::string& arguments) {
        return json("POST", "/mcp",
                    R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": ")" +
                        name + R"(", "arguments": )" + arguments +
                        R"(, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                           "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
                           "io.modelcontextprotocol/clientCapabilities": {}}}})",
                    200,
                    {{"Authorization", "Bearer acme-key"},
                     {"Accept", "application/json, text/event-stream"},
                     {"MCP-Protocol-Version", "2026-07-28"},
                     {"Mcp-Method", "tools/call"},
                     {"Mcp-Name", name}});
    };
    const Value stored = tool("remember", R"({"text": "the fox is mine", "id": "m"})");
    EXPECT_EQ(at(stored, "result.isError"), Value(false));
    const Value found = tool("memory_search", R"({"query": "fox"})");
    ASSERT_EQ(at(found, "result.structuredContent.results").as_array().size(), 1U);
    EXPECT_EQ(at(found, "result.structuredContent.results.0.id"), Value("m"));
    const Value listed = tool("list_collections", "{}");
    EXPECT_EQ(at(listed, "result.structuredContent.collections.0.chunks"), Value(1));
    EXPECT_EQ(at(listed, "result.structuredContent.collections.0.namespaces"),
              Value(Array{"acme"}));
    const Value denied = tool(
        "get", R"({"collection": "memory", "chunk_ids": ["default0"], "namespace": "default"})");
    EXPECT_EQ(at(denied, "result.isError"), Value(true));
    EXPECT_TRUE(tool("forget", R"({"chunk_ids": ["default0"]})").is_object());
    EXPECT_EQ(at(json("GET", "/v1/collections/memory/stats", "", 200, bearer("root")), "chunks"),
              Value(2));
}

TEST_F(VisitorHttpTest, PatternsNameManyNamespaces) {
    fill("notes", "team-a", 1);
    fill("notes", "default", 1);
    const std::string question = R"({"query": "fox", "collection": "notes", "namespace": ")";
    EXPECT_EQ(
        at(json("POST", "/v1/retrieve", question + "team-a\"}", 200, bearer("teams")), "chunks")
            .as_array()
            .size(),
        1U);
    const auto refused = ask("POST", "/v1/retrieve", question + "default\"}", bearer("teams"));
    EXPECT_EQ(code(refused, 403), "permission_denied");
    EXPECT_NE(refused.body.find("team-*"), std::string::npos) << refused.body;
    // None named: the first that is a name.
    EXPECT_EQ(at(json("GET", "/v1/collections/notes/stats", "", 200, bearer("teams")), "namespace"),
              Value("acme"));
}

TEST_F(VisitorHttpTest, TheOwnerOfTheSocketMaySeeLess) {
    fill("notes", "acme", 2);
    fill("notes", "default", 1);
    json("PUT", "/v1/collections/notes/chunks/secret?namespace=acme",
         R"({"text": "a secret fox", "sensitivity": "restricted"})", 200, bearer("root"));
    const auto count = [&](const std::string& who, const std::string& peer) {
        auto request = http_request("POST", "/v1/collections/notes/count",
                                    R"({"namespace": "acme"})", {{"Braid-As", who}});
        request.peer = peer;
        return send(*app, request);
    };
    EXPECT_EQ(parsed(count("{}", "unix").body), parsed(R"({"count": 3})"));
    EXPECT_EQ(parsed(count(R"({"clearance": "normal"})", "unix").body), parsed(R"({"count": 2})"));
    EXPECT_EQ(count(R"({"namespaces": ["other"]})", "unix").status, 403);
    EXPECT_EQ(count(R"({"scopes": ["red"]})", "unix").status, 400);
    EXPECT_EQ(count("nonsense", "unix").status, 400);
    // Elsewhere it is a key that says who asks.
    EXPECT_EQ(count("{}", "127.0.0.1").status, 401);
}

TEST_F(HttpTest, CallersNameOnlyEmbeddersThatAreConfigured) {
    HttpAppOptions options;
    options.service.embedders = std::vector<std::string>{"own-model"};
    restart(std::move(options));
    for (const auto& [target, body] : std::vector<std::pair<std::string, std::string>>{
             {"/v1/collections", R"({"name": "a", "schema": {"embedder": "openai"}})"},
             {"/v1/collections/a/chunks",
              R"({"chunks": [{"text": "x"}], "schema": {"embedder": "openai"}})"}}) {
        const auto refused = ask("POST", target, body);
        EXPECT_EQ(code(refused, 404), "not_found");
        EXPECT_NE(refused.body.find("the embedders are external, fake, none, own-model"), std::string::npos)
            << refused.body;
    }
    EXPECT_TRUE(at(json("GET", "/v1/collections"), "collections").as_array().empty());
    for (const std::string name : {"fake", "own-model", "none", "external"}) {
        json("POST", "/v1/collections",
             R"({"name": ")" + name + R"(", "schema": {"embedder": ")" + name + "\"}}", 201);
    }
}

}  // namespace
}  // namespace braid::server
