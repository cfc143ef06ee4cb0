#include "braid/remote/facts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "braid/remote/document.hpp"
#include "braid/remote/index_layout.hpp"

namespace braid::remote {
namespace {

TEST(Facts, NumbersKeepTheirOrderAsWordsExactly) {
    const std::int64_t large = std::int64_t{1} << 53;
    const std::vector<Value> ordered{-1e300,
                                     std::numeric_limits<std::int64_t>::min(),
                                     -large - 1,
                                     -large,
                                     -2.5,
                                     -1,
                                     -0.5,
                                     0,
                                     5e-324,
                                     0.1,
                                     1,
                                     2,
                                     2.5,
                                     large,
                                     large + 1,
                                     large + 2,
                                     std::numeric_limits<std::int64_t>::max(),
                                     9223372036854775808.0,
                                     1e300};
    for (std::size_t i = 0; i + 1 < ordered.size(); ++i) {
        EXPECT_LT(encode_number(ordered[i]), encode_number(ordered[i + 1])) << i;
    }
    for (const Value& value : ordered) EXPECT_EQ(decode_number(encode_number(value)), value);
    EXPECT_EQ(encode_number(2), encode_number(2.0));
    EXPECT_EQ(encode_number(0), encode_number(-0.0));
    EXPECT_EQ(decode_number("no number"), std::nullopt);
}

TEST(Facts, TimesBeforeAndAfter1970KeepTheirOrder) {
    EXPECT_LT(encode_time({-1}), encode_time({0}));
    EXPECT_LT(encode_time({0}), encode_time({1}));
}

TEST(Facts, LongTextsAreCutButStayApart) {
    const std::string a(20'000, 'x');
    EXPECT_LT(encode_text(a).size(), 9'000U);
    EXPECT_NE(encode_text(a), encode_text(a + "y"));
}

TEST(Facts, EqualListsAndObjectsAreOneWord) {
    EXPECT_EQ(encode_json(Object{{"a", 1}, {"b", Array{2}}}),
              encode_json(Object{{"b", Array{2.0}}, {"a", 1.0}}));
    EXPECT_NE(encode_json(Array{1, 2}), encode_json(Array{2, 1}));
}

TEST(Facts, NamesThatLookLikeTheEndOfNamesAreHashed) {
    const FactPlace odd = place_of(std::string("metadata.a\x01s", 12));
    EXPECT_TRUE(odd.prefix.starts_with(".#")) << odd.prefix;
    EXPECT_NE(odd.prefix, place_of("metadata.a").prefix);
    EXPECT_EQ(place_of("chunk_id").field, "id");
    EXPECT_EQ(place_of("metadata.chunk_id").field, "facts");
}

TEST(Facts, FacetsReadBackWhatChunksHold) {
    Chunk chunk;
    chunk.chunk_id = "a";
    chunk.metadata = {{"n", 3}, {"list", Array{"x", true}}, {"when", "2024-01-01"}};
    const auto words = facts_of(chunk, Schema{}).words;
    const auto values = [&](std::string_view field) {
        std::vector<Value> found;
        const std::string prefix = place_of(field).prefix;
        for (const std::string& word : words) {
            if (!word.starts_with(prefix)) continue;
            if (auto value = facet_value(std::string_view(word).substr(prefix.size()))) {
                found.push_back(*value);
            }
        }
        return found;
    };
    EXPECT_EQ(values("n"), std::vector<Value>{3});
    EXPECT_EQ(values("list"), (std::vector<Value>{true, "x"}));
    EXPECT_EQ(values("when"), std::vector<Value>{"2024-01-01"});
    EXPECT_TRUE(values("absent").empty());
}

TEST(IndexLayout, WeightsBecomeWholeAndKeepTheirRatio) {
    Schema schema;
    schema.text_fields = {{"title", 2.5}, {"content", 1.0}, {"section_title", 0.3}};
    const WholeWeights whole = whole_weights(schema);
    EXPECT_EQ(whole.scale, 10);
    EXPECT_EQ(whole.weights, (std::vector<int>{25, 10, 3}));
    EXPECT_EQ(whole_weights(Schema{}).scale, 1);
    schema.text_fields = {{"title", 3.14159}, {"content", 1e-9}};
    EXPECT_EQ(whole_weights(schema).weights, (std::vector<int>{314, 1}));
}

TEST(IndexLayout, NamesOfEitherCaseStayApart) {
    EXPECT_EQ(index_name("p-", "Notes_1-a"), "p-+notes_1-a");
    EXPECT_EQ(index_path("p-", "Notes"), "p-%2Bnotes");
    EXPECT_NE(index_name("p-", "aB"), index_name("p-", "ab"));
}

TEST(IndexLayout, AMappingSaysWhatItsCollectionIs) {
    Schema schema;
    schema.vectors = {.embedder = "external", .dimension = 3, .metric = Metric::Dot};
    schema.vectors.canaries = {{1, 2, 3}};
    schema.vectors.precision = Precision::F16;
    schema.positions = true;
    IndexMeta meta{.collection = "Notes", .schema = schema, .filling = true, .dimension = 3};
    const auto read = read_mapping(mapping_body(meta));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->collection, "Notes");
    EXPECT_EQ(read->schema, schema);
    EXPECT_TRUE(read->filling);
    EXPECT_EQ(read->dimension, 3U);
    EXPECT_FALSE(read->expires);
    meta.schema.vectors.precision = Precision::Int8;
    EXPECT_EQ(read_mapping(mapping_body(meta))->schema, meta.schema);
    meta.expires = true;
    EXPECT_TRUE(read_mapping(mapping_body(meta))->expires);
    EXPECT_TRUE(read_mapping(mapping_body(meta))->keeps_places);
    meta.schema.vectors.precision = Precision::F32;
    meta.keeps_places = false;  // as earlier versions made them
    EXPECT_FALSE(read_mapping(mapping_body(meta))->keeps_places);
    EXPECT_EQ(mapping_body(meta).find("properties")->find("places"), nullptr);
    EXPECT_EQ(read_mapping(Object{}).error().code, ErrorCode::NotFound);
    EXPECT_EQ(
        read_mapping(Object{{"_meta", Object{{"braid", Object{{"format", 1}}}}}}).error().code,
        ErrorCode::Corruption);
    EXPECT_EQ(
        read_mapping(
            Object{{"_meta",
                    Object{{"braid", Object{{"format", 9}, {"collection", "x"}, {"schema", ""}}}}}})
            .error()
            .code,
        ErrorCode::Unsupported);
}

TEST(Document, ExtremeVectorsAreBoundedForTheIndexAlone) {
    const float most = std::numeric_limits<float>::max();
    const std::vector<float> vector{most, -most};
    for (const Metric metric : {Metric::Dot, Metric::Euclidean, Metric::Cosine}) {
        for (const float x : indexed_vector(vector, metric)) EXPECT_LE(std::abs(x), 1e15F);
    }
    std::string text;
    append_numbers(text, std::vector<float>{0.1F, -2.0F});
    EXPECT_EQ(text, "[0.1,-2]");
}

TEST(Facts, SayWhichFieldsTheMetadataHas) {
    Chunk chunk;
    chunk.metadata = {
        {"kind", "note"}, {"author", Object{{"name", "Ada"}}}, {"$or", 1}, {"title", 2}};
    chunk.metadata.set(std::string(300, 'x'), 3);
    std::set<std::string> fields;
    for (const std::string& word : facts_of(chunk, Schema()).words) {
        if (word.empty() || word.back() != static_cast<char>(FactKind::Exists)) continue;
        if (const auto field = metadata_field(word)) fields.insert(*field);
    }
    EXPECT_EQ(fields, (std::set<std::string>{"author", "author.name", "kind", "metadata.$or",
                                             "metadata.title"}))
        << "no hashes, no fields of the chunk";
}

TEST(Document, KeysAreShortWhateverTheIdsAre) {
    EXPECT_EQ(document_key("n", std::string(512, 'x')).size(), 40U);
    EXPECT_NE(document_key("a", "bc"), document_key("ab", "c"));
}

}  // namespace
}  // namespace braid::remote
