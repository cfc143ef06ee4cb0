// The stages "features" and "rank": what a learned ranking sees, and what it does.

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/rank/features.hpp"
#include "braid/rank/model_json.hpp"
#include "braid/retrieval/retriever.hpp"
#include "rank/random_model.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

Result<Answer> ask(const Backend& store, std::vector<StageChoice> stages,
                   std::optional<std::size_t> top_k = std::nullopt) {
    Request request;
    request.query = "red fox at night";
    request.collections = {"notes"};
    request.fusion.method = FusionMethod::Auto;
    request.stages = std::move(stages);
    request.top_k = top_k;
    return Retriever(store, fake_query_embedder(), application_options()).retrieve(request, {}, {});
}

void fill(LocalStore& store) {
    std::vector<Chunk> chunks{chunk_of("a", "red fox at dusk"), chunk_of("b", "owl in the barn"),
                              chunk_of("c", "a fox and a hen"), chunk_of("d", "the river at night"),
                              chunk_of("e", "red barn on the hill by night")};
    chunks[2].title = "Red foxes";
    chunks[3].created_at = Timestamp{1'000'000};
    store.add("notes", chunks);
}

/// A model that is all trees, so that ranks change.
std::string model_text() {
    std::mt19937_64 rng(42);
    return rank::write_model(rank::random_model(rng, 30));
}

const ReceiptStage& only_stage(const Hit& hit) {
    EXPECT_EQ(hit.receipt.stages.size(), 1U);
    return hit.receipt.stages.front();
}

TEST(RankStages, FeaturesAreInTheReceiptAndChangeNothing) {
    LocalStore store;
    fill(store);
    const auto plain = ask(store, {});
    const auto shown = ask(store, {{"features", {}}});
    ASSERT_TRUE(plain && shown);
    ASSERT_EQ(plain->hits.size(), shown->hits.size());
    for (std::size_t i = 0; i < plain->hits.size(); ++i) {
        EXPECT_EQ(plain->hits[i].chunk, shown->hits[i].chunk);
        EXPECT_EQ(plain->hits[i].score, shown->hits[i].score);
        const ReceiptStage& stage = only_stage(shown->hits[i]);
        const Value* const features = stage.detail.find("features");
        ASSERT_NE(features, nullptr);
        EXPECT_EQ(features->as_object().size(), rank::kFeatures);
        EXPECT_EQ(features->find("fused")->as_double(), plain->hits[i].receipt.fused);
        EXPECT_EQ(features->find("dense_score")->as_double(),
                  plain->hits[i].receipt.sources[0].score);
    }
}

TEST(RankStages, RankScoresByTheModelAndProvesItInTheReceipt) {
    LocalStore store;
    fill(store);
    ASSERT_TRUE(store.set_ranker("notes", model_text()));
    const rank::Model model = rank::read_model(model_text()).value();
    const auto features = ask(store, {{"features", {}}});
    const auto ranked = ask(store, {{"rank", {}}});
    ASSERT_TRUE(features && ranked);
    EXPECT_TRUE(ranked->complete);
    ASSERT_EQ(ranked->hits.size(), 5U);
    double before = ranked->hits.front().score;
    for (const Hit& hit : ranked->hits) {
        EXPECT_LE(hit.score, before);
        before = hit.score;
        const ReceiptStage& stage = only_stage(hit);
        EXPECT_EQ(stage.operation, "replace");
        EXPECT_EQ(stage.score, hit.score);
        // The parts add up, bit for bit.
        double sum = stage.detail.find("bias")->as_double();
        for (const auto& [name, part] : stage.detail.find("contributions")->as_object()) {
            sum += part.as_double();
        }
        EXPECT_EQ(sum + stage.detail.find("prior")->as_double(), hit.score);
        // Offline and online see the same vector, and give the same score.
        rank::Vector row{};
        for (std::size_t i = 0; i < rank::kFeatures; ++i) {
            row[i] = stage.detail.find("features")->find(rank::features()[i].name)->as_double();
        }
        EXPECT_EQ(model.scores(std::span(&row, 1)).front(), hit.score);
        for (const Hit& offline : features->hits) {
            if (offline.chunk.chunk_id != hit.chunk.chunk_id) continue;
            EXPECT_EQ(*only_stage(offline).detail.find("features"), *stage.detail.find("features"));
        }
    }
}

TEST(RankStages, OrderDoesNotDependOnHowManyAreShown) {
    LocalStore store;
    fill(store);
    ASSERT_TRUE(store.set_ranker("notes", model_text()));
    const auto all = ask(store, {{"rank", {}}});
    const auto two = ask(store, {{"rank", {}}}, 2);
    ASSERT_TRUE(all && two);
    ASSERT_EQ(two->hits.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(two->hits[i].receipt, all->hits[i].receipt);
}

TEST(RankStages, OnlyTheBestCandidatesAreRanked) {
    LocalStore store;
    fill(store);
    ASSERT_TRUE(store.set_ranker("notes", model_text()));
    const auto plain = ask(store, {});
    const auto ranked = ask(store, {{"rank", {{"candidates", 2}}}});
    ASSERT_TRUE(plain && ranked);
    ASSERT_EQ(ranked->hits.size(), 5U);
    for (std::size_t i = 2; i < 5; ++i) {
        EXPECT_EQ(ranked->hits[i].chunk.chunk_id, plain->hits[i].chunk.chunk_id);
        EXPECT_TRUE(ranked->hits[i].receipt.stages.empty());
    }
}

TEST(RankStages, WithoutAModelTheStageIsSkippedAndTheAnswerSaysSo) {
    LocalStore store;
    fill(store);
    const auto plain = ask(store, {});
    const auto answer = ask(store, {{"rank", {}}});
    ASSERT_TRUE(plain && answer);
    EXPECT_FALSE(answer->complete);
    ASSERT_EQ(answer->hits.size(), plain->hits.size());
    EXPECT_EQ(answer->hits.front().chunk, plain->hits.front().chunk);
    EXPECT_NE(answer->warnings.back().find("braid rank train"), std::string::npos);
    ASSERT_TRUE(store.set_ranker("notes", model_text()));
    EXPECT_TRUE(ask(store, {{"rank", {}}})->complete);
    ASSERT_TRUE(store.set_ranker("notes", ""));
    EXPECT_FALSE(ask(store, {{"rank", {}}})->complete);
    EXPECT_FALSE(store.set_ranker("notes", "{}"));
    EXPECT_FALSE(store.set_ranker("none", model_text()));
}

}  // namespace
}  // namespace braid::retrieval
