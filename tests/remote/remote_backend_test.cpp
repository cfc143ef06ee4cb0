#include <atomic>
#include <map>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/json/json.hpp"
#include "braid/remote/backend.hpp"
#include "braid/remote/bulk.hpp"
#include "braid/remote/index_layout.hpp"
#include "net/http_test_server.hpp"

// A cluster that says what a test makes it say: answers that a real one gives rarely.
namespace braid::remote {
namespace {

using net::HttpTestServer;
using net::ReceivedRequest;
using net::TestConnection;
using testing::expect_error;
using testing::make_chunk;
using testing::must;
using testing::words_schema;

class ScriptedCluster {
public:
    using Answer = std::function<std::pair<int, std::string>(const ReceivedRequest&)>;

    ScriptedCluster()
        : server_([this](const ReceivedRequest& request, TestConnection& connection) {
              if (request.target == "/") {
                  connection.reply(200, greeting);
                  return true;
              }
              for (const auto& [part, answer] : answers_) {
                  if (request.target.find(part) == std::string::npos) continue;
                  const auto [status, body] = answer(request);
                  connection.reply(status, body);
                  return true;
              }
              connection.reply(404, R"({"error":{"type":"index_not_found_exception"}})");
              return true;
          }) {
        const Value mapping = mapping_body({.collection = "c", .schema = words_schema()});
        on("/_mapping", json::print(Object{{"braid-c", Object{{"mappings", mapping}}}}));
        on("/_mget", [](const ReceivedRequest& request) {  // nothing is there
            Array docs;
            const Value asked = *json::parse(request.body);
            for (std::size_t i = 0; i < asked.find("ids")->as_array().size(); ++i) {
                docs.emplace_back(Object{{"found", false}});
            }
            return std::pair(200, json::print(Object{{"docs", std::move(docs)}}));
        });
        on("/_refresh", R"({"_shards":{"total":1,"successful":1,"failed":0}})");
    }

    void on(const std::string& part, std::string body) {
        answers_[part] = [body](const ReceivedRequest&) { return std::pair(200, body); };
    }
    void on(const std::string& part, Answer answer) { answers_[part] = std::move(answer); }

    std::unique_ptr<Backend> backend() const {
        RemoteOptions options;
        options.urls = {server_.url()};
        options.max_attempts = 3;
        return must(open_remote_backend(options));
    }
    const HttpTestServer& server() const { return server_; }

    std::string greeting = R"({"version":{"distribution":"opensearch","number":"2.19.1"}})";

private:
    std::map<std::string, Answer> answers_;  // by a part of the target; filled before it is asked
    HttpTestServer server_;
};

ReaderPtr reader_of(const Backend& backend) {
    const std::vector<std::string> names{"c"};
    return must(backend.snapshot(names, {}));
}

TEST(RemoteBackend, APartOfTheShardsIsNoAnswer) {
    ScriptedCluster cluster;
    cluster.on("/_msearch", R"({"responses":[{"status":200,"timed_out":false,)"
                            R"("_shards":{"total":3,"successful":2,"failed":1},)"
                            R"("hits":{"total":{"value":1,"relation":"eq"},"hits":[]}}]})");
    const auto backend = cluster.backend();
    expect_error(reader_of(*backend)->count({.collection = "c"}), ErrorCode::Unavailable,
                 "1 of 3 shards");
}

TEST(RemoteBackend, ASearchThatFailedForTheMomentIsAskedAgainAlone) {
    ScriptedCluster cluster;
    std::atomic<int> asked{0};
    std::atomic<std::size_t> lines{0};
    const std::string good =
        R"({"status":200,"_shards":{"total":1,"successful":1,"failed":0},)"
        R"("hits":{"total":{"value":1,"relation":"eq"},"hits":[{"sort":[1.1,"a"]}]}})";
    cluster.on("/_msearch", [&](const ReceivedRequest& request) {
        lines = static_cast<std::size_t>(std::ranges::count(request.body, '\n'));
        if (++asked > 1) return std::pair(200, R"({"responses":[)" + good + "]}");
        return std::pair(
            200, R"({"responses":[)" + good + R"(,{"status":429,"error":{"type":"rejected"}}]})");
    });
    const auto backend = cluster.backend();
    const std::vector<Leg> legs{testing::words_leg({.collection = "c"}, {"fox"}),
                                testing::words_leg({.collection = "c"}, {"owl"})};
    for (const auto& result : reader_of(*backend)->search(legs)) {
        EXPECT_EQ(testing::ids_of(must(result)), std::vector<std::string>{"a"});
    }
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(lines, 2U) << "only the one that failed";
}

TEST(RemoteBackend, AsksForAllShardsAndTheSameStatistics) {
    ScriptedCluster cluster;
    std::string sent;
    cluster.on("/_msearch", [&](const ReceivedRequest& request) {
        sent = request.body;
        return std::pair(200, std::string(R"({"responses":[{"status":200,"_shards":{"failed":0},)"
                                          R"("hits":{"hits":[]}}]})"));
    });
    const auto backend = cluster.backend();
    (void)must(reader_of(*backend)->search_leg(testing::words_leg({.collection = "c"}, {"fox"})));
    EXPECT_NE(sent.find(R"("allow_partial_search_results":false)"), std::string::npos) << sent;
    EXPECT_NE(sent.find(R"("search_type":"dfs_query_then_fetch")"), std::string::npos) << sent;
    EXPECT_EQ(sent.find("pit"), std::string::npos) << "a first page needs no point in time";
}

TEST(RemoteBackend, AQueryOfTooManyWordsIsCutAndSaysSo) {
    ScriptedCluster cluster;
    std::string sent;
    cluster.on("/_msearch", [&](const ReceivedRequest& request) {
        if (sent.empty()) sent = request.body;
        return std::pair(200, std::string(R"({"responses":[{"status":200,"_shards":{"failed":0},)"
                                          R"("hits":{"hits":[]}}]})"));
    });
    const auto backend = cluster.backend();
    std::string words;
    for (int i = 0; i < 1'100; ++i) words += "w" + std::to_string(i) + " ";
    const LegResult found =
        must(reader_of(*backend)->search_leg(testing::words_leg({.collection = "c"}, {words})));
    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_NE(found.warnings[0].find("at most 1000 different words"), std::string::npos);
    EXPECT_NE(sent.find("\"w999\""), std::string::npos);
    EXPECT_EQ(sent.find("\"w1000\""), std::string::npos);
}

TEST(RemoteBackend, ACollectionOfAnEarlierVersionHasNoQueryLanguage) {
    ScriptedCluster cluster;
    const Value mapping =
        mapping_body({.collection = "c", .schema = words_schema(), .keeps_places = false});
    cluster.on("/_mapping", json::print(Object{{"braid-c", Object{{"mappings", mapping}}}}));
    const auto backend = cluster.backend();
    Leg leg{.kind = LegKind::Sparse, .scope = {.collection = "c"}};
    leg.clause = std::make_shared<const QueryClause>(
        QueryClause{.kind = QueryClause::Kind::Group, .clauses = {{.text = "fox"}}});
    expect_error(reader_of(*backend)->search_leg(leg), ErrorCode::Unsupported, "earlier version");
    EXPECT_TRUE(must(reader_of(*backend)->suggest({.collection = "c"}, "fxo", 3)).empty());
}

TEST(RemoteBackend, SaysWhichHalfOfABatchWasWritten) {
    ScriptedCluster cluster;
    cluster.on("/_bulk", R"({"errors":true,"items":[{"index":{"result":"created","status":201}},)"
                         R"({"index":{"status":400,"error":{"type":"mapper","reason":"no"}}}]})");
    const auto backend = cluster.backend();
    const auto written =
        backend->upsert("c", "default", {make_chunk("a", "x"), make_chunk("b", "x")}, {});
    expect_error(written, ErrorCode::InvalidArgument, "\"b\"");
    expect_error(written, ErrorCode::InvalidArgument, "of 2 changes, 1 took effect");
}

TEST(RemoteBackend, RetriesTheRefusedPartOfABatch) {
    ScriptedCluster cluster;
    std::atomic<int> asked{0};
    std::string second;
    cluster.on("/_bulk", [&](const ReceivedRequest& request) {
        if (++asked == 1) {
            return std::pair(
                200, std::string(R"({"items":[{"create":{"result":"created","status":201}},)"
                                 R"({"create":{"status":429,"error":{"type":"rejected"}}}]})"));
        }
        second = request.body;
        return std::pair(200,
                         std::string(R"({"items":[{"index":{"result":"updated","status":200}}]})"));
    });
    const auto backend = cluster.backend();
    const WriteReport report =
        must(backend->upsert("c", "default", {make_chunk("a", "x"), make_chunk("b", "x")}, {}));
    EXPECT_EQ(report.written, 2U);
    EXPECT_EQ(report.replaced, 0U) << "by what was there before, not by what a repetition found";
    EXPECT_EQ(std::ranges::count(second, '\n'), 2) << "an action and a document";
}

TEST(RemoteBackend, RecognisesItsOwnWriteWhoseAnswerWasLost) {
    ScriptedCluster cluster;
    std::string version;
    cluster.on("/_bulk", [&](const ReceivedRequest& request) {
        const std::size_t at = request.body.find("\"version\":") + 10;
        version = request.body.substr(at, request.body.find(',', at) - at);
        return std::pair(200, std::string(R"({"items":[{"create":{"status":409}}]})"));
    });
    std::atomic<bool> ours{true};
    cluster.on("/_mget", [&](const ReceivedRequest&) {
        if (version.empty()) return std::pair(200, std::string(R"({"docs":[{"found":false}]})"));
        Chunk chunk = make_chunk("a", "x");
        chunk.document_id = "a";
        chunk.version = ours ? std::stoull(version) : 7;
        std::string source;
        const auto analyzer = text::Analyzer::create({.name = "simple"});
        const Schema schema = words_schema();
        const WholeWeights weights = whole_weights(schema);
        append_document(source, "default", chunk, {schema, *analyzer, weights});
        return std::pair(200, R"({"docs":[{"found":true,"_seq_no":1,"_primary_term":1,"_source":)" +
                                  source + "}]}");
    });
    const auto backend = cluster.backend();
    const WriteOptions if_new{.if_version = 0};
    EXPECT_EQ(must(backend->upsert("c", "default", {make_chunk("a", "x")}, if_new)).written, 1U);
    version.clear();
    ours = false;
    expect_error(backend->upsert("c", "default", {make_chunk("a", "x")}, if_new),
                 ErrorCode::Conflict, "another writer");
}

const std::string kOneIsThere = [] {
    Chunk chunk = make_chunk("a", "x");
    chunk.document_id = "a";
    chunk.version = 7;
    std::string source;
    const auto analyzer = text::Analyzer::create({.name = "simple"});
    const Schema schema = words_schema();
    append_document(source, "default", chunk, {schema, *analyzer, whole_weights(schema)});
    return R"({"docs":[{"found":true,"_seq_no":4,"_primary_term":2,"_source":)" + source + "}]}";
}();

TEST(RemoteBackend, ARemovalLeavesAMarkAndOldMarksAreForgotten) {
    ScriptedCluster cluster;
    cluster.on("/_mget", kOneIsThere);
    std::vector<std::string> sent;
    cluster.on("/_bulk", [&](const ReceivedRequest& request) {
        sent.push_back(request.body);
        EXPECT_NE(request.target.find("require_alias=true"), std::string::npos);
        return std::pair(200,
                         std::string(R"({"items":[{"index":{"result":"updated","status":200}}]})"));
    });
    std::string searched;
    cluster.on("/_msearch", [&](const ReceivedRequest& request) {
        searched = request.body;
        return std::pair(200, std::string(R"({"responses":[{"status":200,"_shards":{"failed":0},)"
                                          R"("hits":{"hits":[{"_id":"old","_seq_no":1,)"
                                          R"("_primary_term":1}]}}]})"));
    });
    const auto backend = cluster.backend();
    const auto removed = must(backend->remove({.collection = "c"}, {.chunk_ids = {"a"}}, {}));
    EXPECT_EQ(removed.written, 1U);
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_NE(sent[0].find(R"("if_seq_no":4,"if_primary_term":2)"), std::string::npos) << sent[0];
    EXPECT_NE(sent[0].find(R"({"removed":)"), std::string::npos) << sent[0];
    EXPECT_NE(searched.find(R"({"range":{"removed":{"lt":)"), std::string::npos) << searched;
    EXPECT_EQ(sent[1], R"({"delete":{"_id":"old","if_seq_no":1,"if_primary_term":1}})"
                       "\n");
    must(backend->remove({.collection = "c"}, {.chunk_ids = {"a"}}, {}));
    EXPECT_EQ(sent.size(), 3U) << "they are looked for once an hour";
}

TEST(RemoteBackend, AChunkWrittenOverAMarkIsNew) {
    ScriptedCluster cluster;
    cluster.on("/_mget", R"({"docs":[{"found":true,"_seq_no":9,"_primary_term":3,)"
                         R"("_source":{"removed":1700000000000,"version":5}}]})");
    std::string sent;
    cluster.on("/_bulk", [&](const ReceivedRequest& request) {
        sent = request.body;
        return std::pair(200,
                         std::string(R"({"items":[{"index":{"result":"updated","status":200}}]})"));
    });
    const auto backend = cluster.backend();
    const auto chunk =
        must(reader_of(*backend)->fetch({.collection = "c"}, std::vector<std::string>{"a"}, false));
    EXPECT_FALSE(chunk.front());
    const WriteReport report =
        must(backend->upsert("c", "default", {make_chunk("a", "x")}, {.if_version = 0}));
    EXPECT_EQ(report.written, 1U);
    EXPECT_EQ(report.replaced, 0U);
    EXPECT_NE(sent.find(R"({"index":{"_id":)"), std::string::npos) << sent;
    EXPECT_NE(sent.find(R"("if_seq_no":9,"if_primary_term":3)"), std::string::npos) << sent;
}

TEST(RemoteBackend, WhatWasWrittenIsRefreshedForSearchesNotForReadsById) {
    ScriptedCluster cluster;
    std::atomic<int> refreshed{0};
    cluster.on("/_refresh", [&](const ReceivedRequest&) {
        ++refreshed;
        return std::pair(200, std::string(R"({"_shards":{"total":1,"successful":1,"failed":0}})"));
    });
    cluster.on("/_bulk", R"({"items":[{"create":{"result":"created","status":201}}]})");
    cluster.on("/_msearch", R"({"responses":[{"status":200,"_shards":{"failed":0},)"
                            R"("hits":{"total":{"value":1,"relation":"eq"},"hits":[]}}]})");
    const auto backend = cluster.backend();
    for (int i = 0; i < 3; ++i) {
        (void)must(backend->upsert("c", "default", {make_chunk("a", "x")}, {}));
        (void)must(
            reader_of(*backend)->fetch({.collection = "c"}, std::vector<std::string>{"a"}, true));
    }
    EXPECT_EQ(refreshed, 0);
    const ReaderPtr reader = reader_of(*backend);
    EXPECT_EQ(must(reader->count({.collection = "c"})), 1U);
    EXPECT_EQ(must(reader->count({.collection = "c"})), 1U);
    EXPECT_EQ(refreshed, 1);
}

TEST(RemoteBackend, SearchesLookAtTheTimeOnceAChunkExpires) {
    ScriptedCluster cluster;
    std::string changed;
    cluster.on("/_mapping", [&](const ReceivedRequest& request) {
        if (request.method == "PUT") {
            changed = request.body;
            return std::pair(200, std::string(R"({"acknowledged":true})"));
        }
        const Value mapping = mapping_body({.collection = "c", .schema = words_schema()});
        return std::pair(200, json::print(Object{{"braid-c", Object{{"mappings", mapping}}}}));
    });
    std::string sent;
    cluster.on("/_bulk", [&](const ReceivedRequest& request) {
        sent = request.body;
        return std::pair(
            200, std::string(R"({"items":[{"create":{"result":"created","status":201}}]})"));
    });
    std::string searched;
    cluster.on("/_msearch", [&](const ReceivedRequest& request) {
        searched = request.body;
        return std::pair(200, std::string(R"({"responses":[{"status":200,"_shards":{"failed":0},)"
                                          R"("hits":{"total":{"value":0,"relation":"eq"},)"
                                          R"("hits":[]}}]})"));
    });
    const auto backend = cluster.backend();
    must(backend->upsert("c", "default", {make_chunk("a", "x")}, {}));
    (void)must(reader_of(*backend)->count({.collection = "c"}));
    EXPECT_EQ(searched.find("expires"), std::string::npos) << searched;
    EXPECT_EQ(changed, "");
    Chunk fading = make_chunk("a", "x");
    fading.expires_at = Timestamp{4'000'000'000'000'000};
    must(backend->upsert("c", "default", {fading}, {}));
    EXPECT_NE(changed.find(R"("expires":{"type":"long")"), std::string::npos) << changed;
    EXPECT_NE(sent.find(R"("expires":4000000000000000)"), std::string::npos) << sent;
    (void)must(reader_of(*backend)->count({.collection = "c"}));
    EXPECT_NE(searched.find(R"({"bool":{"must_not":[{"range":{"expires":{"lte":)"),
              std::string::npos)
        << searched;
}

TEST(RemoteBackend, WhatHasExpiredIsNotThere) {
    ScriptedCluster cluster;
    static const std::string expired = [] {
        std::string source;
        Chunk chunk = make_chunk("a", "x");
        chunk.version = 7;
        chunk.expires_at = Timestamp{1};
        const auto analyzer = text::Analyzer::create({});
        const Schema schema = words_schema();
        append_document(source, "default", chunk, {schema, *analyzer, whole_weights(schema)});
        return R"({"docs":[{"found":true,"_seq_no":4,"_primary_term":2,"_source":)" + source +
               "}]}";
    }();
    cluster.on("/_mget", expired);
    cluster.on("/_bulk", R"({"items":[{"index":{"result":"updated","status":200}}]})");
    const auto backend = cluster.backend();
    const std::vector<std::string> ids{"a"};
    EXPECT_FALSE(must(reader_of(*backend)->fetch({.collection = "c"}, ids, false)).front());
    EXPECT_EQ(must(backend->remove({.collection = "c"}, {.chunk_ids = ids}, {})).written, 0U);
    expect_error(backend->update("c", "default", {{.chunk_id = "a", .metadata = {{"k", 1}}}}, {}),
                 ErrorCode::NotFound);
    const auto report =
        must(backend->upsert("c", "default", {make_chunk("a", "x")}, {.if_version = 0}));
    EXPECT_EQ(report.replaced, 0U);
}

TEST(RemoteBackend, WhatIsStoredJustSoIsNotSent) {
    ScriptedCluster cluster;
    cluster.on("/_mget", kOneIsThere);
    int sent = 0;
    cluster.on("/_bulk", [&](const ReceivedRequest&) {
        ++sent;
        return std::pair(200,
                         std::string(R"({"items":[{"index":{"result":"updated","status":200}}]})"));
    });
    const auto backend = cluster.backend();
    const std::vector<std::string> ids{"a"};
    const Chunk stored = *must(reader_of(*backend)->fetch({.collection = "c"}, ids, true)).front();
    WriteReport report = must(backend->upsert("c", "default", {stored}, {.skip_unchanged = true}));
    EXPECT_EQ(report.unchanged, 1U);
    EXPECT_EQ(report.written, 0U);
    EXPECT_EQ(report.version, 0U);
    EXPECT_EQ(sent, 0);
    // A version that is not there is told, whatever the content.
    expect_error(
        backend->upsert("c", "default", {stored}, {.if_version = 1, .skip_unchanged = true}),
        ErrorCode::Conflict);
    Chunk other = stored;
    other.content = "other";
    report = must(backend->upsert("c", "default", {other}, {.skip_unchanged = true}));
    EXPECT_EQ(report.written, 1U);
    EXPECT_EQ(sent, 1);
}

TEST(RemoteBackend, RecognisesItsOwnCollectionWhoseAnswerWasLost) {
    ScriptedCluster cluster;
    const auto exists = [](const ReceivedRequest&) {
        return std::pair(400,
                         std::string(R"({"error":{"type":"resource_already_exists_exception"}})"));
    };
    cluster.on("/braid-c", exists);
    expect_error(cluster.backend()->create_collection("c", words_schema()),
                 ErrorCode::AlreadyExists, "already exists");
    std::string mappings;
    cluster.on("/braid-c", [&](const ReceivedRequest& request) {
        const Value body = *json::parse(request.body);
        mappings = json::print(Object{{"braid-c", Object{{"mappings", *body.find("mappings")}}}});
        return exists(request);
    });
    cluster.on("/_mapping", [&](const ReceivedRequest&) { return std::pair(200, mappings); });
    must(cluster.backend()->create_collection("c", words_schema()));
}

TEST(RemoteBackend, SaysWhatIsWrongWithAServerThatItCannotUse) {
    const auto refused = [](const std::string& greeting, const std::string& part) {
        ScriptedCluster cluster;
        cluster.greeting = greeting;
        const auto backend = cluster.backend();
        const std::vector<std::string> names{"c"};
        expect_error(backend->snapshot(names, {}), ErrorCode::Unsupported, part);
        expect_error(backend->collections({}), ErrorCode::Unsupported, part);
        expect_error(backend->create_collection("d", words_schema()), ErrorCode::Unsupported, part);
    };
    refused("{}", "not an OpenSearch cluster");
    refused(R"("hello")", "not an OpenSearch cluster");
    refused(R"({"version":{"number":"8.15.0"}})", "not OpenSearch, version 8.15.0");
    refused(R"({"version":{"distribution":"opensearch","number":"2.11.0"}})", "OpenSearch 2.11.0");
    for (const char* const good : {"2.19.1", "2.21.0", "3.5.0", "7.10.2"}) {
        ScriptedCluster cluster;
        cluster.greeting =
            R"({"version":{"distribution":"opensearch","number":")" + std::string(good) + R"("}})";
        (void)reader_of(*cluster.backend());
    }
}

TEST(RemoteBackend, SaysThatThePluginForVectorsIsMissingOrAnIndexIsNotOurs) {
    ScriptedCluster cluster;
    cluster.on("/braid-v", [](const ReceivedRequest&) {
        return std::pair(400, std::string(R"({"error":{"type":"illegal_argument_exception",)"
                                          R"("reason":"unknown setting [index.knn] please"}})"));
    });
    cluster.on("/_mapping", R"({"braid-c":{"mappings":{"properties":{}}}})");
    cluster.on("/braid-c", [](const ReceivedRequest&) {
        return std::pair(400,
                         std::string(R"({"error":{"type":"resource_already_exists_exception"}})"));
    });
    const auto backend = cluster.backend();
    expect_error(backend->create_collection("v", words_schema()), ErrorCode::Unsupported, "k-NN");
    expect_error(backend->create_collection("c", words_schema()), ErrorCode::AlreadyExists,
                 "not braid's");
    const std::vector<std::string> names{"c"};
    expect_error(backend->snapshot(names, {}), ErrorCode::NotFound, "does not hold");
}

TEST(RemoteBackend, RefusesPrefixesThatAreNoNames) {
    for (const char* const prefix : {"", "Upper", "-x", "a*", "a,b"}) {
        RemoteOptions options;
        options.urls = {"http://127.0.0.1:1"};
        options.prefix = prefix;
        expect_error(open_remote_backend(options), ErrorCode::InvalidArgument, "prefix");
    }
}

TEST(Bulk, TellsOutcomesApart) {
    using Kind = BulkOutcome::Kind;
    const auto kind = [](const std::string& item, bool last = true) {
        const auto outcome = outcome_of(*json::parse(item), last);
        return outcome ? std::optional(outcome->kind) : std::nullopt;
    };
    EXPECT_EQ(kind(R"({"create":{"result":"created","status":201}})"), Kind::Done);
    EXPECT_EQ(kind(R"({"index":{"result":"updated","status":200}})"), Kind::Done);
    EXPECT_EQ(kind(R"({"index":{"status":404}})"), Kind::Failed) << "the collection is gone";
    EXPECT_EQ(kind(R"({"index":{"status":409}})"), Kind::Conflict);
    EXPECT_EQ(kind(R"({"index":{"status":503}})", false), std::nullopt);
    EXPECT_EQ(kind(R"({"index":{"status":503}})"), Kind::Failed);
    EXPECT_EQ(kind(R"({"index":{"status":400}})", false), Kind::Failed);
    EXPECT_EQ(kind(R"([])"), Kind::Failed);
}

}  // namespace
}  // namespace braid::remote
