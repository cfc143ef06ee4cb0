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

TEST(FilterMatcher, LongListsOfAllTypesSelectWhatTheModelSelects) {
    const Schema schema;
    const std::vector<std::string> fields{"year", "tags", "kind", "author.name", "title"};
    for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        RandomData random(seed);
        const std::string& field = random.pick(fields);
        Array list;
        for (std::size_t i = random.below(60); i > 0; --i) {
            Value value = random.value();
            if (field == "title" && !value.is_string()) value = "word";
            list.push_back(std::move(value));
        }
        const auto op = random.chance(50) ? Filter::Op::In : Filter::Op::Nin;
        const Filter filter = Filter::compare(op, field, Value(std::move(list)));
        const auto matcher = FilterMatcher::create(filter, schema);
        ASSERT_TRUE(matcher.has_value()) << matcher.error().message;
        for (int i = 0; i < 40; ++i) {
            const Chunk chunk = random.chunk(0);
            ASSERT_EQ(matcher->matches(chunk), testing::model_matches(filter, chunk, schema));
        }
    }
}

TEST(FilterMatcher, ANumberIsInAListHoweverItIsWritten) {
    const Schema schema;
    const auto in = [&](Value value, Array list) {
        Chunk chunk;
        chunk.metadata = {{"n", std::move(value)}};
        return FilterMatcher::create(Filter::compare(Filter::Op::In, "n", Value(std::move(list))),
                                     schema)
            ->matches(chunk);
    };
    constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;  // no double
    EXPECT_TRUE(in(1, {1.0}));
    EXPECT_TRUE(in(1.0, {1}));
    EXPECT_TRUE(in(-0.0, {0}));
    EXPECT_TRUE(in(0.5, {0.25, 0.5}));
    EXPECT_TRUE(in(1e300, {2, 1e300}));
    EXPECT_TRUE(in(large, {large}));
    EXPECT_FALSE(in(large, {static_cast<double>(large)}));
    EXPECT_FALSE(in(static_cast<double>(large), {large}));
    EXPECT_FALSE(in(1, {"1", true, Value(), Array{2}}));
    EXPECT_TRUE(in(Array{1, 2}, {Array{1.0, 2.0}}));
    EXPECT_TRUE(in(Array{1, Array{2}}, {Array{2}}));
    EXPECT_TRUE(in("2024-01-01T01:00:00+01:00", {"x", "2024-01-01"}));
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
