#include "braid/eval/feature_lists.hpp"

#include <gtest/gtest.h>

namespace braid::eval {
namespace {

Hit hit_with(const std::string& id, const rank::Vector& features) {
    Hit hit;
    hit.chunk.chunk_id = id;
    hit.chunk.document_id = "doc-" + id;
    Object named;
    for (std::size_t i = 0; i < rank::kFeatures; ++i) {
        named.set(rank::features()[i].name, features[i]);
    }
    hit.receipt.stages.push_back(
        {"features", "keep", 1, 1, {{"version", rank::kFeatureVersion}, {"features", named}}});
    return hit;
}

TEST(FeatureLists, ComeFromReceiptsAlone) {
    rank::Vector vector{};
    vector[3] = 0.1 + 0.2;
    Answer answer;
    answer.hits = {hit_with("a", vector), hit_with("b", {})};
    const auto list = features_in("q", answer);
    ASSERT_TRUE(list) << list.error().message;
    ASSERT_EQ(list->rows.size(), 2U);
    EXPECT_EQ(list->rows[0].features, vector);
    EXPECT_EQ(list->rows[0].document, "doc-a");
    answer.hits[0].receipt.stages.clear();
    EXPECT_FALSE(features_in("q", answer));
    answer.hits[0] = hit_with("a", vector);
    answer.hits[0].receipt.stages[0].detail.set("version", 99);
    EXPECT_FALSE(features_in("q", answer));
}

TEST(FeatureLists, AreCollectedAndGraded) {
    const std::vector<Query> queries{{"1", "first"}, {"2", "second"}};
    RunRequest request;
    request.documents = 7;
    request.batch = 1;
    std::vector<Request> asked;
    const auto answer = [&](std::span<const Request> requests) {
        std::vector<Result<Answer>> answers;
        for (const Request& one : requests) {
            asked.push_back(one);
            Answer found;
            found.hits = {hit_with(one.query, {})};
            answers.emplace_back(std::move(found));
        }
        return answers;
    };
    auto lists = collect_features(queries, request, answer);
    ASSERT_TRUE(lists) << lists.error().message;
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(asked[0].top_k, 7U);
    ASSERT_EQ(asked[0].stages.size(), 1U);
    EXPECT_EQ(asked[0].stages[0].name, "features");
    const Qrels qrels{{{"2", {{"doc-second", 3}}}}};
    const auto graded = judged_lists(*std::move(lists), qrels);
    ASSERT_EQ(graded.size(), 1U);
    EXPECT_EQ(graded[0].rows[0].relevance, 3);
}

TEST(FeatureLists, AreWrittenAsLetor) {
    FeatureList list{"q 1", {{"c", "d", {}, 2, 1}}};
    list.rows[0].features[0] = 0.5;
    const std::string text = write_letor(std::vector{list});
    EXPECT_TRUE(text.starts_with("# 1:fused 2:fused_norm ")) << text;
    EXPECT_NE(text.find("\n# qid:1 \"q 1\"\n2 qid:1 1:0.5 2:0.0 "), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with(" # \"d\" \"c\"\n")) << text;
}

}  // namespace
}  // namespace braid::eval
