#include "braid/docs/chunk_codec.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "backend/random_data.hpp"

namespace braid::docs {
namespace {

using store::ByteReader;
using store::ByteWriter;
using testing::RandomData;

std::vector<std::byte> bytes_of(const Chunk& chunk) {
    ByteWriter out;
    write_chunk(out, chunk);
    return out.take();
}

std::vector<std::byte> bytes_of(const MetadataUpdate& update) {
    ByteWriter out;
    write_update(out, update);
    return out.take();
}

std::string hex(const std::vector<std::byte>& bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        text += digits[std::to_integer<std::size_t>(byte) / 16];
        text += digits[std::to_integer<std::size_t>(byte) % 16];
    }
    return text;
}

Result<Chunk> chunk_of(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    BRAID_TRY(Chunk chunk, read_chunk(in));
    BRAID_CHECK(in.expect_end("chunk"));
    return chunk;
}

Result<MetadataUpdate> update_of(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    BRAID_TRY(MetadataUpdate update, read_update(in));
    BRAID_CHECK(in.expect_end("update"));
    return update;
}

Chunk nested(std::size_t levels) {
    Value value = 1;
    for (std::size_t i = 0; i < levels; ++i) value = Array{std::move(value)};
    Chunk chunk;
    chunk.chunk_id = "deep";
    chunk.metadata.set("k", std::move(value));
    return chunk;
}

TEST(ChunkCodec, ReadsBackWhatItWrote) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        RandomData random(seed);
        const Chunk chunk = random.chunk(seed % 5);
        const auto read = chunk_of(bytes_of(chunk));
        ASSERT_TRUE(read.has_value()) << read.error().message;
        EXPECT_EQ(*read, chunk);

        MetadataUpdate update = random.update();
        update.chunk_id = chunk.chunk_id;
        const auto read_update = update_of(bytes_of(update));
        ASSERT_TRUE(read_update.has_value()) << read_update.error().message;
        EXPECT_EQ(*read_update, update);
    }
}

TEST(ChunkCodec, KeepsExtremes) {
    Chunk chunk;
    chunk.chunk_id = std::string("\0id", 3);
    chunk.content = std::string(100'000, 'x');
    chunk.chunk_index = std::numeric_limits<std::int64_t>::min();
    chunk.created_at = Timestamp{std::numeric_limits<std::int64_t>::max()};
    chunk.metadata = {{"int", std::numeric_limits<std::int64_t>::min()},
                      {"double", std::numeric_limits<double>::denorm_min()},
                      {"minus zero", -0.0},
                      {"", Object{}},
                      {"empty", Array{}}};
    chunk.vector = {std::numeric_limits<float>::max(), -0.0F};
    const auto read = chunk_of(bytes_of(chunk));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, chunk);
    EXPECT_TRUE(std::signbit(read->metadata.find("minus zero")->as_double()));
    EXPECT_TRUE(read->metadata.find("int")->is_int());
}

TEST(ChunkCodec, BytesAreThoseOfTheFormat) {
    // docs/formats/records.md, by hand. These bytes are in databases: they must not change.
    Chunk chunk;
    chunk.chunk_id = "c";
    chunk.document_id = "doc";
    chunk.content = "text";
    chunk.chunk_index = -2;
    chunk.section_title = "s";
    chunk.visibility_scope = {"x", "yz"};
    chunk.metadata = {{"a", nullptr}, {"b", Array{true, 1, 0.5}}, {"o", Object{{"k", "v"}}}};
    chunk.vector = {1.0F};
    const std::string expected =
        "05"  // flags: index, section
        "0163"
        "03646f63"
        "0474657874"  // ids, content
        "feffffffffffffff"
        "0173"  // index, section_title
        "02"
        "0178"
        "02797a"  // scopes
        "03"
        "0161"
        "00"  // metadata: a
        "0162"
        "06"
        "03"
        "02"
        "030100000000000000"
        "04000000000000e03f"  // b
        "016f"
        "07"
        "01"
        "016b"
        "05"
        "0176"  // o
        "01"
        "0000803f";  // vector
    EXPECT_EQ(hex(bytes_of(chunk)), expected);

    MetadataUpdate update;
    update.chunk_id = "c";
    update.created_at = Timestamp{1};
    update.sensitivity = "s";
    update.visibility_scope = std::vector<std::string>{};
    update.metadata = {{"f", false}};
    EXPECT_EQ(hex(bytes_of(update)),
              "38"
              "0163"
              "0100000000000000"
              "0173"
              "00"
              "01"
              "0166"
              "01");
}

TEST(ChunkCodec, IntegersAndNumbersStayWhatTheyWere) {
    Chunk chunk;
    chunk.metadata = {{"a", 2}, {"b", 2.0}};
    const auto read = chunk_of(bytes_of(chunk));
    ASSERT_TRUE(read.has_value());
    EXPECT_TRUE(read->metadata.find("a")->is_int());
    EXPECT_TRUE(read->metadata.find("b")->is_double());
}

TEST(ChunkCodec, NestingHasALimitThatReaderAndCallerShare) {
    EXPECT_TRUE(chunk_of(bytes_of(nested(kMaxMetadataDepth - 1))).has_value());
    const auto read = chunk_of(bytes_of(nested(kMaxMetadataDepth)));
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code, ErrorCode::Corruption);
}

TEST(ChunkCodec, EveryTruncationIsCorruption) {
    RandomData random(1);
    Chunk chunk = random.chunk(4);
    chunk.metadata = {{"list", Array{1, 2.5, "three", nullptr, true}}, {"o", Object{{"k", 1}}}};
    const auto bytes = bytes_of(chunk);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto read = chunk_of(std::span(bytes).first(size));
        ASSERT_FALSE(read.has_value()) << size;
        EXPECT_EQ(read.error().code, ErrorCode::Corruption) << size;
    }
    MetadataUpdate update = random.update();
    update.visibility_scope = std::vector<std::string>{"a", "b"};
    const auto update_bytes = bytes_of(update);
    for (std::size_t size = 0; size < update_bytes.size(); ++size) {
        EXPECT_FALSE(update_of(std::span(update_bytes).first(size)).has_value()) << size;
    }
}

TEST(ChunkCodec, MutatedBytesNeverCrashAndWhatIsReadCanBeWrittenAgain) {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        RandomData random(seed);
        auto bytes = seed % 2 == 0 ? bytes_of(random.chunk(3)) : bytes_of(random.update());
        for (std::size_t i = 1 + random.below(4); i > 0; --i) {
            bytes[random.below(bytes.size())] = static_cast<std::byte>(random.below(256));
        }
        if (random.chance(20)) bytes.resize(random.below(bytes.size() + 1));
        if (const auto chunk = chunk_of(bytes)) {
            EXPECT_TRUE(chunk_of(bytes_of(*chunk)).has_value());
        }
        if (const auto update = update_of(bytes)) {
            EXPECT_TRUE(update_of(bytes_of(*update)).has_value());
        }
    }
}

TEST(ChunkCodec, LengthsOfAHostileFileReserveNoMemory) {
    ByteWriter out;
    out.u8(0);
    out.string("id");
    out.string("doc");
    out.string("content");
    out.varint(std::numeric_limits<std::uint64_t>::max());  // scopes
    EXPECT_FALSE(chunk_of(out.view()).has_value());

    ByteWriter many;
    many.u8(0);
    many.string("id");
    many.string("doc");
    many.string("content");
    many.varint(0);
    many.varint(0);
    many.varint(std::uint64_t{1} << 62);  // floats
    EXPECT_FALSE(chunk_of(many.view()).has_value());
}

TEST(MergePatch, IsThatOfTheRfc) {
    // The examples of RFC 7396, appendix A, that have an object for both target and patch.
    struct Case {
        Object target;
        Object patch;
        Object result;
    };
    const std::vector<Case> cases{
        {{{"a", "b"}}, {{"a", "c"}}, {{"a", "c"}}},
        {{{"a", "b"}}, {{"b", "c"}}, {{"a", "b"}, {"b", "c"}}},
        {{{"a", "b"}}, {{"a", nullptr}}, {}},
        {{{"a", "b"}, {"b", "c"}}, {{"a", nullptr}}, {{"b", "c"}}},
        {{{"a", Array{"b"}}}, {{"a", "c"}}, {{"a", "c"}}},
        {{{"a", "c"}}, {{"a", Array{"b"}}}, {{"a", Array{"b"}}}},
        {{{"a", Object{{"b", "c"}}}},
         {{"a", Object{{"b", "d"}, {"c", nullptr}}}},
         {{"a", Object{{"b", "d"}}}}},
        {{{"a", Array{Object{{"b", "c"}}}}}, {{"a", Array{1}}}, {{"a", Array{1}}}},
        {{{"e", nullptr}}, {{"a", 1}}, {{"e", nullptr}, {"a", 1}}},
        {{}, {{"a", Object{{"bb", Object{{"ccc", nullptr}}}}}}, {{"a", Object{{"bb", Object{}}}}}},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        Object target = cases[i].target;
        merge_patch(target, cases[i].patch);
        EXPECT_EQ(target, cases[i].result) << "case " << i;
    }
}

}  // namespace
}  // namespace braid::docs
