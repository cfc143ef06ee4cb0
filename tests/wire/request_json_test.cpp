#include "braid/wire/request_json.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/apps/vocabulary.hpp"
#include "braid/json/json.hpp"
#include "wire/random_wire.hpp"

namespace braid::wire {
namespace {

Request read_request(const std::string& text) {
    auto request = request_from_value(testing::parsed(text), apps::vocabulary());
    EXPECT_TRUE(request) << text << ": " << (request ? "" : request.error().message);
    return request.value_or(Request());
}

std::string request_complaint(const std::string& text) {
    const auto request = request_from_value(testing::parsed(text), apps::vocabulary());
    if (request) return "(accepted)";
    EXPECT_EQ(request.error().code, ErrorCode::InvalidArgument);
    return request.error().message;
}

TEST(RequestJson, ReadsEveryKeyInBraidsWords) {
    const Request request = read_request(R"({
        "query": "foxes", "query_embedding": [0.5, -1, 2], "collections": ["a", "b"],
        "namespace": "n", "profile": "topic", "strategy": "hybrid", "top_k": 7, "cursor": "c",
        "fusion": {"method": "weighted_sum", "k": 10, "rank_base": 0, "fill_scores": true,
                   "preset": "qdrant"},
        "across": "scores", "weights": {"dense": 2, "sparse": 0}, "dense_top_k": 20, "sparse_top_k": 30,
        "max_hops": 2, "hop_top_k": 4, "score_threshold": 0.0, "filter": {"year": 2020},
        "document_ids": [], "expand_query": true, "use_hyde": true, "query_syntax": true,
        "stages": [{"min_score": {"value": 0.5}}, {"filter_by_recency": null}, "dedupe"],
        "expand_neighbors": 2, "exact": true, "recall": 0.9, "explain": true, "deadline_ms": 500})");

    Request expected;
    expected.query = "foxes";
    expected.query_embedding = {0.5F, -1.0F, 2.0F};
    expected.collections = {"a", "b"};
    expected.namespace_ = "n";
    expected.profile = "topic";
    expected.strategy = Strategy::Hybrid;
    expected.top_k = 7;
    expected.cursor = "c";
    expected.fusion = {FusionMethod::WeightedSum, 10.0, 0, true, "qdrant"};
    expected.across = Across::Scores;
    expected.weights = {{"dense", 2.0}, {"sparse", 0.0}};
    expected.dense_top_k = 20;
    expected.sparse_top_k = 30;
    expected.max_hops = 2;
    expected.hop_top_k = 4;
    expected.score_threshold = 0.0;
    expected.filter = parse_filter(testing::parsed(R"({"year": 2020})")).value();
    expected.document_ids = std::vector<std::string>{};
    expected.expand_query = expected.use_hyde = expected.query_syntax = true;
    expected.stages = {
        {"min_score", Object{{"value", 0.5}}}, {"filter_by_recency", {}}, {"dedupe", {}}};
    expected.expand_neighbors = 2;
    expected.exact = expected.explain = true;
    expected.recall = 0.9;
    expected.deadline_ms = 500;
    EXPECT_EQ(request, expected);
}

TEST(RequestJson, AnEmptyRequestTakesAllFromTheProfile) {
    EXPECT_EQ(read_request("{}"), Request());
    EXPECT_EQ(read_request(R"({"query": null, "top_k": null, "filter": null, "fusion": null,
                       "expand_neighbors": null, "query_embedding": null})"),
              Request());
}

TEST(RequestJson, KnowsTheWordsOfOtherServices) {
    EXPECT_EQ(read_request(R"({"limit": 5})").top_k, 5U);
    EXPECT_EQ(read_request(R"({"kContext": 30, "kSemantic": 200, "kLexical": 100, "alpha": 0.6,
                       "topicId": "sleep"})"),
              read_request(R"({"top_k": 30, "dense_top_k": 200, "sparse_top_k": 100,
                       "dense_weight": 0.6, "namespace": "sleep"})"));
    EXPECT_EQ(read_request(R"({"retrieval_mode": "semantic", "hybrid_weight": 0.7})"),
              read_request(R"({"strategy": "dense", "dense_weight": 0.7})"));
    EXPECT_EQ(read_request(R"({"retrieval_mode": "keyword"})").strategy, Strategy::Sparse);
    EXPECT_EQ(read_request(R"({"fusion_method": "dbsf"})"), read_request(R"({"fusion": "dbsf"})"));
    EXPECT_EQ(read_request(R"({"metadata_filter": {"a": 1}})"),
              read_request(R"({"filter": {"a": 1}})"));
    EXPECT_EQ(read_request(R"({"collection": "a"})"), read_request(R"({"collections": ["a"]})"));
}

TEST(RequestJson, ReadsTheFormWithTextAndConfig) {
    EXPECT_EQ(
        read_request(R"({"text": "bridge", "namespace": "arcnet_doctrine", "query_embedding": null,
                       "config": {"strategy": "hybrid", "top_k": 10, "dense_weight": 0.6,
                                  "fusion_method": "rrf", "score_threshold": null,
                                  "metadata_filter": {"mos_code": {"$in": ["12B"]}},
                                  "document_ids": null, "expand_query": false}})"),
        read_request(R"({"query": "bridge", "namespace": "arcnet_doctrine", "strategy": "hybrid",
                       "top_k": 10, "dense_weight": 0.6, "fusion": "rrf",
                       "filter": {"mos_code": {"$in": ["12B"]}}})"));
    EXPECT_EQ(read_request(R"({"text": "x", "config": null})").query, "x");
    EXPECT_EQ(read_request(R"({"query": "x", "config": {}})").query, "x");
}

TEST(RequestJson, FilterShorthandsJoinTheFilter) {
    const Request request = read_request(R"({"filter": {"year": 2020}, "artifact_type": "doc",
                                     "category": ["a", "b"], "mos_codes": ["12B"],
                                     "created_after": "2025-01-01T00:00:00Z"})");
    const auto expected =
        Filter::all_of({parse_filter(testing::parsed(R"({"year": 2020})")).value(),
                        Filter::compare(Filter::Op::Eq, "artifact_type", "doc"),
                        Filter::compare(Filter::Op::In, "category", Array{"a", "b"}),
                        Filter::compare(Filter::Op::In, "mos_code", Array{"12B"}),
                        Filter::compare(Filter::Op::Gt, "created_at", "2025-01-01T00:00:00Z")});
    EXPECT_EQ(request.filter, expected);
    EXPECT_EQ(read_request(R"({"stakes": "high"})").filter,
              Filter::compare(Filter::Op::Eq, "stakes", "high"));
    EXPECT_EQ(read_request(R"({"mos_codes": []})").filter, std::nullopt);
}

TEST(RequestJson, ExpandNeighborsIsASwitchOrANumber) {
    EXPECT_EQ(read_request(R"({"expand_neighbors": false})").expand_neighbors, 0U);
    EXPECT_EQ(read_request(R"({"expand_neighbors": true})").expand_neighbors, 1U);
    EXPECT_EQ(read_request(R"({"expand_neighbors": 3})").expand_neighbors, 3U);
}

TEST(RequestJson, AnUnknownKeyNamesTheNearest) {
    EXPECT_NE(request_complaint(R"({"topk": 5})").find("\"top_k\""), std::string::npos);
    EXPECT_NE(request_complaint(R"({"fusion": {"methd": "rrf"}})").find("\"method\""),
              std::string::npos)
        << request_complaint(R"({"fusion": {"methd": "rrf"}})");
    EXPECT_NE(request_complaint(R"({"config": {"densetopk": 5}})").find("\"dense_top_k\""),
              std::string::npos)
        << request_complaint(R"({"config": {"densetopk": 5}})");
    EXPECT_NE(request_complaint(R"({"text": "x"})").find("\"query\""), std::string::npos);
    EXPECT_NE(request_complaint(R"({"principal": "me"})").find("principal"), std::string::npos);
}

TEST(RequestJson, KeysOfOneMeaningExcludeEachOther) {
    for (const auto& [text, first, second] :
         std::vector<std::tuple<std::string, std::string, std::string>>{
             {R"({"top_k": 1, "limit": 1})", "top_k", "limit"},
             {R"({"dense_weight": 0.5, "weights": {"dense": 1}})", "dense_weight", "weights"},
             {R"({"alpha": 0.5, "dense_weight": 0.5})", "dense_weight", "alpha"},
             {R"({"topicId": "a", "namespace": "a"})", "namespace", "topicId"},
             {R"({"collection": "a", "collections": ["b"]})", "collection", "collections"},
             {R"({"fusion": "rrf", "fusion_method": "rrf"})", "fusion", "fusion_method"},
             {R"({"top_k": 5, "config": {"top_k": 6}})", "top_k", "config"},
             {R"({"query": "a", "text": "b", "config": {}})", "query", "text"}}) {
        EXPECT_NE(request_complaint(text).find("\"" + first + "\""), std::string::npos) << text;
        EXPECT_NE(request_complaint(text).find("\"" + second + "\""), std::string::npos) << text;
    }
    EXPECT_EQ(read_request(R"({"top_k": 1, "limit": null})").top_k, 1U);
}

TEST(RequestJson, WrongValuesNameTheKey) {
    for (const auto& [text, key] : std::vector<std::pair<std::string, std::string>>{
             {R"({"query": 5})", "query"},
             {R"({"top_k": 0})", "top_k"},
             {R"({"top_k": 10001})", "top_k"},
             {R"({"top_k": 2.5})", "top_k"},
             {R"({"top_k": "ten"})", "top_k"},
             {R"({"limit": 0})", "limit"},
             {R"({"dense_weight": 1.5})", "dense_weight"},
             {R"({"dense_weight": -0.1})", "dense_weight"},
             {R"({"weights": {"dense": -1}})", "weights.dense"},
             {R"({"weights": {"dense": null}})", "weights.dense"},
             {R"({"weights": {}})", "weights"},
             {R"({"weights": [1]})", "weights"},
             {R"({"fusion": 5})", "fusion"},
             {R"({"fusion": "rff"})", "fusion"},
             {R"({"fusion": {"k": -1}})", "fusion.k"},
             {R"({"fusion": {"k": 0, "rank_base": 0}})", "fusion.k"},
             {R"({"fusion": {"rank_base": 2}})", "fusion.rank_base"},
             {R"({"strategy": "fuzzy"})", "strategy"},
             {R"({"collections": []})", "collections"},
             {R"({"collections": ["a", "a"]})", "collections"},
             {R"({"collections": "a"})", "collections"},
             {R"({"namespace": ""})", "namespace"},
             {R"({"deadline_ms": 0})", "deadline_ms"},
             {R"({"recall": 0})", "recall"},
             {R"({"recall": 1.01})", "recall"},
             {R"({"recall": "all"})", "recall"},
             {R"({"dense_top_k": 0})", "dense_top_k"},
             {R"({"query_embedding": "x"})", "query_embedding"},
             {R"({"query_embedding": [1, "x"]})", "query_embedding[1]"},
             {R"({"query_embedding": [1e300]})", "query_embedding[0]"},
             {R"({"document_ids": "d"})", "document_ids"},
             {R"({"stages": {"a": {}}})", "stages"},
             {R"({"stages": [{"a": {}, "b": {}}]})", "stages[0]"},
             {R"({"stages": ["a", 5]})", "stages[1]"},
             {R"({"stages": [{"a": 5}]})", "stages[0].a"},
             {R"({"expand_neighbors": "yes"})", "expand_neighbors"},
             {R"({"expand_neighbors": -1})", "expand_neighbors"},
             {R"({"exact": 1})", "exact"},
             {R"({"artifact_type": 5})", "artifact_type"},
             {R"({"artifact_type": [5]})", "artifact_type"},
             {R"({"created_after": "yesterday"})", "created_after"},
             {R"({"config": 5})", "config"}}) {
        EXPECT_NE(request_complaint(text).find("\"" + key), std::string::npos)
            << request_complaint(text);
    }
    EXPECT_NE(request_complaint(R"({"filter": {"year": {"$gtt": 1}}})").find("$gtt"),
              std::string::npos);
    EXPECT_NE(request_complaint("[]").find("object"), std::string::npos);
    EXPECT_NE(request_complaint("5").find("object"), std::string::npos);
}

TEST(RequestJson, DocumentIdsAreBoundedAsTheFilterTheyBecome) {
    const auto with_ids = [](std::size_t count) {
        std::string ids;
        for (std::size_t i = 0; i < count; ++i)
            ids += (i == 0 ? "\"" : ", \"") + std::to_string(i) + '"';
        return R"({"query": "q", "document_ids": [)" + ids + "]}";
    };
    EXPECT_EQ(read_request(with_ids(10'000)).document_ids->size(), 10'000U);
    EXPECT_NE(request_complaint(with_ids(10'001)).find("at most 10000 ids"), std::string::npos);
}

TEST(RequestJson, RoundTripsThroughText) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Request request = testing::random_request(rng);
        const std::string text = json::print(request_to_value(request));
        ASSERT_EQ(read_request(text), request) << text;
    }
}

}  // namespace
}  // namespace braid::wire
