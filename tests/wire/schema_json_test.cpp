#include "braid/wire/schema_json.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "braid/wire/profile_json.hpp"
#include "wire/random_wire.hpp"

namespace braid::wire {
namespace {

std::string schema_complaint(const std::string& text) {
    const auto schema = schema_from_value(testing::parsed(text));
    return schema ? "(accepted)" : schema.error().message;
}

TEST(SchemaJson, RoundTripsThroughText) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Schema schema = testing::random_schema(rng);
        const std::string text = json::print(schema_to_value(schema));
        const auto read = schema_from_value(testing::parsed(text));
        ASSERT_TRUE(read) << read.error().message;
        ASSERT_EQ(*read, schema) << text;
    }
}

TEST(SchemaJson, WhatIsAbsentHasItsDefault) {
    EXPECT_EQ(schema_from_value(testing::parsed("{}")).value(), Schema());
    const Schema external =
        schema_from_value(testing::parsed(R"({"embedder": "external"})")).value();
    EXPECT_EQ(external.vectors.embedder, "external");
    EXPECT_EQ(external.analyzer, "standard");
}

TEST(SchemaJson, OkapiHasTheParametersOfRankBm25) {
    const Schema schema =
        schema_from_value(testing::parsed(R"({"bm25": {"variant": "okapi"}})")).value();
    EXPECT_EQ(schema.bm25, (Bm25{Bm25Variant::Okapi, 1.5, 0.75, 0.25}));
}

TEST(SchemaJson, RefusesWhatMakesNoSense) {
    for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
             {R"({"analyser": "simple"})", "\"analyzer\""},
             {R"({"bm25": {"k": 1}})", "\"bm25\""},
             {R"({"bm25": {"variant": "best"}})", "bm25.variant"},
             {R"({"metric": "manhattan"})", "metric"},
             {R"({"dimension": -1})", "dimension"},
             {R"({"text_fields": {}})", "text field"},
             {R"({"text_fields": {"body": 1}})", "body"},
             {R"({"text_fields": {"title": null}})", "title"},
             {R"({"metadata": {"year": "int"}})", "year"},
             {R"({"levels": {"default": "secret"}})", "secret"},
             {"[]", "object"}}) {
        EXPECT_NE(schema_complaint(text).find(words), std::string::npos) << schema_complaint(text);
    }
}

TEST(ProfileJson, RoundTripsThroughText) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Profile profile = testing::random_profile(rng);
        const std::string text = json::print(profile_to_value(profile));
        const auto read = profile_from_value(profile.name, testing::parsed(text), {});
        ASSERT_TRUE(read) << read.error().message;
        ASSERT_EQ(*read, profile) << text;
    }
}

TEST(ProfileJson, BuildsOnItsBase) {
    Profile topic;
    topic.name = "topic";
    topic.method = FusionMethod::WeightedSum;
    topic.top_k = 30;
    const std::vector<Profile> known{topic};

    const auto mine =
        profile_from_value("mine", testing::parsed(R"({"base": "topic", "k": 5})"), known);
    ASSERT_TRUE(mine) << mine.error().message;
    EXPECT_EQ(mine->name, "mine");
    EXPECT_EQ(mine->method, FusionMethod::WeightedSum);
    EXPECT_EQ(mine->top_k, 30U);
    EXPECT_EQ(mine->k, 5);

    EXPECT_EQ(profile_from_value("topic", testing::parsed("{}"), known).value(), topic);
    EXPECT_EQ(profile_from_value("other", testing::parsed("{}"), known)->top_k, Profile().top_k);
    const auto wrong = profile_from_value("mine", testing::parsed(R"({"base": "topik"})"), known);
    ASSERT_FALSE(wrong);
    EXPECT_NE(wrong.error().message.find("\"topic\""), std::string::npos);
}

TEST(ProfileJson, RefusesWhatMakesNoSense) {
    for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
             {R"({"top_k": 0})", "profiles.p.top_k"},
             {R"({"topk": 1})", "top_k"},
             {R"({"k": -1})", "profiles.p.k"},
             {R"({"dense_weight": 2})", "sparse_weight"},
             {R"({"strategy": "fuzzy"})", "strategy"},
             {"5", "profiles.p"}}) {
        const auto profile = profile_from_value("p", testing::parsed(text), {});
        ASSERT_FALSE(profile) << text;
        EXPECT_NE(profile.error().message.find(words), std::string::npos)
            << profile.error().message;
    }
}

}  // namespace
}  // namespace braid::wire
