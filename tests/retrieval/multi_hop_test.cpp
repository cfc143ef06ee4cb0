#include "braid/retrieval/multi_hop.hpp"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "core/present.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/fake_backend.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

using Ids = std::vector<std::string>;

/// A backend whose hop n answers with hops[n], and an embedder that numbers the texts it is given:
/// the query's vector is {0}, the next text's {1}, and so on.
struct Trail {
    explicit Trail(std::vector<std::vector<LegHit>> lists)
        : hops(std::move(lists)),
          backend([this](const Leg& leg) { return answer(leg); }, leg_of({})) {
        backend.schema_for_test().vectors.embedder = "numbering";
    }

    Result<LegResult> answer(const Leg& leg) {
        legs.push_back(leg);
        const auto hop = static_cast<std::size_t>(leg.vector.at(0));
        if (hop >= hops.size()) return fail(ErrorCode::Unavailable, "the index is down");
        return leg_of(hops[hop])(leg);
    }

    Result<Answer> retrieve(const Request& request) {
        const auto embed = [this](const Schema&, std::string_view text,
                                  const CallLimits&) -> Result<QueryVector> {
            texts.emplace_back(text);
            if (texts.size() > embeddings) return fail(ErrorCode::Unavailable, "no model");
            return QueryVector{{static_cast<float>(texts.size() - 1)}, false, {}};
        };
        return Retriever(backend, embed, application_options()).retrieve(request, {}, {});
    }

    std::vector<std::vector<LegHit>> hops;
    FakeBackend backend;
    std::vector<Leg> legs;
    Ids texts;
    std::size_t embeddings = 100;  // that succeed
};

Request hop_request() {
    Request request;
    request.query = "foxes";
    request.strategy = Strategy::MultiHop;
    return request;
}

TEST(MultiHop, AsksAgainWithTheBeginningsOfWhatIsNewAndLowersItsScores) {
    Trail trail({{{"a", 0.9}, {"b", 0.8}, {"c", 0.7}, {"d", 0.6}},
                 {{"e", 0.95}, {"a", 0.94}, {"f", 0.9}},
                 {{"g", 1.0}, {"e", 0.5}}});
    const auto answer = trail.retrieve(hop_request());
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(trail.texts,
              (Ids{"foxes", "foxes text of a text of b text of c", "foxes text of e text of f"}));
    std::map<std::string, double> expected{{"a", 0.9},
                                           {"b", 0.8},
                                           {"c", 0.7},
                                           {"d", 0.6},
                                           {"e", 0.95 * 0.9},
                                           {"f", 0.9 * 0.9},
                                           {"g", 1.0 * std::pow(0.9, 2)}};
    ASSERT_EQ(answer->hits.size(), expected.size());
    const std::map<std::string, int> hops{{"e", 1}, {"f", 1}, {"g", 2}};
    for (const Hit& hit : answer->hits) {
        const std::string& id = hit.chunk.chunk_id;
        EXPECT_EQ(hit.score, expected.at(id)) << id;
        const auto hop = hops.find(id);
        ASSERT_NE(hit.chunk.metadata.find("hop"), nullptr);
        EXPECT_EQ(*hit.chunk.metadata.find("hop"), Value(hop == hops.end() ? 0 : hop->second));
        EXPECT_EQ(hit.strategy, Strategy::MultiHop);
        EXPECT_EQ(hit.receipt.method, "multi_hop");
        EXPECT_EQ(hit.receipt.sources.at(0).score, hit.dense_score);
    }
    for (std::size_t i = 1; i < answer->hits.size(); ++i) {
        EXPECT_GE(answer->hits[i - 1].score, answer->hits[i].score);
    }
    EXPECT_EQ(answer->strategy_used, Strategy::MultiHop);
    EXPECT_EQ(answer->total_candidates, 7U);
    EXPECT_TRUE(answer->complete);
    EXPECT_TRUE(answer->warnings.empty());
}

TEST(MultiHop, DividesNegativeScoresSoThatDecayNeverPromotes) {
    Trail trail({{{"a", -0.5}}, {{"b", -0.5}}});
    trail.backend.schema_for_test().vectors.metric = Metric::Euclidean;
    Request request = hop_request();
    request.max_hops = 2;
    const auto answer = trail.retrieve(request);
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->hits.size(), 2U);
    EXPECT_EQ(answer->hits[0].chunk.chunk_id, "a");
    EXPECT_EQ(answer->hits[1].score, -0.5 / 0.9);
    EXPECT_EQ(answer->hits[1].receipt.sources.at(0).distance, 0.5);
}

TEST(MultiHop, StopsWhenNothingIsNewOrAfterMaxHops) {
    Trail still({{{"a", 0.9}}, {{"a", 0.8}}, {{"b", 1.0}}});
    ASSERT_TRUE(still.retrieve(hop_request()));
    EXPECT_EQ(still.legs.size(), 2U);
    Trail limited({{{"a", 0.9}}, {{"b", 0.8}}, {{"c", 1.0}}});
    Request request = hop_request();
    request.max_hops = 2;
    const auto answer = limited.retrieve(request);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->hits.size(), 2U);
    EXPECT_EQ(limited.texts.size(), 2U);
    EXPECT_TRUE(answer->complete);
}

TEST(MultiHop, FetchesHopTopKAndFiltersAtEveryHop) {
    Trail trail({{{"a", 0.9}, {"b", 0.8}, {"c", 0.7}}, {{"d", 0.9}, {"e", 0.8}, {"f", 0.7}}});
    Request request = hop_request();
    request.hop_top_k = 2;
    request.max_hops = 2;
    request.filter = Filter::compare(Filter::Op::Eq, "year", 2024);
    request.document_ids = {"x"};
    request.dense_top_k = 7;
    const auto answer = trail.retrieve(request);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->hits.size(), 4U);
    ASSERT_EQ(trail.legs.size(), 2U);
    for (const Leg& leg : trail.legs) {
        EXPECT_EQ(leg.depth, 2U);
        EXPECT_EQ(present(leg.scope.filter).children.size(), 2U);
    }
    EXPECT_EQ(answer->unused, (Ids{"dense_top_k"}));
}

TEST(MultiHop, CutsAtTopKAndAtTheThresholdOfTheDecayedScore) {
    Trail trail({{{"a", 0.9}, {"b", 0.4}}, {{"c", 0.5}, {"d", 1.0}}});
    Request request = hop_request();
    request.max_hops = 2;
    request.score_threshold = 0.46;
    const auto answer = trail.retrieve(request);
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->hits.size(), 2U);
    EXPECT_EQ(answer->hits[0].chunk.chunk_id, "a");  // 0.9 each, the smaller id first
    EXPECT_EQ(answer->hits[1].chunk.chunk_id, "d");
}

TEST(MultiHop, KeepsWhatEarlierHopsFoundWhenALaterOneFails) {
    Trail down({{{"a", 0.9}}});
    const auto answer = down.retrieve(hop_request());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->hits.size(), 1U);
    EXPECT_FALSE(answer->complete);
    ASSERT_EQ(answer->warnings.size(), 1U);
    EXPECT_NE(answer->warnings[0].find("the index is down"), std::string::npos);

    Trail mute({{{"a", 0.9}}});
    mute.embeddings = 1;
    const auto half = mute.retrieve(hop_request());
    ASSERT_TRUE(half);
    EXPECT_FALSE(half->complete);

    Trail nothing({});
    EXPECT_FALSE(nothing.retrieve(hop_request()));
}

TEST(MultiHop, SaysWhyItCannotWorkWithVectorsFromOutside) {
    Trail trail({{{"a", 0.9}}});
    trail.backend.schema_for_test().vectors.embedder = "external";
    Request request = hop_request();
    request.query_embedding = {0.0F};
    const auto answer = trail.retrieve(request);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(answer.error().message.find("embed what each hop finds"), std::string::npos);
    trail.backend.schema_for_test().vectors.embedder = "none";
    EXPECT_FALSE(trail.retrieve(request));
}

TEST(MultiHop, TakesTwoHundredCodePointsOfEachChunk) {
    LocalStore store;
    std::string accents;
    for (int i = 0; i < 300; ++i) accents += "\u00e9";
    store.add("default", {chunk_of("a", accents), chunk_of("b", "short")});
    Ids texts;
    const auto recording = [&](const Schema&, std::string_view text,
                               const CallLimits&) -> Result<QueryVector> {
        texts.emplace_back(text);
        return QueryVector{fake_embed(text), false, {}};
    };
    Request request = hop_request();
    request.query = accents;
    ASSERT_TRUE(Retriever(store, recording, application_options()).retrieve(request, {}, {}));
    ASSERT_EQ(texts.size(), 2U);
    EXPECT_EQ(texts[1], accents + " " + accents.substr(0, 400) + " short");
}

TEST(MultiHop, StartsFromTheCallersVector) {
    Trail trail({{{"z", 0.1}}, {{"a", 0.9}}, {{"b", 0.9}}});
    Request request = hop_request();
    request.query_embedding = {1.0F};
    request.max_hops = 1;
    const auto answer = trail.retrieve(request);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->hits.at(0).chunk.chunk_id, "a");
    EXPECT_TRUE(trail.texts.empty());
}

TEST(MultiHop, RefusesHopCountsThatMakeNoSense) {
    for (const std::size_t bad : {std::size_t{0}, std::size_t{100'000}}) {
        Trail trail({{{"a", 0.9}}});
        Request request = hop_request();
        request.max_hops = bad;
        EXPECT_FALSE(trail.retrieve(request));
        request.max_hops.reset();
        request.hop_top_k = bad;
        EXPECT_FALSE(trail.retrieve(request));
    }
}

}  // namespace
}  // namespace braid::retrieval
