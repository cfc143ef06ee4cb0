#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/server/http/app.hpp"
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

TEST_F(HttpTest, AddsAndRetrieves) {
    add_notes();
    const Value answer =
        json("POST", "/v1/retrieve", R"({"query": "foxes", "collection": "notes"})");
    EXPECT_EQ(at(answer, "chunks.0.chunk_id"), Value("fox#0"));
    EXPECT_EQ(at(answer, "complete"), Value(true));
    const Value answers = json("POST", "/v1/retrieve_batch", R"({"requests": [
        {"query": "oak", "collection": "notes"}, {"query": "oak", "collection": "nowhere"}]})");
    EXPECT_EQ(at(answers, "answers.0.query"), Value("oak"));
    EXPECT_EQ(at(answers, "answers.1.error.code"), Value("not_found"));
    const Value context =
        json("POST", "/v1/context", R"({"query": "foxes", "collection": "notes", "budget": 50})");
    EXPECT_EQ(at(context, "passages.0.document_id"), Value("fox"));
}

TEST_F(HttpTest, KeepsCollections) {
    const Value made = json("POST", "/v1/collections",
                            R"({"name": "papers", "schema": {"embedder": "none"}})", 201);
    EXPECT_EQ(at(made, "name"), Value("papers"));
    EXPECT_EQ(code(ask("POST", "/v1/collections", R"({"name": "papers"})"), 409), "already_exists");
    EXPECT_EQ(code(ask("POST", "/v1/collections", R"({"name": "../x"})"), 400), "invalid_argument");
    EXPECT_EQ(at(json("GET", "/v1/collections"), "collections.0.name"), Value("papers"));
    EXPECT_EQ(at(json("GET", "/v1/collections/papers"), "name"), Value("papers"));
    EXPECT_EQ(at(json("GET", "/v1/collections/papers/stats"), "chunks"), Value(0));
    EXPECT_EQ(at(json("DELETE", "/v1/collections/papers"), "dropped"), Value(true));
    EXPECT_EQ(code(ask("GET", "/v1/collections/papers"), 404), "not_found");
    EXPECT_EQ(code(ask("DELETE", "/v1/collections/papers"), 404), "not_found");
}

TEST_F(HttpTest, ReadsChunksAndDocuments) {
    add_notes();
    const std::string notes = "/v1/collections/notes";
    EXPECT_EQ(at(json("GET", notes + "/chunks/oak"), "content"), Value("Oaks are old trees."));
    EXPECT_EQ(json("GET", notes + "/chunks/oak").find("vector"), nullptr);
    EXPECT_TRUE(at(json("GET", notes + "/chunks/oak?vectors=true"), "vector").is_array());
    EXPECT_EQ(at(json("GET", notes + "/chunks/fox%230"), "chunk_id"), Value("fox#0"));
    EXPECT_EQ(code(ask("GET", notes + "/chunks/elm"), 404), "not_found");
    EXPECT_EQ(
        at(json("POST", notes + "/get", R"({"chunk_ids": ["elm", "oak"]})"), "chunks.1.chunk_id"),
        Value("oak"));
    EXPECT_EQ(at(json("GET", notes + "/chunks/fox%230/neighbors?count=1"), "text"),
              Value("Red foxes hunt mice.\n[CHUNK BOUNDARY]\nThey hunt at dusk."));
    EXPECT_EQ(at(json("GET", notes + "/documents/fox"), "chunks.1.chunk_id"), Value("fox#1"));
    EXPECT_EQ(code(ask("GET", notes + "/documents/cat"), 404), "not_found");
    const Value page = json("GET", notes + "/chunks?limit=2");
    EXPECT_EQ(at(page, "after"), Value("fox#1"));
    const Value rest = json("GET", notes + "/chunks?limit=2&after=fox%231");
    EXPECT_EQ(at(rest, "chunks.0.chunk_id"), Value("oak"));
    EXPECT_EQ(at(rest, "after"), Value());
    EXPECT_EQ(at(json("POST", notes + "/facets", R"({"field": "kind"})"), "values.0.count"),
              Value(2));
    EXPECT_EQ(at(json("POST", notes + "/count", R"({"filter": {"kind": "plant"}})"), "count"),
              Value(1));
    EXPECT_EQ(at(json("POST", notes + "/count"), "count"), Value(3));
}

TEST_F(HttpTest, ChangesOneChunk) {
    const std::string oak = "/v1/collections/notes/chunks/oak";
    EXPECT_EQ(at(json("PUT", oak, R"({"text": "Oaks."})"), "written"), Value(1));
    EXPECT_EQ(at(json("PUT", oak, R"({"text": "Old oaks.", "title": "Oak"})"), "replaced"),
              Value(1));
    const Value version = at(json("GET", oak), "version");
    EXPECT_EQ(at(json("PATCH", oak, R"({"metadata": {"kind": "tree"}})"), "updated"), Value(1));
    EXPECT_EQ(at(json("GET", oak), "metadata.kind"), Value("tree"));
    EXPECT_EQ(code(ask("PATCH", oak + "?if_version=" + std::to_string(version.as_int()),
                       R"({"metadata": {}})"),
                   409),
              "conflict");
    EXPECT_EQ(code(ask("PATCH", "/v1/collections/notes/chunks/elm", "{}"), 404), "not_found");
    EXPECT_EQ(at(json("DELETE", oak), "deleted"), Value(1));
    EXPECT_EQ(at(json("DELETE", oak), "deleted"), Value(0));
}

TEST_F(HttpTest, ChangesManyChunks) {
    add_notes();
    const std::string notes = "/v1/collections/notes";
    EXPECT_EQ(at(json("POST", notes + "/update",
                      R"({"updates": [{"chunk_id": "oak", "sensitivity": "public"}]})"),
                 "updated"),
              Value(1));
    EXPECT_EQ(at(json("POST", notes + "/delete", R"({"document_ids": ["fox"]})"), "deleted"),
              Value(2));
    EXPECT_EQ(code(ask("POST", notes + "/delete", R"({"filter": {}})"), 400), "invalid_argument");
    const std::string fox = "/v1/collections/notes/documents/fox";
    EXPECT_EQ(
        at(json("PUT", fox, R"({"text": "# Foxes\n\nThey hunt.", "title": "Fox"})"), "chunks"),
        Value(1));
    EXPECT_EQ(at(json("GET", fox), "chunks.0.title"), Value("Fox"));
    EXPECT_EQ(at(json("DELETE", fox), "deleted"), Value(1));
}

TEST_F(HttpTest, PuttingADocumentLeavesNothingOfTheOldOne) {
    const std::string notes = "/v1/collections/notes";
    json("POST", notes + "/chunks", R"({"chunks": [
        {"_id": "any-1", "document_id": "fox", "text": "An old elephant."},
        {"_id": "any-2", "document_id": "fox", "chunk_index": 0, "text": "An old elephant."},
        {"_id": "fox#0", "document_id": "fox", "text": "An old elephant."},
        {"_id": "else", "document_id": "else", "text": "Another elephant."}]})");
    const Value put = json("PUT", notes + "/documents/fox", R"({"text": "They hunt."})");
    EXPECT_EQ(at(put, "removed"), Value(2));
    EXPECT_EQ(at(json("POST", notes + "/count", R"({"filter": {"document_id": "fox"}})"), "count"),
              Value(1));
    const Value found =
        json("POST", "/v1/retrieve",
             R"({"query": "elephant", "collection": "notes", "strategy": "sparse"})");
    EXPECT_EQ(at(found, "chunks").as_array().size(), 1U);
    EXPECT_EQ(at(found, "chunks.0.chunk_id"), Value("else"));
}

TEST_F(HttpTest, AddsChunksInPlaceOfTheirDocuments) {
    add_notes();
    const Value written = json("POST", "/v1/collections/notes/chunks",
                               R"({"replace_documents": true, "chunks": [
        {"_id": "new", "document_id": "fox", "text": "All there is of foxes."}]})");
    EXPECT_EQ(at(written, "written"), Value(1));
    EXPECT_EQ(at(written, "removed"), Value(2));
    EXPECT_EQ(at(json("GET", "/v1/collections/notes/documents/fox"), "chunks").as_array().size(),
              1U);
}

TEST_F(HttpTest, ACollectionThatIsBeingFilledCannotBeRead) {
    const auto rpc = [&](const std::string& method, const std::string& params) {
        return json("POST", "/rpc",
                    R"({"jsonrpc": "2.0", "id": 1, "method": "braid.)" + method +
                        R"(", "params": )" + params + "}");
    };
    rpc("create_collection", R"({"name": "notes", "unfinished": true})");
    rpc("add", R"({"collection": "notes", "chunks": [{"_id": "a", "text": "a fox"}]})");
    const std::string request = R"({"query": "fox", "collection": "notes"})";
    EXPECT_EQ(code(ask("POST", "/v1/retrieve", request), 503), "unavailable");
    EXPECT_EQ(code(ask("GET", "/v1/collections/notes/chunks/a"), 503), "unavailable");
    EXPECT_TRUE(at(json("GET", "/v1/collections"), "collections.0.damage").is_string());
    EXPECT_EQ(at(rpc("finish_collection", R"({"collection": "notes"})"), "result.finished"),
              Value(true));
    EXPECT_EQ(at(json("POST", "/v1/retrieve", request), "chunks.0.chunk_id"), Value("a"));
    EXPECT_EQ(at(rpc("finish_collection", R"({"collection": "notes"})"), "error.data.code"),
              Value("conflict"));
}

TEST_F(HttpTest, ExplainsAndMeasures) {
    add_notes();
    const std::string request = R"({"query": "foxes", "collection": "notes", "chunk_id": "oak")";
    EXPECT_EQ(at(json("POST", "/v1/explain", request + "}"), "chunk_id"), Value("oak"));
    const Value why =
        json("POST", "/v1/why_not", request + R"(, "strategy": "sparse", "top_k": 1})");
    EXPECT_TRUE(at(why, "reason").is_string());
    const std::string idle = request + R"(, "strategy": "sparse", "use_hyde": true})";
    EXPECT_EQ(at(json("POST", "/v1/explain", idle), "unused"), Value(Array{"use_hyde"}));
    EXPECT_EQ(at(json("POST", "/v1/why_not", idle), "explanation.unused"),
              Value(Array{"use_hyde"}));
    const Value context = json("POST", "/v1/context",
                               R"({"query": "foxes", "collection": "notes", "strategy": "sparse",
                                   "use_hyde": true})");
    EXPECT_EQ(at(context, "unused"), Value(Array{"use_hyde"}));
    EXPECT_EQ(at(context, "phrasings"), Value(Array{}));
    EXPECT_TRUE(at(context, "hypothetical_answer").is_null());
    EXPECT_EQ(code(ask("POST", "/v1/explain",
                       R"({"query": "x", "collection": "notes", "chunk_id": "elm"})"),
                   404),
              "not_found");
    const Value found = json("POST", "/v1/hybrid_search", R"({"query": "foxes"})");
    EXPECT_EQ(at(found, "results.0.collection"), Value("notes")) << "the only one there is";
    json("PUT", "/v1/collections/artifact_chunks/documents/a", R"({"text": "A red fox."})");
    EXPECT_EQ(at(json("POST", "/v1/hybrid_search", R"({"query": "fox"})"), "results.0.artifact_id"),
              Value("a"));
    const Value measured =
        json("POST", "/v1/eval", R"({"queries": [{"id": "q", "text": "oak trees"}],
        "qrels": {"q": {"oak": 1}}, "measures": ["RR@10"],
        "request": {"collection": "notes", "strategy": "sparse"}})");
    const Value runs = at(measured, "runs.0.measures");
    ASSERT_NE(runs.find("RR@10"), nullptr) << braid::json::print(measured);
    EXPECT_EQ(*runs.find("RR@10"), Value(1.0));
    EXPECT_EQ(code(ask("POST", "/v1/eval", R"({"queries": [], "qrels": {}})"), 400),
              "invalid_argument");
    EXPECT_EQ(code(ask("POST", "/v1/eval", R"({"queries": [{"id": "q", "text": "x"}],
        "qrels": {"q": {"a": 1}}, "request": {"query": "y"}})"),
                   400),
              "invalid_argument");
}

TEST_F(HttpTest, WhateverIsAnsweredTakesADeadline) {
    add_notes();
    for (const std::string name :
         {"retrieve", "hybrid_search", "context", "explain", "why_not", "find_relevant_doctrine"}) {
        Object params{{"query", "foxes"}, {"deadline_ms", 60'000}};
        if (name == "find_relevant_doctrine") {
            params = {{"mission_text", "foxes"}, {"deadline_ms", 60'000}};
        }
        if (name != "hybrid_search") params.set("collection", "notes");
        if (name == "explain" || name == "why_not") params.set("chunk_id", "oak");
        const std::string text = braid::json::print(Value(params));
        EXPECT_EQ(ask("POST", "/v1/" + name, text).status, 200) << name;
        const Value reply = json("POST", "/rpc",
                                 R"({"jsonrpc": "2.0", "id": 1, "method": "braid.)" + name +
                                     R"(", "params": )" + text + "}");
        EXPECT_NE(reply.find("result"), nullptr) << braid::json::print(reply);
        params.set("deadline_ms", 0);
        EXPECT_EQ(ask("POST", "/v1/" + name, braid::json::print(Value(params))).status, 400)
            << name;
    }
}

TEST_F(HttpTest, ADocumentDoesNotTakeTheChunksOfAnother) {
    json("PUT", "/v1/collections/notes/chunks/doc%230",
         R"({"text": "theirs", "document_id": "other-doc"})");
    const auto refused = ask("PUT", "/v1/collections/notes/documents/doc", R"({"text": "mine"})");
    EXPECT_EQ(code(refused, 409), "conflict");
    EXPECT_NE(refused.body.find("belongs to document \\\"other-doc\\\""), std::string::npos)
        << refused.body;
    EXPECT_EQ(at(json("GET", "/v1/collections/notes/documents/other-doc"), "chunks.0.content"),
              Value("theirs"));
}

TEST_F(HttpTest, AnswersEveryLineOfABulkWrite) {
    const std::string lines =
        "{\"_id\": \"a\", \"text\": \"one\"}\n"
        "\n"
        "{\"_id\": \"b\"\n"
        "{\"_id\": \"c\", \"text\": \"three\", \"sensitivity\": \"none such\"}\r\n"
        "{\"_id\": \"d\", \"text\": \"four\", \"namespace\": \"other\"}\n"
        "7\n"
        "{\"_id\": \"a\", \"text\": \"again\"}";
    const Headers ndjson{{"Content-Type", "application/x-ndjson"}};
    const Value report = json("POST", "/v1/collections/notes/chunks", lines, 200, ndjson);
    EXPECT_EQ(at(report, "created"), Value(true));
    EXPECT_EQ(at(report, "written"), Value(3));
    EXPECT_EQ(at(report, "replaced"), Value(1));
    EXPECT_EQ(at(report, "failed"), Value(3));
    EXPECT_EQ(at(report, "results").as_array().size(), 6U);
    EXPECT_EQ(at(report, "results.0"), parsed(R"({"line": 1, "chunk_id": "a"})"));
    EXPECT_EQ(at(report, "results.1.line"), Value(3));
    EXPECT_EQ(at(report, "results.1.error.code"), Value("invalid_argument"));
    EXPECT_EQ(at(report, "results.2.chunk_id"), Value("c"));
    EXPECT_NE(at(report, "results.2.error.message").as_string().find("none such"),
              std::string::npos);
    EXPECT_EQ(at(json("GET", "/v1/collections/notes/chunks/a"), "content"), Value("again"));
    json("GET", "/v1/collections/notes/chunks/d?namespace=other");
    const Value empty = json("POST", "/v1/collections/none/chunks", "\n", 200, ndjson);
    EXPECT_EQ(at(empty, "created"), Value(false));
    json("GET", "/v1/collections/none", "", 404);
}

TEST_F(HttpTest, WritesMostOfALargeBulk) {
    std::string lines;
    for (int i = 0; i < 2500; ++i) {
        const bool bad = i % 700 == 3;
        lines += R"({"_id": ")" + std::to_string(i) + R"(", "text": "x", "created_at": )" +
                 (bad ? R"("never")" : R"("2020-01-01T00:00:00Z")") + "}\n";
    }
    // Wrong only for the store, which takes a batch whole or not at all.
    lines += R"({"_id": "2500", "text": "x", "visibility_scope": [""]})";
    const Value report = json("POST", "/v1/collections/notes/chunks", lines, 200,
                              {{"Content-Type", "application/x-ndjson"}});
    EXPECT_EQ(at(report, "written"), Value(2496));
    EXPECT_EQ(at(report, "failed"), Value(5));
    EXPECT_EQ(at(json("POST", "/v1/collections/notes/count"), "count"), Value(2496));
}

TEST_F(HttpTest, SaysWhatIsWrongWithARequest) {
    EXPECT_EQ(code(ask("GET", "/nothing"), 404), "no_such_route");
    EXPECT_EQ(code(ask("GET", "/v1/nothing"), 404), "no_such_route");
    EXPECT_EQ(code(ask("GET", "/v1/collections/"), 404), "no_such_route");
    EXPECT_EQ(code(ask("GET", "/v1/collections//stats"), 404), "no_such_route");
    EXPECT_EQ(code(ask("GET", "/v1/collections/%2e%2e/stats"), 400), "invalid_argument");
    EXPECT_EQ(code(ask("GET", "/v1/%zz"), 400), "malformed_request");
    EXPECT_EQ(code(ask("GET", "/v1/%00"), 400), "malformed_request");
    EXPECT_EQ(code(ask("GET", "/v1/%ff"), 400), "malformed_request");
    EXPECT_EQ(code(ask("GET", "v1"), 400), "malformed_request");
    EXPECT_EQ(code(ask("GET", "/v1/collections?a=1&a=2"), 400), "malformed_request");
    const auto wrong_method = ask("PUT", "/v1/collections");
    EXPECT_EQ(code(wrong_method, 405), "method_not_allowed");
    EXPECT_EQ(header_of(wrong_method, "Allow"), "GET, POST");
    EXPECT_EQ(code(ask("OPTIONS", "/v1/collections"), 405), "method_not_allowed");
    EXPECT_EQ(code(ask("POST", "/v1/retrieve", "query=x",
                       {{"Content-Type", "application/x-www-form-urlencoded"}}),
                   415),
              "unsupported_media_type");
    EXPECT_EQ(code(ask("POST", "/v1/retrieve", "{}", {{"Accept", "text/html"}}), 406),
              "not_acceptable");
    EXPECT_EQ(code(ask("POST", "/v1/retrieve", "{"), 400), "invalid_argument");
    EXPECT_EQ(code(ask("POST", "/v1/retrieve", "[]"), 400), "invalid_argument");
    EXPECT_EQ(code(ask("POST", "/v1/retrieve", R"({"query": "x", "topk": 1})"), 400),
              "invalid_argument");
    EXPECT_EQ(code(ask("GET", "/v1/collections?limt=3"), 400), "invalid_argument");
    add_notes();
    EXPECT_EQ(code(ask("GET", "/v1/collections/notes/chunks?limit=ten"), 400), "invalid_argument");
    EXPECT_EQ(code(ask("GET", "/v1/collections/notes/chunks?vectors=maybe"), 400),
              "invalid_argument");
    EXPECT_EQ(code(ask("POST", "/v1/collections/notes/count", R"({"collection": "x"})"), 400),
              "invalid_argument");
    EXPECT_EQ(ask("HEAD", "/v1/collections").status, 200);
    EXPECT_EQ(ask("HEAD", "/v1/collections").body, ask("GET", "/v1/collections").body);
}

TEST_F(HttpTest, NamesEveryRequest) {
    const auto named = ask("GET", "/healthz", "", {{"X-Request-Id", "abc-1.2:3_x"}});
    EXPECT_EQ(header_of(named, "X-Request-Id"), "abc-1.2:3_x");
    for (const std::string odd : {"a b", "", "x\ny", "<script>"}) {
        const auto response = ask("GET", "/healthz", "", {{"X-Request-Id", odd}});
        EXPECT_TRUE(header_of(response, "X-Request-Id").starts_with("r-")) << odd;
    }
    EXPECT_NE(header_of(ask("GET", "/healthz"), "X-Request-Id"),
              header_of(ask("GET", "/healthz"), "X-Request-Id"));
    EXPECT_EQ(header_of(ask("GET", "/healthz"), "Cache-Control"), "no-store");
}

TEST_F(HttpTest, TellsWhetherItIsReady) {
    EXPECT_EQ(at(json("GET", "/healthz"), "status"), Value("ok"));
    EXPECT_EQ(at(json("GET", "/readyz"), "status"), Value("ok"));
    app->drain();
    EXPECT_EQ(code(ask("GET", "/readyz"), 503), "draining");
    EXPECT_EQ(at(json("GET", "/healthz"), "status"), Value("ok"));
    json("GET", "/v1/collections");
}

TEST_F(HttpTest, CarriesJsonRpc) {
    add_notes();
    const Value reply = json("POST", "/rpc", R"({"jsonrpc": "2.0", "id": 1,
        "method": "braid.retrieve", "params": {"query": "oak", "collection": "notes"}})");
    EXPECT_EQ(at(reply, "result.chunks.0.chunk_id"), Value("oak"));
    EXPECT_EQ(at(json("POST", "/rpc", "{"), "error.code"), Value(-32700));
    EXPECT_EQ(at(json("POST", "/rpc", "[]"), "error.code"), Value(-32600));
    const auto nothing = ask("POST", "/rpc", R"({"jsonrpc": "2.0", "method": "braid.count"})");
    EXPECT_EQ(nothing.status, 204);
    EXPECT_EQ(nothing.body, "");
    for (const std::string method : {"braid.explain", "braid.why_not"}) {
        const Value answer = json(
            "POST", "/rpc",
            R"({"jsonrpc": "2.0", "id": 1, "method": ")" + method + R"(", "params": {"query": "oak",
            "collection": "notes", "chunk_id": "oak"}})");
        EXPECT_NE(answer.find("result"), nullptr) << braid::json::print(answer);
    }
}

TEST_F(HttpTest, GivesUpAtTheDeadlineAndWhenTheClientIsGone) {
    add_notes();
    HttpAppOptions options;
    options.max_deadline = std::chrono::milliseconds(0);
    restart(std::move(options));
    const std::string body = R"({"query": "foxes", "collection": "notes"})";
    EXPECT_EQ(code(ask("POST", "/v1/retrieve", body), 504), "deadline_exceeded");
    restart({});
    const std::stop_source gone;
    gone.request_stop();
    auto request = http_request("POST", "/v1/retrieve", body);
    request.gone = gone.get_token();
    EXPECT_EQ(code(send(*app, request), 499), "cancelled");
}

TEST_F(HttpTest, KeepsItsLimits) {
    HttpAppOptions options;
    options.limits.message_bytes = 200;
    options.limits.bulk_bytes = 400;
    options.limits.bulk_lines = 2;
    options.limits.top_k = 5;
    options.limits.query_bytes = 8;
    options.limits.hops = 2;
    options.limits.depth = 50;
    options.limits.ids = 1;
    options.limits.json_depth = 8;
    restart(std::move(options));
    const std::string long_text(300, 'x');
    EXPECT_EQ(code(ask("POST", "/v1/retrieve", R"({"query": ")" + long_text + "\"}"), 413),
              "payload_too_large");
    const auto length = ask("POST", "/v1/retrieve", "", {{"Content-Length", "300"}});
    EXPECT_EQ(code(length, 413), "payload_too_large");
    EXPECT_EQ(code(ask("GET", "/v1/collections", std::string(70'000, ' ')), 413),
              "payload_too_large");
    for (const std::string body :
         {R"({"query": "x", "top_k": 6})", R"({"query": "123456789"})",
          R"({"query": "x", "max_hops": 3})", R"({"query": "x", "dense_top_k": 51})",
          R"({"query": "x", "document_ids": ["a", "b"]})",
          R"({"query": "x", "filter": {"$not": {"$not": {"$not": {"$not": {"$not": {"$not":
             {"$not": {"a": 1}}}}}}}}})"}) {
        EXPECT_EQ(code(ask("POST", "/v1/retrieve", body), 400), "invalid_argument") << body;
    }
    const Headers ndjson{{"Content-Type", "application/x-ndjson"}};
    const std::string line = "{\"_id\": \"a\", \"text\": \"x\"}\n";
    const std::string chunks = "/v1/collections/c/chunks";
    EXPECT_EQ(code(ask("POST", chunks, line + line + line, ndjson), 400), "invalid_argument");
    json("GET", "/v1/collections/c", "", 404);
    json("POST", chunks, line + std::string(250, ' '), 200, ndjson);
    EXPECT_EQ(code(ask("POST", chunks, line + std::string(400, ' '), ndjson), 413),
              "payload_too_large");
    options = {};
    options.limits.answer_bytes = 80;  // one note with its ids and metadata, not two
    restart(std::move(options));
    add_notes();
    const std::string notes = "/v1/collections/notes";
    json("POST", "/v1/retrieve", R"({"query": "hunt", "collection": "notes", "top_k": 1})");
    for (const auto& [method, target, body] :
         std::vector<std::tuple<std::string, std::string, std::string>>{
             {"POST", "/v1/retrieve", R"({"query": "hunt", "collection": "notes"})"},
             {"GET", notes + "/chunks", ""},
             {"GET", notes + "/documents/fox", ""},
             {"GET", notes + "/chunks/fox%230/neighbors", ""},
             {"POST", notes + "/get", R"({"chunk_ids": ["fox#0", "fox#1"]})"}}) {
        EXPECT_EQ(code(ask(method, target, body), 400), "invalid_argument") << target;
    }
    const Value batch = json("POST", "/v1/retrieve_batch", R"({"requests": [
        {"query": "hunt", "collection": "notes", "top_k": 1},
        {"query": "hunt", "collection": "notes", "top_k": 1}]})");
    EXPECT_NE(at(batch, "answers.0").find("chunks"), nullptr);
    EXPECT_EQ(at(batch, "answers.1.error.code"), Value("invalid_argument"));
    options = {};
    options.max_running = 0;
    restart(std::move(options));
    const auto overloaded = ask("GET", "/v1/collections");
    EXPECT_EQ(code(overloaded, 503), "overloaded");
    EXPECT_EQ(header_of(overloaded, "Retry-After"), "1");
    EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(HttpTest, AnswersForTheTransport) {
    for (const auto& [status, name] :
         std::vector<std::pair<int, std::string>>{{400, "malformed_request"},
                                                  {408, "request_timeout"},
                                                  {413, "payload_too_large"},
                                                  {431, "head_too_large"},
                                                  {503, "overloaded"}}) {
        EXPECT_EQ(code(app->refuse(status, "for this reason"), status), name);
    }
}

TEST_F(HttpTest, ServesSeveralThreads) {
    add_notes();
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 20; ++i) {
                    const std::string id = std::to_string(t) + "-" + std::to_string(i);
                    json("PUT", "/v1/collections/notes/chunks/" + id, R"({"text": "a fox"})");
                    json("POST", "/v1/retrieve", R"({"query": "fox", "collection": "notes"})");
                }
            });
        }
    }
    EXPECT_EQ(at(json("POST", "/v1/collections/notes/count"), "count"), Value(83));
}

}  // namespace
}  // namespace braid::server
