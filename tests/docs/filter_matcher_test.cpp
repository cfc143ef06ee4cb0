#include "braid/docs/filter_matcher.hpp"

#include <gtest/gtest.h>

#include "backend/model.hpp"
#include "backend/random_data.hpp"

namespace braid::docs {
namespace {

using testing::RandomData;

TEST(FilterMatcher, SelectsWhatTheModelSelects) {
    const Schema schema;
    for (unsigned seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        RandomData random(seed);
        const Filter filter = random.filter(4);
        const auto matcher = FilterMatcher::create(filter, schema);
        ASSERT_TRUE(matcher.has_value()) << matcher.error().message;
        for (int i = 0; i < 50; ++i) {
            Chunk chunk = random.chunk(0);
            if (chunk.document_id.empty()) chunk.document_id = chunk.chunk_id;
            ASSERT_EQ(matcher->matches(chunk), testing::model_matches(filter, chunk, schema));
        }
    }
}

TEST(FilterMatcher, AFilterThatWasPrintedAndReadSelectsTheSame) {
    const Schema schema;
    for (unsigned seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        RandomData random(seed);
        const Filter filter = random.filter(5);
        const auto parsed = parse_filter(filter_to_value(filter));
        ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
        const auto before = FilterMatcher::create(filter, schema);
        const auto after = FilterMatcher::create(*parsed, schema);
        ASSERT_TRUE(before.has_value());
        ASSERT_TRUE(after.has_value());
        for (int i = 0; i < 30; ++i) {
            const Chunk chunk = random.chunk(0);
            ASSERT_EQ(before->matches(chunk), after->matches(chunk));
        }
    }
}

TEST(FieldValue, IsWhatFiltersAndFacetsSee) {
    const Schema schema;
    Chunk chunk;
    chunk.chunk_id = "c";
    chunk.document_id = "d";
    EXPECT_EQ(field_value(chunk, "chunk_id", schema), Value("c"));
    EXPECT_EQ(field_value(chunk, "document_id", schema), Value("d"));
    EXPECT_EQ(field_value(chunk, "sensitivity", schema), Value("normal"));
    EXPECT_EQ(field_value(chunk, "title", schema), std::nullopt);
    EXPECT_EQ(field_value(chunk, "visibility_scope", schema), std::nullopt);
    chunk.metadata = {{"title", "from metadata"}, {"a", Object{{"b", 1}}}};
    EXPECT_EQ(field_value(chunk, "title", schema), Value("from metadata"));
    EXPECT_EQ(field_value(chunk, "a.b", schema), Value(1));
    EXPECT_EQ(field_value(chunk, "metadata.a.b", schema), Value(1));
    EXPECT_EQ(field_value(chunk, "a.b.c", schema), std::nullopt);
    chunk.title = "its own";
    chunk.chunk_index = 4;
    chunk.created_at = Timestamp{0};
    chunk.visibility_scope = {"x", "y"};
    EXPECT_EQ(field_value(chunk, "title", schema), Value("its own"));
    EXPECT_EQ(field_value(chunk, "chunk_index", schema), Value(4));
    EXPECT_EQ(field_value(chunk, "created_at", schema), Value("1970-01-01T00:00:00Z"));
    EXPECT_EQ(field_value(chunk, "visibility_scope", schema), Value(Array{"x", "y"}));
}

TEST(CheckMetadata, RefusesAnotherTypeThanTheDeclaredOne) {
    Schema schema;
    schema.metadata = {{"s", MetadataType::String},
                       {"n", MetadataType::Number},
                       {"b", MetadataType::Boolean},
                       {"d.t", MetadataType::Date}};
    EXPECT_TRUE(check_metadata({}, schema).has_value());
    EXPECT_TRUE(check_metadata({{"s", "x"}, {"n", 1}, {"b", true}, {"other", Array{}}}, schema));
    EXPECT_TRUE(check_metadata({{"n", Array{1, 2.5}}, {"s", nullptr}}, schema).has_value());
    EXPECT_TRUE(check_metadata({{"d", Object{{"t", "2024-02-29"}}}}, schema).has_value());
    EXPECT_FALSE(check_metadata({{"s", 1}}, schema).has_value());
    EXPECT_FALSE(check_metadata({{"n", "1"}}, schema).has_value());
    EXPECT_FALSE(check_metadata({{"n", Array{1, nullptr}}}, schema).has_value());
    EXPECT_FALSE(check_metadata({{"b", 0}}, schema).has_value());
    EXPECT_FALSE(check_metadata({{"d", Object{{"t", "2023-02-29"}}}}, schema).has_value());
    EXPECT_FALSE(check_metadata({{"d.t", "no date"}}, schema).has_value());
}

}  // namespace
}  // namespace braid::docs
