// Every key of a request either does something or is listed under "unused" (or refused).

#include "braid/retrieval/unused.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/apps/vocabulary.hpp"
#include "braid/json/json.hpp"
#include "braid/retrieval/retriever.hpp"
#include "braid/wire/answer_json.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

class TalkativeModel final : public QueryPreprocessor {
public:
    Result<std::vector<std::string>> expand(std::string_view, const CallLimits&) const override {
        return std::vector<std::string>{"owl"};
    }
    Result<std::string> hypothetical_answer(std::string_view, const CallLimits&) const override {
        return std::string("an oak is a tree");
    }
};

/// A key with a value that is not the default, and the strategies that can use it.
struct KeyCase {
    std::string name;
    std::function<void(Request&)> give;
    std::set<Strategy> used_by;
    bool shows = true;  // with the chunks below; more hops need not find more
};

constexpr Strategy kStrategies[] = {Strategy::Dense, Strategy::Sparse, Strategy::Hybrid,
                                    Strategy::MultiHop};
const std::set<Strategy> kByAll(std::begin(kStrategies), std::end(kStrategies));
const std::set<Strategy> kByVectors{Strategy::Dense, Strategy::Hybrid, Strategy::MultiHop};
const std::set<Strategy> kByWords{Strategy::Sparse, Strategy::Hybrid};

std::vector<KeyCase> key_cases() {
    return {
        {"query_embedding", [](Request& r) { r.query_embedding = fake_embed("oak tree"); },
         kByVectors},
        {"namespace", [](Request& r) { r.namespace_ = "empty"; }, kByAll},
        {"top_k", [](Request& r) { r.top_k = 1; }, kByAll},
        {"fusion.method",
         [](Request& r) { r.fusion.method = FusionMethod::WeightedSum; },
         {Strategy::Hybrid}},
        {"fusion.k", [](Request& r) { r.fusion.k = 5; }, {Strategy::Hybrid}},
        {"fusion.rank_base", [](Request& r) { r.fusion.rank_base = 0; }, {Strategy::Hybrid}},
        {"fusion.preset", [](Request& r) { r.fusion.preset = "haystack"; }, {Strategy::Hybrid}},
        {"dense_weight", [](Request& r) { r.dense_weight = 0.1; }, {Strategy::Hybrid}},
        {"bm25", [](Request& r) { r.bm25.k1 = 0; }, kByWords},
        {"dense_top_k", [](Request& r) { r.dense_top_k = 1; }, {Strategy::Dense, Strategy::Hybrid}},
        {"sparse_top_k", [](Request& r) { r.sparse_top_k = 1; }, kByWords},
        {"max_hops", [](Request& r) { r.max_hops = 1; }, {Strategy::MultiHop}, false},
        {"hop_top_k", [](Request& r) { r.hop_top_k = 1; }, {Strategy::MultiHop}},
        {"score_threshold", [](Request& r) { r.score_threshold = 1000; }, kByAll},
        {"filter",
         [](Request& r) { r.filter = Filter::compare(Filter::Op::Eq, "kind", Value("bird")); },
         kByAll},
        {"document_ids", [](Request& r) { r.document_ids = {"owl"}; }, kByAll},
        {"expand_query", [](Request& r) { r.expand_query = true; }, kByWords},
        {"use_hyde", [](Request& r) { r.use_hyde = true; }, kByVectors},
        {"stages", [](Request& r) { r.stages = {{"min_score", Object{{"value", Value(1000)}}}}; },
         kByAll},
        {"expand_neighbors", [](Request& r) { r.expand_neighbors = 1; }, kByAll},
        {"explain", [](Request& r) { r.explain = true; }, kByAll},
    };
}

class Unused : public ::testing::Test {
protected:
    Unused() {
        std::vector<Chunk> chunks{chunk_of("fox", "fox", 0, "the fox hunts at dusk"),
                                  chunk_of("fix", "fox", 1, "no fox here or there at dusk"),
                                  chunk_of("owl", "owl", 0, "the owl is a bird"),
                                  chunk_of("oak", "oak", 0, "an oak is a tree")};
        chunks[2].metadata.set("kind", "bird");
        store.add("default", chunks);
    }

    Result<Answer> ask(const Request& request) const {
        RetrieverOptions options = application_options();
        options.preprocessor = std::make_shared<TalkativeModel>();
        return Retriever(store, fake_query_embedder(), options).retrieve(request, {}, {});
    }

    /// What a caller can see, times and the list of unused keys apart.
    static std::string text_of(Answer answer) {
        answer.timings = {};
        answer.cursor.reset();
        answer.unused.clear();
        answer.query_embedding_cached.reset();
        for (SourceReport& report : answer.sources) report.time_ms = 0;
        return json::print(wire::answer_to_value(answer, apps::vocabulary()));
    }

    LocalStore store;
};

TEST_F(Unused, AKeyChangesTheAnswerOrIsListedForEveryStrategy) {
    for (const Strategy strategy : kStrategies) {
        Request plain;
        plain.query = "fox dusk";
        plain.strategy = strategy;
        if (strategy == Strategy::MultiHop) plain.hop_top_k = 2;  // leaves something for hops
        const auto without = ask(plain);
        ASSERT_TRUE(without) << without.error().message;
        EXPECT_TRUE(without->unused.empty());
        for (const KeyCase& key : key_cases()) {
            SCOPED_TRACE(key.name + " with " + std::string(name_of(strategy)));
            Request request = plain;
            key.give(request);
            const auto with = ask(request);
            ASSERT_TRUE(with) << with.error().message;
            const bool used = key.used_by.contains(strategy);
            EXPECT_EQ(with->unused,
                      used ? std::vector<std::string>{} : std::vector<std::string>{key.name});
            if (key.shows) {
                EXPECT_EQ(text_of(*with) != text_of(*without), used);
            }
        }
    }
}

TEST_F(Unused, SwitchesOfOneLegAreListedWithoutIt) {
    const auto listed = [&](const std::function<void(Request&)>& give) {
        Request request;
        request.query = "fox";
        give(request);
        const auto answer = ask(request);
        EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
        return answer ? answer->unused : std::vector<std::string>{};
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(listed([](Request& r) {
                  r.strategy = Strategy::Sparse;
                  r.exact = true;
                  r.recall = 0.9;
                  r.fusion.fill_scores = true;
              }),
              (Names{"fusion.fill_scores", "exact", "recall"}));
    EXPECT_EQ(listed([](Request& r) {
                  r.strategy = Strategy::Dense;
                  r.exact = true;
                  r.recall = 0.9;
              }),
              (Names{"recall"}));
    EXPECT_EQ(listed([](Request& r) {
                  r.strategy = Strategy::Dense;
                  r.query_syntax = true;
              }),
              (Names{"query_syntax"}));
    EXPECT_EQ(listed([](Request& r) {
                  r.query_syntax = true;
                  r.expand_query = true;
              }),
              (Names{"expand_query"}));
    EXPECT_EQ(listed([](Request& r) {
                  r.query_embedding = fake_embed("fox");
                  r.use_hyde = true;
              }),
              (Names{"use_hyde"}));
    EXPECT_EQ(listed([](Request& r) {
                  r.fusion.method = FusionMethod::Dbsf;
                  r.fusion.k = 10;
                  r.dense_weight = 0.5;
              }),
              (Names{"fusion.k", "dense_weight"}));
}

TEST_F(Unused, ExplanationsSayWithWhichWordsTheyMeasured) {
    RetrieverOptions options;
    options.preprocessor = std::make_shared<TalkativeModel>();
    const Retriever retriever(store, fake_query_embedder(), options);
    Request request;
    request.query = "fox dusk";
    request.expand_query = request.use_hyde = true;
    request.max_hops = 2;  // of no use here
    const auto answer = retriever.retrieve(request, {}, {});
    const auto explanation = retriever.explain(request, "owl", {}, {});
    const auto why = retriever.why_not(request, "owl", {}, {});
    ASSERT_TRUE(answer && explanation && why);
    EXPECT_EQ(answer->unused, std::vector<std::string>{"max_hops"});
    EXPECT_FALSE(answer->phrasings.empty());
    EXPECT_TRUE(answer->hypothetical_answer);
    for (const Explanation& found : {*explanation, why->explanation}) {
        EXPECT_EQ(found.phrasings, answer->phrasings);
        EXPECT_EQ(found.hypothetical_answer, answer->hypothetical_answer);
        EXPECT_EQ(found.complete, answer->complete);
        EXPECT_EQ(found.warnings, answer->warnings);
        EXPECT_EQ(found.unused, answer->unused);
        ASSERT_EQ(found.legs.size(), 2U);
        EXPECT_TRUE(found.legs.back().rank) << "a phrasing is \"owl\", the query is not";
    }
    request.explain = true;  // it is one already, and shows no hits
    request.expand_neighbors = 1;
    EXPECT_EQ(retriever.explain(request, "owl", {}, {})->unused,
              (std::vector<std::string>{"max_hops", "expand_neighbors", "explain"}));
}

TEST_F(Unused, ExplainSaysWhereEachLegHasEveryHit) {
    Request request;
    request.query = "fox";
    request.dense_top_k = 1;
    request.explain = true;
    const auto answer = ask(request);
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_FALSE(answer->hits.empty());
    for (const Hit& hit : answer->hits) {
        ASSERT_EQ(hit.legs.size(), 2U);
        EXPECT_EQ(hit.legs.front().source, "dense");
        EXPECT_EQ(hit.legs.front().depth, 1U);
        EXPECT_TRUE(hit.legs.front().rank && hit.legs.front().score);  // also below the depth
        EXPECT_EQ(hit.legs.front().score,
                  hit.dense_score ? hit.dense_score : hit.legs.front().score);
        EXPECT_EQ(hit.legs.back().source, "sparse");
        EXPECT_EQ(hit.legs.back().rank.has_value(), hit.sparse_score.has_value());
    }
}

class FilterHints : public Unused {
protected:
    std::vector<std::string> warnings_for(const std::string& filter) {
        Request request;
        request.query = "owl";
        request.filter = *parse_filter(*json::parse(filter));
        const auto answer = ask(request);
        EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
        return answer ? answer->warnings : std::vector<std::string>{};
    }
};

TEST_F(FilterHints, AKeyThatNoChunkHasNamesTheNearestOne) {
    using Texts = std::vector<std::string>;
    EXPECT_EQ(warnings_for(R"({"knid": "bird"})"),
              Texts{R"(no chunk has the filter's key "knid"; did you mean "kind"?)"});
    EXPECT_EQ(warnings_for(R"({"knid": {"$ne": "bird"}})"),
              Texts{R"(no chunk has the filter's key "knid"; did you mean "kind"?)"});
    EXPECT_EQ(warnings_for(R"({"$or": [{"kind": "bird"}, {"documentid": "owl"}]})"),
              Texts{R"(no chunk has the filter's key "documentid"; did you mean "document_id"?)"});
    EXPECT_EQ(warnings_for(R"({"xylophone": 1})"),
              Texts{R"(no chunk has the filter's key "xylophone")"});
}

TEST_F(FilterHints, AKnownKeyThatMatchesNothingIsNoMistake) {
    EXPECT_TRUE(warnings_for(R"({"kind": "fish"})").empty());
    EXPECT_TRUE(warnings_for(R"({"metadata.kind": "fish"})").empty());
    EXPECT_TRUE(warnings_for(R"({"kind": "bird"})").empty());
    EXPECT_TRUE(warnings_for(R"({"title": "none"})").empty());
}

TEST_F(FilterHints, KeysOfHiddenChunksAreNobodysBusiness) {
    Chunk secret = chunk_of("secret", "an owl in the attic");
    secret.metadata.set("colour", "grey");
    secret.sensitivity = "restricted";
    store.add("default", {secret});
    Request request;
    request.query = "owl";
    request.filter = *parse_filter(*json::parse(R"({"color": "grey"})"));
    const Retriever retriever(store, fake_query_embedder(), application_options());
    const auto answer = retriever.retrieve(request, {"reader", "normal", {}}, {});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->warnings,
              std::vector<std::string>{R"(no chunk has the filter's key "color")"});
}

}  // namespace
}  // namespace braid::retrieval
