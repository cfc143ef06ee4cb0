#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/server/http/openapi.hpp"
#include "braid/server/http/problem.hpp"
#include "braid/server/http/routes.hpp"
#include "braid/server/http/watch.hpp"
#include "braid/server/rpc/methods.hpp"
#include "server/http_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::header_of;
using braid::testing::http_request;
using braid::testing::HttpTest;
using braid::testing::parsed;
using braid::testing::send;

class LoggedHttpTest : public HttpTest {
protected:
    void log_to(HttpAppOptions options) {
        options.log = [this](std::string_view line) { log_lines.emplace_back(line); };
        options.audit = [this](std::string_view line) { audit_lines.emplace_back(line); };
        restart(std::move(options));
    }
    std::vector<std::string> log_lines;
    std::vector<std::string> audit_lines;
};

TEST_F(LoggedHttpTest, LogsARequestWithItsTimingsAndCounts) {
    HttpAppOptions options;
    options.log_format = service::LogFormat::Json;
    log_to(std::move(options));
    add_notes();
    log_lines.clear();
    json("POST", "/v1/retrieve", R"({"query": "secret foxes", "collection": "notes"})", 200,
         {{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
          {"X-Request-Id", "req-1"}});
    ASSERT_EQ(log_lines.size(), 1U);
    const Value line = parsed(log_lines[0]);
    EXPECT_EQ(at(line, "event"), Value("request"));
    EXPECT_EQ(at(line, "level"), Value("info"));
    EXPECT_EQ(at(line, "request_id"), Value("req-1"));
    EXPECT_EQ(at(line, "trace_id"), Value("0af7651916cd43dd8448eb211c80319c"));
    EXPECT_EQ(at(line, "route"), Value("retrieve"));
    EXPECT_EQ(at(line, "status"), Value(200));
    EXPECT_EQ(at(line, "collections_searched.0"), Value("notes"));
    EXPECT_EQ(at(line, "results_returned"), Value(3));
    for (const std::string name :
         {"duration_ms", "embed_ms", "dense_ms", "sparse_ms", "fusion_ms", "total_ms",
          "dense_candidates", "sparse_candidates", "results_before_merge"}) {
        EXPECT_TRUE(at(line, name).is_number()) << name;
    }
    EXPECT_EQ(log_lines[0].find("secret"), std::string::npos) << "query texts stay out";
    EXPECT_EQ(log_lines[0].find("Red foxes"), std::string::npos) << "and so do documents";
}

TEST_F(LoggedHttpTest, LogsTextsOnlyWhenAsked) {
    HttpAppOptions options;
    options.log_texts = true;
    log_to(std::move(options));
    add_notes();
    json("POST", "/v1/retrieve", R"({"query": "two\nlines", "collection": "notes"})");
    EXPECT_NE(log_lines.back().find(R"(queries=["two\nlines"])"), std::string::npos)
        << log_lines.back();
    EXPECT_EQ(log_lines.back().find('\n'), std::string::npos);
    EXPECT_NE(log_lines.back().find(" info request "), std::string::npos) << log_lines.back();
}

TEST_F(LoggedHttpTest, NamesSlowQueries) {
    HttpAppOptions options;
    options.slow_query = std::chrono::milliseconds(100'000);
    log_to(std::move(options));
    add_notes();
    json("POST", "/v1/retrieve", R"({"query": "foxes", "collection": "notes"})");
    for (const std::string& line : log_lines) EXPECT_EQ(line.find("slow_query"), std::string::npos);

    Metrics metrics({});
    WatchOptions watching;
    watching.log = [this](std::string_view line) { log_lines.emplace_back(line); };
    watching.slow_query = std::chrono::milliseconds(5);
    Watch watch(metrics, watching);
    watch.answered({});
    Served served;
    served.took = std::chrono::milliseconds(6);
    watch.finish(served);
    EXPECT_NE(log_lines.back().find("warning slow_query"), std::string::npos) << log_lines.back();
}

TEST_F(LoggedHttpTest, AuditsWhoWasGivenWhat) {
    log_to({});
    add_notes();
    ASSERT_EQ(audit_lines.size(), 1U);
    EXPECT_EQ(at(parsed(audit_lines.back()), "changed.notes"), Value(3));
    json("POST", "/v1/retrieve", R"({"query": "oak trees", "collection": "notes", "top_k": 1})");
    EXPECT_EQ(at(parsed(audit_lines.back()), "chunks.notes.0"), Value("oak"));
    json("GET", "/v1/collections/notes/chunks/fox%230/neighbors");
    EXPECT_EQ(at(parsed(audit_lines.back()), "chunks.notes").as_array().size(), 2U);
    json("POST", "/v1/context", R"({"query": "oak trees", "collection": "notes", "top_k": 1})");
    EXPECT_EQ(at(parsed(audit_lines.back()), "route"), Value("context"));
    EXPECT_EQ(at(parsed(audit_lines.back()), "chunks.notes.0"), Value("oak"));
    json("POST", "/rpc", R"({"jsonrpc": "2.0", "id": 1, "method": "braid.get",
        "params": {"collection": "notes", "chunk_ids": ["oak", "elm"]}})");
    EXPECT_EQ(at(parsed(audit_lines.back()), "chunks.notes"), Value(Array{"oak"}));
    json("POST", "/rpc", R"({"jsonrpc": "2.0", "id": 1, "method": "braid.delete",
        "params": {"collection": "notes", "chunk_ids": ["oak"]}})");
    EXPECT_EQ(at(parsed(audit_lines.back()), "changed.notes"), Value(1));
    const std::size_t before = audit_lines.size();
    json("GET", "/v1/collections");
    ask("PUT", "/v1/collections/notes/chunks/x", "{}");
    EXPECT_EQ(audit_lines.size(), before);
}

TEST_F(HttpTest, PassesTraceContextsOn) {
    const auto response =
        ask("GET", "/healthz", "",
            {{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}});
    const std::string echoed = header_of(response, "traceparent");
    EXPECT_TRUE(echoed.starts_with("00-0af7651916cd43dd8448eb211c80319c-")) << echoed;
    EXPECT_TRUE(echoed.ends_with("-01"));
    EXPECT_EQ(echoed.find("b7ad6b7169203331"), std::string::npos) << "a span of its own";
    for (const std::string odd :
         {"", "00", "00-00000000000000000000000000000000-b7ad6b7169203331-01",
          "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
          "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x"}) {
        EXPECT_EQ(header_of(ask("GET", "/healthz", "", {{"traceparent", odd}}), "traceparent"), "")
            << odd;
    }
}

/// The value of a sample, by its name with labels; -1 if there is none.
double sample(const std::string& text, const std::string& name) {
    const std::size_t place = text.find("\n" + name + " ");
    return place == std::string::npos ? -1 : std::stod(text.substr(place + name.size() + 2));
}

TEST_F(HttpTest, CountsWhatItDoes) {
    add_notes();
    json("POST", "/v1/retrieve", R"({"query": "foxes", "collection": "notes"})");
    json("POST", "/v1/retrieve", R"({"query": "foxes", "collection": "notes"})");
    ask("GET", "/nothing");
    net::HttpHandler& handler = app->metrics_handler();
    app->watch([] { return net::HttpServer::Counters{.connections = 7}; });
    const std::string text = send(handler, http_request("GET", "/metrics", "")).body;
    EXPECT_EQ(sample(text, R"(braid_http_requests_total{route="retrieve",status="200"})"), 2);
    EXPECT_EQ(sample(text, R"(braid_http_requests_total{route="none",status="404"})"), 1);
    EXPECT_EQ(sample(text, R"(braid_http_request_duration_seconds_count{route="retrieve"})"), 2);
    EXPECT_EQ(sample(text, R"(braid_stage_duration_seconds_count{stage="total"})"), 2);
    EXPECT_EQ(sample(text, R"(braid_http_refused_total{code="no_such_route"})"), 1);
    EXPECT_EQ(sample(text, R"(braid_answers_total{complete="true"})"), 2);
    EXPECT_EQ(sample(text, "braid_chunks_returned_total"), 6);
    EXPECT_EQ(sample(text, "braid_collections"), 1);
    EXPECT_EQ(sample(text, "braid_chunks"), 3);
    EXPECT_EQ(sample(text, "braid_documents"), 2);
    EXPECT_EQ(sample(text, "braid_connections"), 7);
    EXPECT_GT(sample(text, "process_resident_memory_bytes"), 0);
    EXPECT_NE(text.find(R"(braid_build_info{version="1.2.3"} 1)"), std::string::npos);
    EXPECT_EQ(text.find("foxes"), std::string::npos);
    // Every line is a comment or a sample; every bucket list ends with all of them.
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        EXPECT_TRUE(line.starts_with("# ") || line.find(' ') != std::string::npos) << line;
    }
    EXPECT_EQ(sample(text, R"(braid_stage_duration_seconds_bucket{stage="total",le="+Inf"})"), 2);
    EXPECT_EQ(ask("GET", "/metrics").status, 200) << "at the main door too, for those who see all";
}

TEST_F(HttpTest, RefusesForeignNamesWhereMetricsAreToo) {
    net::HttpHandler& handler = app->metrics_handler();
    const auto with = [&](const braid::testing::Headers& headers) {
        auto request = http_request("GET", "/metrics", "");
        request.headers = headers;
        return send(handler, request).status;
    };
    EXPECT_EQ(with({{"Host", "127.0.0.1:9464"}}), 200);
    EXPECT_EQ(with({{"Host", "localhost"}}), 200);
    EXPECT_EQ(with({{"Host", "rebound.example:9464"}}), 421);
    EXPECT_EQ(with({{"Host", "localhost"}, {"Origin", "https://evil.example"}}), 403);
    EXPECT_EQ(with({}), 400);
    server::HttpAppOptions options;
    options.hosts = {"metrics.example"};
    restart(std::move(options));
    auto known = http_request("GET", "/metrics", "");
    known.headers = {{"Host", "metrics.example:9464"}};
    EXPECT_EQ(send(app->metrics_handler(), known).status, 200);
}

TEST_F(HttpTest, ServesNothingButMetricsBesides) {
    net::HttpHandler& handler = app->metrics_handler();
    for (const auto& [method, target] :
         std::vector<std::pair<std::string, std::string>>{{"GET", "/"},
                                                          {"GET", "/v1/collections"},
                                                          {"POST", "/rpc"},
                                                          {"POST", "/metrics"},
                                                          {"GET", "/metrics/x"},
                                                          {"GET", "/healthz"}}) {
        const auto status = send(handler, http_request(method, target, "")).status;
        EXPECT_EQ(status, target == "/metrics" ? 405 : 404) << target;
    }
}

TEST_F(HttpTest, DescribesEveryRouteAndNoOther) {
    const Value document = json("GET", "/v1/openapi.json");
    EXPECT_EQ(at(document, "openapi"), Value("3.1.0"));
    EXPECT_EQ(at(document, "info.version"), Value("1.2.3"));
    std::set<std::string> described;
    for (const auto& [path, operations] : document.find("paths")->as_object()) {
        for (const auto& [method, operation] : operations.as_object()) {
            std::string upper = method;
            for (char& c : upper) c = static_cast<char>(c & ~0x20);
            described.insert(upper.append(" ").append(path));
            EXPECT_FALSE(operation.find("operationId")->as_string().empty());
        }
    }
    std::set<std::string> served;
    std::set<std::string_view> ids;
    for (const Route& route : routes()) {
        served.insert(std::string(route.method) + " " + std::string(route.path));
        EXPECT_TRUE(ids.insert(route.id).second) << route.id;
        EXPECT_EQ(route.run != nullptr, route.kind == RouteKind::Operation ||
                                            route.kind == RouteKind::Chunks ||
                                            route.kind == RouteKind::Documents);
    }
    EXPECT_EQ(described, served);
}

TEST_F(HttpTest, SaysWhichMethodOfJsonRpcDoesTheSame) {
    const std::set<std::string> methods(Rpc::methods().begin(), Rpc::methods().end());
    std::set<std::string_view> named;
    for (const Route& route : routes()) {
        if (route.rpc.empty()) continue;
        EXPECT_TRUE(methods.contains(std::string(route.rpc))) << route.rpc;
        EXPECT_TRUE(named.insert(route.rpc).second) << route.rpc;
    }
    EXPECT_GE(named.size(), 24U);
    const Value document = json("GET", "/v1/openapi.json");
    const Value& retrieve = *document.find("paths")->find("/v1/retrieve")->find("post");
    EXPECT_EQ(*retrieve.find("x-json-rpc-method"), Value("braid.retrieve"));
    const Value& documents = *document.find("paths")->find("/v1/documents")->find("post");
    const Value& bodies = *documents.find("requestBody")->find("content");
    EXPECT_EQ(*bodies.find("application/octet-stream")->find("x-max-bytes"), Value(64 << 20));
    EXPECT_EQ(*bodies.find("application/json")->find("x-max-bytes"), Value(16 << 20));
}

TEST_F(HttpTest, SaysWhatWrites) {
    const Value document = json("GET", "/v1/openapi.json");
    std::map<std::string, bool> methods;
    for (const Value& method : document.find("x-json-rpc-methods")->as_array()) {
        const std::string& name = method.find("name")->as_string();
        methods[name] = method.find("writes")->as_bool();
        EXPECT_TRUE(method.find("operation") != nullptr || method.find("params") != nullptr)
            << "what " << name << " takes";
    }
    EXPECT_EQ(methods.size(), Rpc::methods().size());
    for (const std::string name :
         {"cstp.indexDecisions", "braid.set_ranker", "braid.finish_collection", "braid.compact"}) {
        EXPECT_TRUE(methods.at(name)) << name;
    }
    // What a POST without a write may be.
    const std::set<std::string_view> reads{
        "retrieve", "retrieveBatch", "hybridSearch", "findRelevantDoctrine",
        "context",  "explain",       "whyNot",       "eval",
        "facets",   "highlight",     "count",        "getChunks",
        "check",    "rpc",           "mcp",          "endMcpSession"};
    for (const Route& route : routes()) {
        std::string method(route.method);
        for (char& c : method) c = static_cast<char>(c | 0x20);
        const Value& operation = *document.find("paths")->find(route.path)->find(method);
        EXPECT_EQ(operation.find("x-writes")->as_bool(), route.writes) << route.id;
        EXPECT_EQ(route.writes, route.method != "GET" && !reads.contains(route.id)) << route.id;
        if (!route.rpc.empty()) {
            EXPECT_EQ(methods.at(std::string(route.rpc)), route.writes) << route.id;
        }
    }
}

/// Every "$ref" of a value.
void references(const Value& value, std::set<std::string>& out) {
    if (value.is_array()) {
        for (const Value& element : value.as_array()) references(element, out);
    }
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.as_object()) {
        if (key == "$ref" && member.is_string()) out.insert(member.as_string());
        references(member, out);
    }
}

TEST_F(HttpTest, DescribesEverySchemaItNames) {
    const Value document = json("GET", "/v1/openapi.json");
    std::set<std::string> used;
    references(document, used);
    const Value components = at(document, "components.schemas");
    const Object& schemas = components.as_object();
    for (const std::string& reference : used) {
        const std::string prefix = "#/components/schemas/";
        ASSERT_TRUE(reference.starts_with(prefix)) << reference;
        EXPECT_NE(schemas.find(reference.substr(prefix.size())), nullptr) << reference;
    }
    EXPECT_GT(used.size(), 40U);
}

std::string file(const std::string& name) {
    const std::ifstream in(std::string(BRAID_DOCS) + "/" + name);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST(HttpDocument, ShowsEveryErrorAndEveryRoute) {
    const std::string text = file("http.md");
    for (const DoorErrorFacts& facts : kDoorErrors) {
        const std::string row =
            "| `" + std::string(facts.name) + "` | " + std::to_string(facts.http_status) + " |";
        EXPECT_NE(text.find(row), std::string::npos) << row;
    }
    for (int code = 0; code <= static_cast<int>(ErrorCode::Unsupported); ++code) {
        const ErrorFacts& facts = error_facts(static_cast<ErrorCode>(code));
        const std::string row =
            "| `" + std::string(facts.name) + "` | " + std::to_string(facts.http_status) + " | " +
            std::to_string(facts.rpc_code) + " | " + std::to_string(facts.exit_code) + " |";
        EXPECT_NE(text.find(row), std::string::npos) << row;
    }
    for (const Route& route : routes()) {
        const std::string row =
            "| `" + std::string(route.method) + " " + std::string(route.path) + "` |";
        EXPECT_NE(text.find(row), std::string::npos) << row;
    }
}

}  // namespace
}  // namespace braid::server
