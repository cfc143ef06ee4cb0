#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/server/auth/api_keys.hpp"
#include "braid/server/http/app.hpp"
#include "braid/service/without_paths.hpp"
#include "server/http_fixture.hpp"
#include "server/key_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::bearer;
using braid::testing::header_of;
using braid::testing::Headers;
using braid::testing::http_request;
using braid::testing::HttpTest;
using braid::testing::key_entry;
using braid::testing::parsed;
using braid::testing::ring;
using braid::testing::send;

class KeyedHttpTest : public HttpTest {
protected:
    KeyedHttpTest() {
        HttpAppOptions options;
        options.keys = ring(
            key_entry("root", R"("collections": {"*": "admin"})") + "," +
            key_entry("writer", R"("collections": {"notes": "write", "team-*": "read"})") + "," +
            key_entry("reader", R"("principal": {"clearance": "normal", "scopes": ["red"]},
                      "collections": {"notes": "write"})") +
            "," +
            key_entry("slow", R"("collections": {"*": "read"}, "requests_per_second": 0.001)") +
            "," + key_entry("old", R"("collections": {"*": "admin"},
                      "expires_at": "2020-01-01T00:00:00Z")"));
        restart(std::move(options));
    }
};

TEST_F(KeyedHttpTest, AsksForAKeyBeforeAnythingElse) {
    const auto refused = ask("GET", "/v1/collections");
    EXPECT_EQ(code(refused, 401), "unauthenticated");
    EXPECT_EQ(header_of(refused, "WWW-Authenticate"), R"(Bearer realm="braid")");
    for (const Headers& headers :
         {Headers{{"Authorization", "Bearer wrong"}}, Headers{{"Authorization", "Basic root-key"}},
          Headers{{"Authorization", "Bearer"}}, Headers{{"X-Api-Key", "root-key "}},
          Headers{{"Authorization", "Bearer old-key"}}}) {
        EXPECT_EQ(code(ask("GET", "/v1/collections", "", headers), 401), "unauthenticated");
    }
    json("GET", "/v1/collections", "", 200, bearer("root"));
    json("GET", "/v1/collections", "", 200, {{"authorization", "bearer root-key"}});
    json("GET", "/v1/collections", "", 200, {{"X-Api-Key", "root-key"}});
    // Without a key nothing is told apart: neither what exists nor what does not.
    for (const std::string target : {"/v1/collections/notes", "/nothing", "/metrics", "/rpc"}) {
        EXPECT_EQ(code(ask("GET", target), 401), "unauthenticated") << target;
    }
    EXPECT_EQ(code(ask("POST", "/v1/retrieve", std::string(1 << 25, 'x')), 401), "unauthenticated")
        << "before the body is looked at";
    EXPECT_EQ(ask("GET", "/healthz").status, 200);
    auto socket = http_request("GET", "/v1/collections", "");
    socket.peer = "unix";
    EXPECT_EQ(send(*app, socket).status, 200) << "the socket is its owner's";
}

TEST_F(KeyedHttpTest, JudgesARequestOnceByItsHead) {
    std::size_t limit = 0;
    auto request = http_request("GET", "/v1/collections", "", bearer("root"));
    EXPECT_EQ(code(app->handle(request), 500), "internal_error") << "nobody let it in";
    ASSERT_FALSE(app->admit(request, limit));
    const auto id = header_of(app->handle(request), "X-Request-Id");
    // Neither key nor route is looked at again: what was found out first holds.
    request.headers.clear();
    request.target = "/nothing";
    const auto answered = app->handle(request);
    EXPECT_EQ(answered.status, 200);
    EXPECT_EQ(header_of(answered, "X-Request-Id"), id);
    EXPECT_EQ(at(parsed(answered.body), "collections"), Value(Array{}));
}

TEST_F(KeyedHttpTest, HoldsKeysToTheirRights) {
    const std::string chunk = R"({"text": "a red fox"})";
    json("PUT", "/v1/collections/notes/chunks/a", chunk, 200, bearer("writer"));
    json("PUT", "/v1/collections/team-x/chunks/a", chunk, 200, bearer("root"));
    json("PUT", "/v1/collections/other/chunks/a", chunk, 200, bearer("root"));
    json("GET", "/v1/collections/team-x/chunks/a", "", 200, bearer("writer"));
    for (const auto& [method, target, body] :
         std::vector<std::tuple<std::string, std::string, std::string>>{
             {"PUT", "/v1/collections/team-x/chunks/a", chunk},
             {"GET", "/v1/collections/other/chunks/a", ""},
             {"GET", "/v1/collections/other", ""},
             {"GET", "/v1/collections/other/stats", ""},
             {"GET", "/v1/collections/other/documents/a", ""},
             {"GET", "/v1/collections/other/chunks", ""},
             {"GET", "/v1/collections/other/chunks/a/neighbors", ""},
             {"POST", "/v1/collections/other/facets", R"({"field": "a"})"},
             {"POST", "/v1/collections/other/count", "{}"},
             {"POST", "/v1/collections/other/get", R"({"chunk_ids": ["a"]})"},
             {"POST", "/v1/collections", R"({"name": "notes"})"},
             {"DELETE", "/v1/collections/notes", ""},
             {"POST", "/v1/retrieve", R"({"query": "x", "collection": "other"})"},
             {"POST", "/v1/context", R"({"query": "x", "collection": "other"})"},
             {"POST", "/v1/explain", R"({"query": "x", "collection": "other", "chunk_id": "a"})"},
             {"POST", "/v1/why_not", R"({"query": "x", "collection": "other", "chunk_id": "a"})"},
             {"POST", "/v1/hybrid_search", R"({"query": "x", "collections": ["other"]})"},
             {"POST", "/v1/eval", R"({"queries": [{"id": "q", "text": "x"}],
                 "qrels": {"q": {"a": 1}}, "request": {"collection": "other"}})"},
             {"PUT", "/v1/collections/other/documents/a", R"({"text": "x"})"},
             {"DELETE", "/v1/collections/team-x/documents/a", ""},
             {"GET", "/metrics", ""}}) {
        EXPECT_EQ(code(ask(method, target, body, bearer("writer")), 403), "permission_denied")
            << method << " " << target;
    }
    const Value found = at(
        json("POST", "/v1/hybrid_search", R"({"query": "fox"})", 200, bearer("writer")), "results");
    ASSERT_EQ(found.as_array().size(), 2U) << json::print(found);
    for (const Value& hit : found.as_array()) {
        EXPECT_NE(at(hit, "collection"), Value("other")) << "none but those it may read";
    }
    const Value seen = json("GET", "/v1/collections", "", 200, bearer("writer"));
    EXPECT_EQ(at(seen, "collections").as_array().size(), 2U);
    const Value reply = json("POST", "/rpc", R"({"jsonrpc": "2.0", "id": 1, "method": "braid.get",
        "params": {"collection": "other", "chunk_ids": ["a"]}})",
                             200, bearer("writer"));
    EXPECT_EQ(at(reply, "error.code"), Value(-32008));
    json("DELETE", "/v1/collections/notes", "", 200, bearer("root"));
}

TEST_F(KeyedHttpTest, HidesChunksFromPrincipals) {
    const auto put = [&](const std::string& id, const std::string& labels, const char* key,
                         int status) {
        return json("PUT", "/v1/collections/notes/chunks/" + id,
                    R"({"text": "a fox")" + labels + "}", status, bearer(key));
    };
    put("secret", R"(, "sensitivity": "restricted")", "root", 200);
    put("blue", R"(, "visibility_scope": ["blue"])", "root", 200);
    put("red", R"(, "visibility_scope": ["red"])", "root", 200);
    const Value answer = json("POST", "/v1/retrieve", R"({"query": "fox", "collection": "notes"})",
                              200, bearer("reader"));
    EXPECT_EQ(at(answer, "chunks").as_array().size(), 1U);
    EXPECT_EQ(at(answer, "chunks.0.chunk_id"), Value("red"));
    for (const std::string id : {"secret", "blue", "elm"}) {
        const std::string chunk = "/v1/collections/notes/chunks/" + id;
        EXPECT_EQ(code(ask("GET", chunk, "", bearer("reader")), 404), "not_found");
        EXPECT_EQ(code(ask("PATCH", chunk, "{}", bearer("reader")), 404), "not_found");
        EXPECT_EQ(at(json("DELETE", chunk, "", 200, bearer("reader")), "deleted"), Value(0));
    }
    // It can neither replace nor learn more than that the name is in use.
    EXPECT_EQ(at(put("secret", "", "reader", 409), "detail"),
              Value("the chunk id \"secret\" is taken"));
    EXPECT_EQ(at(put("red", "", "reader", 200), "replaced"), Value(1));
    EXPECT_EQ(at(put("new", "", "reader", 200), "replaced"), Value(0));
    EXPECT_EQ(at(json("GET", "/v1/collections/notes/chunks/secret", "", 200, bearer("root")),
                 "sensitivity"),
              Value("restricted"));
    const Value lines =
        json("POST", "/v1/collections/notes/chunks",
             "{\"_id\": \"x\", \"text\": \"y\"}\n{\"_id\": \"blue\", \"text\": \"y\"}\n", 200,
             {{"Authorization", "Bearer reader-key"}, {"Content-Type", "application/x-ndjson"}});
    EXPECT_EQ(at(lines, "written"), Value(1));
    EXPECT_EQ(at(lines, "results.1.error.code"), Value("conflict"));
    EXPECT_EQ(code(ask("DELETE", "/v1/collections/notes", "", bearer("reader")), 403),
              "permission_denied");
}

/// Leaves out what no two runs share: times, and names of requests.
void drop_times(Value& value) {
    if (value.is_array()) {
        for (Value& element : value.as_array()) drop_times(element);
    }
    if (!value.is_object()) return;
    for (const std::string_view key :
         {"timings", "latency_ms", "time_ms", "query_embedding_time_ms", "instance"}) {
        value.as_object().erase(key);
    }
    for (auto& [key, member] : value.as_object()) drop_times(member);
}

TEST_F(KeyedHttpTest, HiddenChunksChangeNothingThatAReaderSees) {
    const auto add = [&](const std::string& lines) {
        json("POST", "/v1/collections/notes/chunks", lines, 200,
             {{"Authorization", "Bearer root-key"}, {"Content-Type", "application/x-ndjson"}});
    };
    add("{\"_id\": \"a\", \"document_id\": \"d\", \"chunk_index\": 0, \"text\": \"red fox\","
        " \"metadata\": {\"kind\": \"x\"}}\n"
        "{\"_id\": \"b\", \"document_id\": \"d\", \"chunk_index\": 1, \"text\": \"grey wolf\"}\n");
    const std::string notes = "/v1/collections/notes";
    const std::string in_notes = R"("collection": "notes")";
    const std::vector<std::tuple<std::string, std::string, std::string>> requests{
        {"POST", "/v1/retrieve", R"({"query": "fox", )" + in_notes + "}"},
        {"POST", "/v1/retrieve", R"({"query": "zebar", "strategy": "sparse", )" + in_notes + "}"},
        {"POST", "/v1/context", R"({"query": "fox", )" + in_notes + "}"},
        {"POST", "/v1/explain", R"({"query": "fox", "chunk_id": "b", )" + in_notes + "}"},
        {"POST", "/v1/explain", R"({"query": "fox", "chunk_id": "h0", )" + in_notes + "}"},
        {"POST", "/v1/why_not",
         R"({"query": "fox", "chunk_id": "b", "top_k": 1, )" + in_notes + "}"},
        {"POST", "/v1/why_not", R"({"query": "fox", "chunk_id": "h0", )" + in_notes + "}"},
        {"POST", "/v1/eval",
         R"({"queries": [{"id": "q", "text": "fox"}], "qrels": {"q": {"d": 1}},
            "request": {)" +
             in_notes + "}}"},
        {"GET", "/v1/collections", ""},
        {"GET", notes, ""},
        {"GET", notes + "/stats", ""},
        {"GET", notes + "/chunks", ""},
        {"GET", notes + "/chunks/h0", ""},
        {"GET", notes + "/chunks/h0/neighbors", ""},
        {"GET", notes + "/chunks/a/neighbors?count=5", ""},
        {"GET", notes + "/documents/d", ""},
        {"GET", notes + "/documents/hidden", ""},
        {"POST", notes + "/facets", R"({"field": "kind"})"},
        {"POST", notes + "/count", "{}"},
        {"POST", notes + "/get", R"({"chunk_ids": ["a", "h0"]})"},
        {"POST", notes + "/update", R"({"updates": [{"chunk_id": "h0"}]})"},
        {"POST", notes + "/delete", R"({"chunk_ids": ["h0"]})"},
        {"POST", notes + "/delete", R"({"document_ids": ["hidden"]})"},
        {"POST", "/rpc",
         R"({"jsonrpc": "2.0", "id": 1, "method": "braid.count", "params": {)" + in_notes + "}}"}};
    const auto answers = [&] {
        std::vector<std::string> bodies;
        for (const auto& [method, target, body] : requests) {
            const auto response = ask(method, target, body, bearer("reader"));
            Value value = parsed(response.body);
            // Its nested timings are those of this run.
            if (target == "/v1/eval") value.as_object().erase("timings");
            drop_times(value);
            bodies.push_back(std::to_string(response.status) + " " + braid::json::print(value));
        }
        return bodies;
    };
    answers();  // so that the queries' vectors are remembered
    const auto before = answers();
    std::string hidden;
    for (int i = 0; i < 20; ++i) {
        hidden +=
            R"({"_id": "h)" + std::to_string(i) + R"(", "document_id": ")" +
            (i % 2 == 0 ? "d" : "hidden") + R"(", "chunk_index": )" + std::to_string(i) +
            R"(, "text": "zebra fox wolf fox", "metadata": {"kind": "y"}, )" +
            (i % 3 == 0 ? R"("sensitivity": "restricted")" : R"("visibility_scope": ["blue"])") +
            "}\n";
    }
    add(hidden);
    const auto after = answers();
    for (std::size_t i = 0; i < requests.size(); ++i) {
        EXPECT_EQ(after[i], before[i]) << std::get<1>(requests[i]) << std::get<2>(requests[i]);
    }
}

TEST_F(KeyedHttpTest, LimitsTheRateOfAKey) {
    EXPECT_EQ(ask("GET", "/v1/collections", "", bearer("slow")).status, 200);
    const auto limited = ask("GET", "/v1/collections", "", bearer("slow"));
    EXPECT_EQ(code(limited, 429), "rate_limited");
    EXPECT_GE(std::stoi(header_of(limited, "Retry-After")), 1);
    EXPECT_EQ(ask("GET", "/v1/collections", "", bearer("root")).status, 200) << "others go on";
    EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(HttpTest, RefusesNamesThatAreNotItsOwn) {
    const auto with_host = [&](const std::string& host, const std::string& peer = "127.0.0.1") {
        auto request = http_request("GET", "/v1/collections", "");
        request.headers = {{"Host", host}};
        request.peer = peer;
        return send(*app, request);
    };
    for (const std::string host :
         {"localhost", "LOCALHOST:80", "127.0.0.1", "[::1]:80", "192.168.1.7:80"}) {
        EXPECT_EQ(with_host(host).status, 200) << host;
    }
    for (const std::string host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil", "",
                                   "a b", "[::1", "evil.example:80", "1.2.3.4.5"}) {
        EXPECT_EQ(code(with_host(host), 421), "misdirected_request") << host;
    }
    EXPECT_EQ(with_host("evil.example", "unix").status, 200) << "no name leads to a socket";
    const auto twice = http_request("GET", "/v1/collections", "", {{"Host", "localhost"}});
    EXPECT_EQ(code(send(*app, twice), 400), "malformed_request");
    HttpAppOptions options;
    options.hosts = {"Braid.Example"};
    restart(std::move(options));
    EXPECT_EQ(with_host("braid.example:443").status, 200);
    EXPECT_EQ(with_host("braid.example", "10.1.2.3").status, 403) << "no keys, another machine";
}

TEST(WithoutPaths, KeepsTheNameAndWhatCallersWrote) {
    for (const auto& [message, told] : std::vector<std::pair<std::string, std::string>>{
             {"cannot write to /var/lib/braid/notes/log: no space",
              "cannot write to log: no space"},
             {"/data/x: the log is missing", "x: the log is missing"},
             {"cannot open /my notes/a b/log.1: gone", "cannot open log.1: gone"},
             {"cannot rename /a/b to /a/c: no", "cannot rename c: no"},
             {"cannot read ./data/notes/log", "cannot read log"},
             {"collection \"a\": /srv/a/manifest: 3 bytes (of /srv/a/x), and more",
              "collection \"a\": manifest: 3 bytes (of x), and more"},
             {"there is no chunk \"/docs/a.md\"", "there is no chunk \"/docs/a.md\""},
             {"https://api.example/v1/embeddings answered 500",
              "https://api.example/v1/embeddings answered 500"},
             {"1 / 2 and/or a", "1 / 2 and/or a"},
             {"", ""}}) {
        EXPECT_EQ(service::without_paths(message), told);
    }
}

TEST_F(HttpTest, RefusesForeignWebPages) {
    const auto from = [&](const std::string& origin) {
        return ask("GET", "/v1/collections", "", {{"Origin", origin}});
    };
    EXPECT_EQ(from("http://127.0.0.1:7878").status, 200) << "its own pages";
    for (const std::string origin :
         {"http://evil.example", "null", "", "http://127.0.0.1:3000", "https://localhost",
          "https://127.0.0.1:7878", "127.0.0.1:7878", "file://127.0.0.1:7878"}) {
        EXPECT_EQ(code(from(origin), 403), "origin_refused") << origin;
    }
    for (const bool tls : {false, true}) {
        auto request =
            http_request("GET", "/v1/collections", "", {{"Origin", "https://127.0.0.1:7878"}});
        request.tls = tls;
        EXPECT_EQ(send(*app, request).status, tls ? 200 : 403) << "a page has a scheme";
    }
    EXPECT_EQ(header_of(from("http://127.0.0.1:7878"), "Access-Control-Allow-Origin"), "");
    HttpAppOptions options;
    options.origins = {"https://app.example"};
    restart(std::move(options));
    const auto allowed = from("https://app.example");
    EXPECT_EQ(allowed.status, 200);
    EXPECT_EQ(header_of(allowed, "Access-Control-Allow-Origin"), "https://app.example");
    EXPECT_EQ(header_of(from("http://evil.example"), "Access-Control-Allow-Origin"), "");
    const auto preflight = ask("OPTIONS", "/v1/retrieve", "",
                               {{"Origin", "https://app.example"},
                                {"Access-Control-Request-Method", "POST"},
                                {"Access-Control-Request-Headers", "content-type"}});
    EXPECT_EQ(preflight.status, 204);
    EXPECT_EQ(header_of(preflight, "Access-Control-Allow-Headers"), "content-type");
    EXPECT_EQ(ask("OPTIONS", "/v1/retrieve", "", {{"Origin", "http://evil.example"}}).status, 403);
}

TEST_F(KeyedHttpTest, DoesAWriteOnceForOneIdempotencyKey) {
    const auto post = [&](const std::string& body, const std::string& key, const char* who,
                          const std::string& target = "/v1/collections") {
        Headers headers = bearer(who);
        headers.push_back({"Idempotency-Key", key});
        return ask("POST", target, body, headers);
    };
    const std::string body = R"({"name": "papers"})";
    const auto first = post(body, "k1", "root");
    EXPECT_EQ(first.status, 201);
    const auto again = post(body, "k1", "root");
    EXPECT_EQ(again.status, 201);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(header_of(again, "Idempotency-Replayed"), "true");
    EXPECT_NE(header_of(again, "X-Request-Id"), header_of(first, "X-Request-Id"));
    EXPECT_EQ(code(post(R"({"name": "other"})", "k1", "root"), 422), "idempotency_mismatch");
    EXPECT_EQ(code(post(body, "k2", "root"), 409), "already_exists");
    EXPECT_EQ(code(post(body, "k1", "writer"), 403), "permission_denied") << "keys have their own";
    EXPECT_EQ(code(post(body, "", "root"), 400), "malformed_request");
    EXPECT_EQ(code(post(body, std::string(256, 'x'), "root"), 400), "malformed_request");
    EXPECT_EQ(
        post(R"({"query": "x", "collection": "papers"})", "k1", "root", "/v1/retrieve").status, 200)
        << "reads take no notice";
}

TEST_F(KeyedHttpTest, DoesAWriteOnceByJsonRpcToo) {
    const auto post = [&](const std::string& body, const std::string& key, const char* who) {
        Headers headers = bearer(who);
        headers.push_back({"Idempotency-Key", key});
        return ask("POST", "/rpc", body, headers);
    };
    const auto call = [](const std::string& method, const std::string& params) {
        return R"({"jsonrpc": "2.0", "id": 1, "method": "braid.)" + method + R"(", "params": )" +
               params + "}";
    };
    const std::string create = call("create_collection", R"({"name": "papers"})");
    const auto first = post(create, "k1", "root");
    EXPECT_TRUE(at(parsed(first.body), "result").is_object()) << first.body;
    const auto again = post(create, "k1", "root");
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(header_of(again, "Idempotency-Replayed"), "true");
    EXPECT_EQ(at(parsed(post(create, "k2", "root").body), "error.data.code"),
              Value("already_exists"));
    EXPECT_EQ(code(post(call("create_collection", R"({"name": "b"})"), "k1", "root"), 422),
              "idempotency_mismatch");
    EXPECT_EQ(at(parsed(post(create, "k1", "writer").body), "error.data.code"),
              Value("permission_denied"));
    // A batch is done once as a whole.
    const std::string batch = "[" + call("drop_collection", R"({"collection": "papers"})") + ", " +
                              create + ", " + call("count", R"({"collection": "papers"})") + "]";
    const auto done = post(batch, "k3", "root");
    EXPECT_EQ(post(batch, "k3", "root").body, done.body);
    EXPECT_EQ(header_of(post(batch, "k3", "root"), "Idempotency-Replayed"), "true");
    // Reads take no notice.
    const std::string read = call("count", R"({"collection": "papers"})");
    EXPECT_EQ(header_of(post(read, "k4", "root"), "Idempotency-Replayed"), "");
    EXPECT_EQ(header_of(post(read, "k4", "root"), "Idempotency-Replayed"), "");
}

}  // namespace
}  // namespace braid::server
