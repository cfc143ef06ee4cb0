#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "braid/server/rpc/methods.hpp"
#include "server/service_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::memory_database;
using braid::testing::parsed;

class RpcTest : public ::testing::Test {
protected:
    /// The whole answer to a request with id 1.
    Value ask(const std::string& method, const std::string& params,
              const service::Caller& caller = {}) {
        const auto reply = rpc.handle(R"({"jsonrpc": "2.0", "id": 1, "method": ")" + method +
                                          R"(", "params": )" + params + "}",
                                      caller);
        EXPECT_TRUE(reply) << method;
        const Value answer = parsed(reply.value_or("null"));
        EXPECT_EQ(at(answer, "id"), Value(1));
        return answer;
    }
    Value result(const std::string& method, const std::string& params,
                 const service::Caller& caller = {}) {
        const Value answer = ask(method, params, caller);
        EXPECT_EQ(answer.find("error"), nullptr) << json::print(answer);
        return at(answer, "result");
    }
    std::int64_t code(const Value& answer) {
        const Value found = at(answer, "error.code");
        EXPECT_TRUE(found.is_int()) << json::print(answer);
        return found.is_int() ? found.as_int() : 0;
    }
    Value raw(const std::string& body, const service::Caller& caller = {}) {
        const auto reply = rpc.handle(body, caller);
        EXPECT_TRUE(reply) << body;
        return parsed(reply.value_or("null"));
    }
    void add_notes() {
        result("braid.add", R"({"collection": "notes", "chunks": [
            {"_id": "fox#0", "document_id": "fox", "chunk_index": 0, "text": "Red foxes hunt mice.",
             "metadata": {"year": 2020, "kind": "animal"}},
            {"_id": "fox#1", "document_id": "fox", "chunk_index": 1, "text": "They hunt at dusk.",
             "metadata": {"year": 2020, "kind": "animal"}},
            {"_id": "oak", "text": "Oaks are old trees.", "metadata": {"kind": "plant"}}]})");
    }

    Database database = memory_database();
    Rpc rpc{database, {.profiles = {}, .embedder = "fake"}};
};

TEST_F(RpcTest, AddsAndRetrieves) {
    add_notes();
    const Value answer = result("braid.retrieve", R"({"query": "foxes", "collection": "notes"})");
    EXPECT_EQ(at(answer, "chunks.0.chunk_id"), Value("fox#0"));
    EXPECT_EQ(at(answer, "complete"), Value(true));
    EXPECT_TRUE(at(answer, "chunks.0.receipt.fused").is_double());
}

TEST_F(RpcTest, FindsDoctrine) {
    result("braid.add", R"({"collection": "manuals", "namespace": "arcnet_doctrine", "chunks": [
        {"_id": "a", "text": "cross the river", "metadata": {"mos_code": "12B"}},
        {"_id": "b", "text": "cross the ridge", "metadata": {"mos_code": "11B"}}]})");
    const std::string mission = R"({"collection": "manuals", "mission_text": "cross the river")";
    const Value all = result("braid.find_relevant_doctrine", mission + "}");
    EXPECT_EQ(at(all, "profile"), Value("doctrine"));
    EXPECT_EQ(at(all, "chunks").as_array().size(), 2U);
    EXPECT_EQ(at(all, "chunks.0.receipt.sources.0.weight"), Value(0.6));
    const Value some =
        result("braid.find_relevant_doctrine", mission + R"(, "mos_codes": ["11B", "13F"]})");
    ASSERT_EQ(at(some, "chunks").as_array().size(), 1U);
    EXPECT_EQ(at(some, "chunks.0.chunk_id"), Value("b"));
    EXPECT_EQ(result("braid.find_relevant_doctrine", mission + R"(, "mos_codes": []})")
                  .find("chunks")
                  ->as_array()
                  .size(),
              2U);
    service::Caller caller;
    caller.may = [](service::Access, std::string_view name) { return name != "manuals"; };
    EXPECT_NE(raw(R"({"jsonrpc": "2.0", "id": 1, "method": "braid.find_relevant_doctrine",
                      "params": )" +
                      mission + "}}",
                  caller)
                  .find("error"),
              nullptr);
}

TEST_F(RpcTest, AnswersEveryRequestOfABatchOnItsOwn) {
    add_notes();
    const Value answer = result("braid.retrieve_batch", R"({"requests": [
        {"query": "oak", "collection": "notes", "strategy": "sparse"},
        {"query": "oak", "collection": "nowhere"}, {"query": "oak", "topk": 1}]})");
    EXPECT_EQ(at(answer, "answers.0.query"), Value("oak"));
    EXPECT_EQ(at(answer, "answers.1.error.code"), Value("not_found"));
    EXPECT_EQ(at(answer, "answers.2.error.code"), Value("invalid_argument"));
}

TEST_F(RpcTest, ReadsWhatWasStored) {
    add_notes();
    const std::string notes = R"("collection": "notes")";
    EXPECT_EQ(at(result("braid.get", "{" + notes + R"(, "chunk_ids": ["oak", "elm"]})"),
                 "chunks.0.content"),
              Value("Oaks are old trees."));
    const Value around =
        result("braid.neighbors", "{" + notes + R"(, "chunk_id": "fox#0", "count": 3})");
    EXPECT_EQ(at(around, "text"),
              Value("Red foxes hunt mice.\n[CHUNK BOUNDARY]\nThey hunt at dusk."));
    EXPECT_EQ(at(result("braid.facets", "{" + notes + R"(, "field": "kind"})"), "values.0.count"),
              Value(2));
    EXPECT_EQ(at(result("braid.count", "{" + notes + R"(, "filter": {"kind": "plant"}})"), "count"),
              Value(1));
    EXPECT_EQ(at(result("braid.collections", "{}"), "collections.0.name"), Value("notes"));
    EXPECT_EQ(at(result("braid.stats", "{" + notes + "}"), "chunks"), Value(3));
    const Value context =
        result("braid.context", "{" + notes + R"(, "query": "foxes hunt", "budget": 100})");
    EXPECT_EQ(at(context, "passages.0.document_id"), Value("fox"));
    EXPECT_EQ(at(context, "budget"), Value(100));
}

TEST_F(RpcTest, UpdatesAndDeletes) {
    add_notes();
    const std::string notes = R"("collection": "notes")";
    result("braid.update",
           "{" + notes + R"(, "updates": [{"chunk_id": "oak", "metadata": {"kind": "tree"}}]})");
    EXPECT_EQ(at(result("braid.get", "{" + notes + R"(, "chunk_ids": ["oak"]})"),
                 "chunks.0.metadata.kind"),
              Value("tree"));
    EXPECT_EQ(code(ask("braid.update", "{" + notes + R"(, "updates": [{"chunk_id": "elm"}]})")),
              -32001);
    EXPECT_EQ(code(ask("braid.delete", "{" + notes + "}")), kInvalidParams);
    EXPECT_EQ(code(ask("braid.delete", "{" + notes + R"(, "filter": {}})")), kInvalidParams);
    EXPECT_EQ(at(result("braid.delete", "{" + notes + R"(, "document_ids": ["fox"]})"), "deleted"),
              Value(2));
    EXPECT_EQ(code(ask("braid.delete",
                       "{" + notes + R"(, "chunk_ids": ["oak"], "if_version": 1000000})")),
              -32003);
    EXPECT_EQ(at(result("braid.delete", "{" + notes + R"(, "filter": {}, "everything": true})"),
                 "deleted"),
              Value(1));
}

TEST_F(RpcTest, WritesABatchWholeOrNotAtAll) {
    EXPECT_EQ(code(ask("braid.add", R"({"chunks": [{"_id": "a", "text": "x"}, {"_id": "b"}]})")),
              kInvalidParams);
    EXPECT_EQ(
        code(ask("braid.add", R"({"chunks": [{"_id": "a", "text": "x", "namespace": "n"}]})")),
        kInvalidParams);
    EXPECT_EQ(at(result("braid.collections", "{}"), "collections"), Value(Array{}));
}

TEST_F(RpcTest, NamesTheStandardErrors) {
    EXPECT_EQ(code(raw("{")), kParseError);
    EXPECT_EQ(at(raw("{"), "id"), Value());
    EXPECT_EQ(code(raw("")), kParseError);
    EXPECT_EQ(code(raw("\xFF")), kParseError);
    EXPECT_EQ(code(raw("[]")), kInvalidRequest);
    EXPECT_EQ(code(raw("7")), kInvalidRequest);
    EXPECT_EQ(code(raw(R"({"jsonrpc": "1.0", "method": "braid.count", "id": 1})")),
              kInvalidRequest);
    EXPECT_EQ(code(raw(R"({"jsonrpc": "2.0", "id": 1})")), kInvalidRequest);
    EXPECT_EQ(code(raw(R"({"jsonrpc": "2.0", "method": "braid.count", "id": null})")),
              kInvalidRequest);
    EXPECT_EQ(code(raw(R"({"jsonrpc": "2.0", "method": "braid.count", "id": 1, "params": 3})")),
              kInvalidRequest);
    EXPECT_EQ(code(raw(R"({"jsonrpc": "2.0", "result": {}, "id": 1})")), kInvalidRequest);
    const Value unknown = ask("braid.retreive", "{}");
    EXPECT_EQ(code(unknown), kMethodNotFound);
    EXPECT_NE(at(unknown, "error.message").as_string().find("\"braid.retrieve\""),
              std::string::npos);
    const Value wrong = ask("braid.retrieve", R"({"query": "x", "top_k": 0})");
    EXPECT_EQ(code(wrong), kInvalidParams);
    EXPECT_EQ(at(wrong, "error.data.code"), Value("invalid_argument"));
    EXPECT_EQ(code(ask("braid.retrieve", "[1]")), kInvalidParams);
    EXPECT_EQ(code(ask("braid.retrieve", R"({"query": "x", "collection": "../../etc"})")),
              kInvalidParams);
    EXPECT_EQ(code(ask("braid.retrieve", R"({"query": "x", "collection": "none"})")), -32001);
}

TEST_F(RpcTest, TakesAListOfOneObjectAsParameters) {
    EXPECT_EQ(at(result("braid.collections", "[]"), "collections"), Value(Array{}));
    EXPECT_EQ(at(result("braid.collections", "[{}]"), "collections"), Value(Array{}));
}

TEST_F(RpcTest, OwesNotificationsNothing) {
    EXPECT_EQ(rpc.handle(R"({"jsonrpc": "2.0", "method": "braid.count"})", {}), std::nullopt);
    EXPECT_EQ(rpc.handle(R"({"jsonrpc": "2.0", "method": "nothing"})", {}), std::nullopt);
    EXPECT_EQ(rpc.handle(R"([{"jsonrpc": "2.0", "method": "braid.collections"}])", {}),
              std::nullopt);
}

TEST_F(RpcTest, AnswersTheMembersOfABatchThatAreOwedAnAnswer) {
    const Value replies = raw(R"([{"jsonrpc": "2.0", "id": "a", "method": "braid.collections"},
        {"jsonrpc": "2.0", "method": "braid.collections"}, 1,
        {"jsonrpc": "2.0", "id": 2, "method": "nothing"}])");
    ASSERT_EQ(replies.as_array().size(), 3U);
    EXPECT_EQ(at(replies, "0.id"), Value("a"));
    EXPECT_EQ(at(replies, "1.id"), Value());
    EXPECT_EQ(code(at(replies, "1")), kInvalidRequest);
    EXPECT_EQ(code(at(replies, "2")), kMethodNotFound);
}

TEST_F(RpcTest, KeepsTheCallersLimits) {
    service::Caller caller;
    caller.limits.batch = 2;
    caller.limits.message_bytes = 400;
    caller.limits.query_bytes = 8;
    caller.limits.top_k = 5;
    caller.limits.ids = 1;
    EXPECT_EQ(code(raw("[1, 1, 1]", caller)), kInvalidRequest);
    EXPECT_EQ(code(raw(std::string(401, ' '), caller)), kInvalidRequest);
    EXPECT_EQ(code(raw(std::string(100, '['), caller)), kParseError);
    EXPECT_EQ(code(ask("braid.retrieve", R"({"query": "123456789"})", caller)), kInvalidParams);
    EXPECT_EQ(code(ask("braid.retrieve", R"({"query": "1", "top_k": 6})", caller)), kInvalidParams);
    EXPECT_EQ(code(ask("braid.get", R"({"chunk_ids": ["a", "b"]})", caller)), kInvalidParams);
    EXPECT_EQ(code(ask("braid.retrieve_batch", R"({"requests": [{}, {}, {}]})", caller)),
              kInvalidParams);
}

TEST_F(RpcTest, KeepsTheCallersRights) {
    add_notes();
    service::Caller caller;
    caller.may = [](service::Access access, std::string_view collection) {
        return access == service::Access::Read && collection == "notes";
    };
    result("braid.retrieve", R"({"query": "fox", "collection": "notes"})", caller);
    for (const auto& [method, params] : std::vector<std::pair<std::string, std::string>>{
             {"braid.retrieve", R"({"query": "fox"})"},
             {"braid.retrieve", R"({"query": "fox", "profile": "artifacts"})"},
             {"braid.context", R"({"query": "fox", "collections": ["notes", "secret"]})"},
             {"braid.get", R"({"chunk_ids": ["a"]})"},
             {"braid.neighbors", R"({"chunk_id": "a", "collection": "secret"})"},
             {"braid.facets", R"({"field": "a"})"},
             {"braid.count", "{}"},
             {"braid.stats", "{}"},
             {"braid.add", R"({"collection": "notes", "chunks": [{"_id": "x", "text": "x"}]})"},
             {"braid.update", R"({"collection": "notes", "updates": [{"chunk_id": "oak"}]})"},
             {"braid.delete", R"({"collection": "notes", "chunk_ids": ["oak"]})"},
             {"cstp.queryDecisions", R"({"query": "x"})"},
             {"cstp.indexDecisions", R"({"decisions": []})"}}) {
        EXPECT_EQ(code(ask(method, params, caller)), -32008) << method;
    }
    result("braid.add", R"({"collection": "secret", "chunks": [{"_id": "x", "text": "x"}]})");
    EXPECT_EQ(at(result("braid.collections", "{}", caller), "collections").as_array().size(), 1U);
}

TEST_F(RpcTest, HidesWhatThePrincipalMayNotSee) {
    result("braid.add", R"({"chunks": [{"_id": "a", "text": "plain words", "sensitivity": "public"},
        {"_id": "b", "text": "secret words", "sensitivity": "restricted"}]})");
    service::Caller caller;
    caller.principal.clearance = "normal";
    EXPECT_EQ(
        at(result("braid.retrieve", R"({"query": "words"})", caller), "chunks").as_array().size(),
        1U);
    EXPECT_EQ(at(result("braid.get", R"({"chunk_ids": ["b"]})", caller), "chunks.0"), Value());
    EXPECT_EQ(code(ask("braid.neighbors", R"({"chunk_id": "b"})", caller)), -32001);
    EXPECT_EQ(code(ask("braid.update", R"({"updates": [{"chunk_id": "b"}]})", caller)), -32001);
    EXPECT_EQ(at(result("braid.delete", R"({"chunk_ids": ["b"]})", caller), "deleted"), Value(0));
    EXPECT_EQ(at(result("braid.count", "{}"), "count"), Value(2));
}

TEST_F(RpcTest, StopsWhenTheCallerDoes) {
    add_notes();
    const std::stop_source stop;
    stop.request_stop();
    service::Caller caller;
    caller.call.stop = stop.get_token();
    EXPECT_EQ(code(ask("braid.retrieve", R"({"query": "fox", "collection": "notes"})", caller)),
              -32010);
}

TEST_F(RpcTest, SurvivesRandomlyDamagedMessages) {
    add_notes();
    const std::vector<std::string> seeds{
        R"({"jsonrpc":"2.0","id":1,"method":"braid.retrieve","params":{"query":"fox","collection":"notes","top_k":3,"filter":{"year":{"$gte":2000}}}})",
        R"({"jsonrpc":"2.0","id":"x","method":"braid.get","params":{"collection":"notes","chunk_ids":["oak"]}})",
        R"([{"jsonrpc":"2.0","id":1,"method":"cstp.queryDecisions","params":{"query":"x","retrieval_mode":"hybrid"}}])"};
    for (unsigned seed = 0; seed < 10'000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::string body = seeds[seed % seeds.size()];
        for (unsigned i = 0; i <= rng() % 4; ++i) {
            const std::size_t place = rng() % body.size();
            switch (rng() % 3) {
                case 0:
                    body[place] = static_cast<char>(rng() % 256);
                    break;
                case 1:
                    body.erase(place, 1 + rng() % 5);
                    break;
                default:
                    body.insert(place, body.substr(rng() % body.size(), rng() % 20));
            }
            if (body.empty()) body = "x";
        }
        const auto reply = rpc.handle(body, {});
        if (!reply) continue;
        const Value answer = parsed(*reply);
        EXPECT_NE(at(answer.is_array() ? at(answer, "0") : answer, "error.code"),
                  Value(kInternalError))
            << body;
    }
}

TEST_F(RpcTest, ServesSeveralThreads) {
    add_notes();
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20; ++i) {
                const std::string id = std::to_string(t) + "-" + std::to_string(i);
                result("braid.add", R"({"collection": "notes", "chunks": [{"_id": ")" + id +
                                        R"(", "text": "a fox"}]})");
                result("braid.retrieve", R"({"query": "fox", "collection": "notes"})");
            }
        });
    }
    threads.clear();
    EXPECT_EQ(at(result("braid.count", R"({"collection": "notes"})"), "count"), Value(83));
}

}  // namespace
}  // namespace braid::server
