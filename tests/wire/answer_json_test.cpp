#include "braid/wire/answer_json.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "braid/apps/vocabulary.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/error_json.hpp"
#include "wire/random_wire.hpp"

namespace braid::wire {
namespace {

TEST(AnswerJson, RoundTripsThroughTextBitForBit) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Answer answer = testing::random_answer(rng);
        const std::string text = json::print(answer_to_value(answer, apps::vocabulary()));
        const auto value = json::parse(text);
        ASSERT_TRUE(value) << value.error().message;
        const auto read = answer_from_value(*value, apps::vocabulary());
        ASSERT_TRUE(read) << read.error().message;
        ASSERT_EQ(*read, answer) << text;
        ASSERT_EQ(json::print(answer_to_value(*read, apps::vocabulary())), text);
    }
}

TEST(AnswerJson, PrintsTheBytesOfItsValue) {
    for (unsigned seed = 0; seed < 1000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        Answer answer = testing::random_answer(rng);
        if (seed % 3 == 0) answer.profile = "topic";
        ASSERT_EQ(print_answer(answer, apps::vocabulary()),
                  json::print(answer_to_value(answer, apps::vocabulary())));
    }
    EXPECT_EQ(print_answer(Answer{}, apps::vocabulary()),
              json::print(answer_to_value(Answer{}, apps::vocabulary())));
}

TEST(AnswerJson, AReceiptLooksAsTheDesignShowsIt) {
    Receipt receipt;
    receipt.method = "rrf";
    receipt.k = 60;
    receipt.rank_base = 1;
    receipt.sources = {
        {"dense", 0.8312, {}, 1, {}, 0.7, 0.7 / 61, false, nullptr},
        {"sparse", 7.1049, {}, 4, {}, 0.3, 0.3 / 64, false, nullptr},
    };
    receipt.fused = 0.7 / 61 + 0.3 / 64;
    receipt.score = receipt.fused * 1.2;
    receipt.stages = {{"boost_section_matches", "multiply", 1.2, receipt.score}};
    EXPECT_EQ(json::print(receipt_to_value(receipt)),
              R"({"fusion":{"method":"rrf","k":60.0,"rank_base":1},)"
              R"("sources":[{"source":"dense","score":0.8312,"rank":1,"weight":0.7,)"
              R"("contribution":0.011475409836065573},)"
              R"({"source":"sparse","score":7.1049,"rank":4,"weight":0.3,)"
              R"("contribution":0.0046875}],)"
              R"("fused":0.016162909836065574,)"
              R"("stages":[{"stage":"boost_section_matches","operation":"multiply",)"
              R"("value":1.2,"score":0.019395491803278687}],)"
              R"("score":0.019395491803278687})");
}

TEST(AnswerJson, NormalisingMethodsShowTheirLists) {
    Receipt receipt;
    receipt.method = "weighted_sum";
    receipt.lists = {{"dense", 0.25, 0.75, {}, {}}};
    receipt.sources = {{"dense", 0.5, {}, 2, 0.5, 0.7, 0.35, false, nullptr},
                       {"sparse", 1.5, {}, 0, 0.0, 0.3, 0.0, true, nullptr}};
    EXPECT_EQ(json::print(receipt_to_value(receipt)),
              R"({"fusion":{"method":"weighted_sum","lists":{"dense":{"min":0.25,"max":0.75}}},)"
              R"("sources":[{"source":"dense","score":0.5,"rank":2,"normalized":0.5,)"
              R"("weight":0.7,"contribution":0.35},)"
              R"({"source":"sparse","score":1.5,"normalized":0.0,"weight":0.3,)"
              R"("contribution":0.0,"filled":true}],)"
              R"("fused":0.0,"stages":[],"score":0.0})");
}

TEST(AnswerJson, AHitHasTheFieldsOfTheComponentSpecification) {
    const Value value = hit_to_value(Hit{});
    for (const char* key :
         {"chunk_id", "document_id", "content", "score", "rank", "retrieval_strategy",
          "dense_score", "sparse_score", "metadata", "section_title", "chunk_index", "collection",
          "namespace", "title", "created_at", "sensitivity", "visibility_scope", "version",
          "receipt"}) {
        EXPECT_NE(value.find(key), nullptr) << key;
    }
    EXPECT_TRUE(value.find("dense_score")->is_null());
    EXPECT_EQ(value.find("vector"), nullptr);
    EXPECT_EQ(value.find("expanded"), nullptr);
}

TEST(AnswerJson, SpeaksTheWordsOfTopicRetrievalInItsProfile) {
    Answer answer;
    answer.profile = "topic";
    Hit& hit = answer.hits.emplace_back();
    hit.chunk.chunk_id = "c7";
    hit.chunk.document_id = "d";
    hit.chunk.chunk_index = 7;
    hit.chunk.content = "a text";
    hit.namespace_ = "cardiology";
    hit.score = 0.48;
    ReceiptSource& dense = hit.receipt.sources.emplace_back();
    dense.source = "dense";
    dense.score = 0.7;
    dense.normalized = 0.8;
    answer.sources.emplace_back().source = "sparse";
    answer.sources.back().ran = true;
    const auto said = [&](std::string_view key) {
        const Value json = answer_to_value(answer, apps::vocabulary());
        const Value* const value = json.find("chunks")->as_array().front().find(key);
        return value == nullptr ? Value("absent") : *value;
    };
    EXPECT_EQ(said("chunkId"), "c7");
    EXPECT_EQ(said("documentId"), "d");
    EXPECT_EQ(said("topicId"), "cardiology");
    EXPECT_EQ(said("chunkIndex"), 7);
    EXPECT_EQ(said("text"), "a text");
    EXPECT_EQ(said("hybridScore"), 0.48);
    EXPECT_EQ(said("semanticScore"), 0.8);
    EXPECT_EQ(said("lexicalScore"), 0.0);
    EXPECT_EQ(said("chunk_id"), "c7");
    answer.sources.back().ran = false;
    EXPECT_EQ(said("lexicalScore"), nullptr);
    answer.profile = "default";
    EXPECT_EQ(said("hybridScore"), "absent");
}

TEST(AnswerJson, RefusesWhatIsNoAnswer) {
    for (const char* text : {"[]", "{}", R"({"query": 5})"}) {
        EXPECT_FALSE(answer_from_value(json::parse(text).value(), apps::vocabulary())) << text;
    }
    Value answer = answer_to_value(Answer{}, apps::vocabulary());
    ASSERT_TRUE(answer_from_value(answer, apps::vocabulary()));
    const Value members = answer;
    for (const auto& [key, value] : members.as_object()) {
        Value wrong = answer;
        wrong.as_object().set(key, Object{{"unheard", 1}});
        EXPECT_FALSE(answer_from_value(wrong, apps::vocabulary())) << key;
    }
    answer.as_object().set("unheard", 1);
    EXPECT_FALSE(answer_from_value(answer, apps::vocabulary()));
}

TEST(AnswerJson, ReceiptsFromOutsideMayNotNestWithoutEnd) {
    Receipt receipt;
    for (int i = 0; i < 20; ++i) {
        Receipt outer;
        outer.sources = {{"s", 1, {}, 1, {}, 1, 1, false, std::make_shared<Receipt>(receipt)}};
        receipt = outer;
    }
    EXPECT_FALSE(receipt_from_value(receipt_to_value(receipt)));
}

TEST(ErrorJson, NamesCodeAndMessage) {
    EXPECT_EQ(json::print(error_to_value({ErrorCode::NotFound, "no such thing"})),
              R"({"error":{"code":"not_found","message":"no such thing"}})");
}

}  // namespace
}  // namespace braid::wire
