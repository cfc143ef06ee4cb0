#include "braid/wire/chunk_json.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/apps/vocabulary.hpp"
#include "braid/json/json.hpp"
#include "wire/random_wire.hpp"

namespace braid::wire {
namespace {

ChunkInput read_chunk(const std::string& text) {
    auto input = chunk_from_value(json::parse(text).value(), apps::vocabulary());
    EXPECT_TRUE(input) << text << ": " << (input ? "" : input.error().message);
    return input.value_or(ChunkInput());
}

std::string chunk_complaint(const std::string& text) {
    const auto input = chunk_from_value(json::parse(text).value(), apps::vocabulary());
    return input ? "(accepted)" : input.error().message;
}

TEST(ChunkJson, ReadsBeirLines) {
    const ChunkInput input = read_chunk(
        R"({"_id": "d1", "title": "Foxes", "text": "They hunt.", "metadata": {"url": "u"}})");
    Chunk expected;
    expected.chunk_id = "d1";
    expected.document_id = "d1";
    expected.title = "Foxes";
    expected.content = "They hunt.";
    expected.metadata = Object{{"url", "u"}};
    EXPECT_EQ(input.chunk, expected);
    EXPECT_EQ(input.namespace_, std::nullopt);
    EXPECT_TRUE(input.warnings.empty());
}

TEST(ChunkJson, ReadsBraidsOwnWords) {
    const ChunkInput input = read_chunk(
        R"({"chunk_id": "c", "document_id": "d", "chunk_index": 3, "content": "x", "title": null,
            "section_title": "Diet", "created_at": "1970-01-01T00:00:01Z", "sensitivity": "public",
            "visibility_scope": ["team"], "vector": [1, 0.5], "namespace": "n"})");
    Chunk expected;
    expected.chunk_id = "c";
    expected.document_id = "d";
    expected.chunk_index = 3;
    expected.content = "x";
    expected.section_title = "Diet";
    expected.created_at = Timestamp{1'000'000};
    expected.sensitivity = "public";
    expected.visibility_scope = {"team"};
    expected.vector = {1.0F, 0.5F};
    EXPECT_EQ(input.chunk, expected);
    EXPECT_EQ(input.namespace_, "n");
}

TEST(ChunkJson, MetadataFillsTheFieldsThatAreAbsent) {
    const std::string metadata =
        R"("metadata": {"artifact_id": "art_1", "chunk_index": 2, "sensitivity": "sensitive",
                        "created_at": "1970-01-01T00:00:02Z", "visibility_scope": "em"})";
    const Chunk filled = read_chunk(R"({"_id": "c", "text": "x", )" + metadata + "}").chunk;
    EXPECT_EQ(filled.document_id, "art_1");
    EXPECT_EQ(filled.chunk_index, 2);
    EXPECT_EQ(filled.sensitivity, "sensitive");
    EXPECT_EQ(filled.created_at, Timestamp{2'000'000});
    EXPECT_EQ(filled.visibility_scope, std::vector<std::string>{"em"});
    EXPECT_EQ(filled.metadata.size(), 5U);

    const Chunk own = read_chunk(R"({"_id": "c", "text": "x", "document_id": "d", "chunk_index": 0,
                               "sensitivity": "public", "created_at": "1970-01-01T00:00:01Z",
                               "visibility_scope": [], )" +
                                 metadata + "}")
                          .chunk;
    EXPECT_EQ(own.document_id, "d");
    EXPECT_EQ(own.chunk_index, 0);
    EXPECT_EQ(own.sensitivity, "public");
    EXPECT_EQ(own.created_at, Timestamp{1'000'000});
    EXPECT_TRUE(own.visibility_scope.empty());
}

TEST(ChunkJson, MetadataOfTheWrongTypeStaysMetadataAndIsNoted) {
    const ChunkInput input = read_chunk(
        R"({"_id": "c", "text": "x",
            "metadata": {"artifact_id": 5, "chunk_index": "two", "sensitivity": 3,
                         "created_at": "yesterday", "visibility_scope": [1]}})");
    EXPECT_EQ(input.chunk.document_id, "c");
    EXPECT_EQ(input.chunk.chunk_index, std::nullopt);
    EXPECT_EQ(input.chunk.sensitivity, std::nullopt);
    EXPECT_EQ(input.chunk.created_at, std::nullopt);
    EXPECT_TRUE(input.chunk.visibility_scope.empty());
    EXPECT_EQ(input.chunk.metadata.size(), 5U);
    EXPECT_EQ(input.warnings.size(), 5U);
    EXPECT_NE(input.warnings[1].find("metadata.chunk_index"), std::string::npos);
}

TEST(ChunkJson, AChunkWithoutAnIdGetsOneFromItsContent) {
    const std::string first = read_chunk(R"({"text": "red fox"})").chunk.chunk_id;
    EXPECT_EQ(first, content_id("", "red fox"));
    EXPECT_EQ(first.size(), 18U);
    EXPECT_TRUE(first.starts_with("c-"));
    EXPECT_EQ(read_chunk(R"({"text": "red fox"})").chunk.chunk_id, first);
    EXPECT_EQ(read_chunk(R"({"text": "red fox"})").chunk.document_id, first);
    EXPECT_NE(read_chunk(R"({"text": "red fox", "document_id": "d"})").chunk.chunk_id, first);
    EXPECT_NE(read_chunk(R"({"text": "red dog"})").chunk.chunk_id, first);
    // The NUL between the two keeps "a" + "bc" and "ab" + "c" apart.
    EXPECT_NE(content_id("a", "bc"), content_id("ab", "c"));
}

TEST(ChunkJson, IdsMayBeIntegersAndTitlesEmpty) {
    const Chunk chunk =
        read_chunk(R"({"_id": 12, "document_id": 7, "title": "", "text": "x"})").chunk;
    EXPECT_EQ(chunk.chunk_id, "12");
    EXPECT_EQ(chunk.document_id, "7");
    EXPECT_EQ(chunk.title, std::nullopt);
}

TEST(ChunkJson, ABlankTextIsTakenWithAWarningIfThereIsAnId) {
    const ChunkInput input = read_chunk(R"({"_id": "471", "title": "", "text": ""})");
    EXPECT_EQ(input.chunk.chunk_id, "471");
    EXPECT_EQ(input.chunk.content, "");
    ASSERT_EQ(input.warnings.size(), 1U);
    EXPECT_NE(input.warnings[0].find("\"471\" is blank"), std::string::npos);
}

TEST(ChunkJson, RefusesWhatCannotBeAChunk) {
    for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
             {"{}", "no text"},
             {R"({"_id": "a"})", "no text"},
             {R"({"_id": "a", "text": null})", "no text"},
             {R"({"text": ""})", "no text"},
             {R"({"text": " \n\t", "title": "t"})", "no text"},
             {R"({"_id": "a", "text": 5})", "\"text\""},
             {R"({"_id": "", "text": "x"})", "\"_id\""},
             {R"({"_id": 1.5, "text": "x"})", "\"_id\""},
             {R"({"_id": "a", "chunk_id": "b", "text": "x"})", "\"_id\""},
             {R"({"text": "x", "content": "y"})", "\"text\""},
             {R"({"text": "x", "vector": []})", "\"vector\""},
             {R"({"text": "x", "vector": "v"})", "\"vector\""},
             {R"({"text": "x", "vector": [1, null]})", "\"vector[1]\""},
             {R"({"text": "x", "embedding": [1e39]})", "\"embedding[0]\""},
             {R"({"text": "x", "created_at": "noon"})", "\"created_at\""},
             {R"({"text": "x", "visibility_scope": 5})", "\"visibility_scope\""},
             {R"({"text": "x", "metadata": []})", "\"metadata\""},
             {R"({"text": "x", "sensitvity": "restricted"})", "\"sensitivity\""},
             {R"({"text": "x", "url": "u"})", "\"metadata\""},
             {"[1]", "object"},
             {R"("x")", "object"}}) {
        EXPECT_NE(chunk_complaint(text).find(words), std::string::npos)
            << text << ": " << chunk_complaint(text);
    }
    EXPECT_NE(
        chunk_complaint(R"({"text": "x", "_id": ")" + std::string(513, 'a') + "\"}").find("512"),
        std::string::npos);
}

TEST(ChunkJson, RoundTripsThroughText) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Chunk chunk = testing::random_chunk(rng);
        const std::string text = json::print(chunk_to_value(chunk));
        ASSERT_EQ(read_chunk(text).chunk, chunk) << text;
    }
}

}  // namespace
}  // namespace braid::wire
