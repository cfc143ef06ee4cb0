#include "braid/ingest/jsonl.hpp"

#include <random>

#include <gtest/gtest.h>
#include <zstd.h>

#include "braid/ingest/line_reader.hpp"
#include "core/present.hpp"
#include "core/temporary_folder.hpp"
#include "ingest/npy_writer.hpp"
#include "ingest/sources.hpp"

namespace braid::ingest {
namespace {

using braid::testing::npy_of;
using braid::testing::TemporaryFolder;

class Jsonl : public ::testing::Test {
protected:
    Result<std::vector<Chunk>> read(const std::string& text, const JsonlOptions& options = {}) {
        BRAID_TRY(auto reader, JsonlReader::open(folder.write("c.jsonl", text), options));
        std::vector<Chunk> chunks;
        while (true) {
            BRAID_TRY(const auto batch, reader.next());
            if (!batch) return chunks;
            batches.push_back(batch->chunks);
            warnings.insert(warnings.end(), batch->warnings.begin(), batch->warnings.end());
            for (const Batch::Part& part : batch->parts) {
                chunks.insert(chunks.end(), part.chunks.begin(), part.chunks.end());
            }
        }
    }
    std::string complaint(const std::string& text, const JsonlOptions& options = {}) {
        const auto chunks = read(text, options);
        if (chunks) return "(accepted)";
        EXPECT_EQ(chunks.error().code, ErrorCode::InvalidArgument);
        return chunks.error().message;
    }
    static bool has(const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    }

    TemporaryFolder folder;
    std::vector<std::size_t> batches;
    std::vector<std::string> warnings;
};

std::string line(int i) {
    return R"({"_id": "d)" + std::to_string(i) + R"(", "text": "text )" + std::to_string(i) + "\"}";
}

TEST_F(Jsonl, ReadsLinesInBatches) {
    std::string text;
    for (int i = 0; i < 25; ++i) text += line(i) + "\n";
    const auto chunks = read(text, {.batch_chunks = 10});
    ASSERT_TRUE(chunks) << chunks.error().message;
    ASSERT_EQ(chunks->size(), 25U);
    EXPECT_EQ(chunks->at(24).chunk_id, "d24");
    EXPECT_EQ(batches, (std::vector<std::size_t>{10, 10, 5}));
}

std::string zstd_packed(const std::string& text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    return out;
}

TEST_F(Jsonl, LinesMayBePacked) {
    std::string text;
    std::string half;
    for (int i = 0; i < 8000; ++i) {
        text += line(i) + "\n";
        if (i == 3999) half = text;
    }
    const std::string rest = text.substr(half.size());
    // Several streams one after the other are one text.
    for (const std::string& packed : {deflated(text, 31), deflated(half, 31) + deflated(rest, 31),
                                      zstd_packed(text), zstd_packed(half) + zstd_packed(rest)}) {
        const auto chunks = read(packed);
        ASSERT_TRUE(chunks) << chunks.error().message;
        ASSERT_EQ(chunks->size(), 8000U);
        EXPECT_EQ(chunks->at(7999).chunk_id, "d7999");
        EXPECT_EQ(*count_lines(folder / "c.jsonl"), 8000U);
        EXPECT_TRUE(has(complaint(packed.substr(0, packed.size() - 9)), "damaged or cut off"));
        EXPECT_TRUE(has(complaint(packed.substr(0, 100)), "damaged or cut off"));
        std::mt19937 random(7);
        for (int round = 0; round < 12; ++round) {
            std::string damaged = packed;
            damaged[4 + random() % (damaged.size() - 4)] ^= static_cast<char>(1U + random() % 255);
            const auto ignored = read(damaged);
        }
    }
}

TEST_F(Jsonl, ABatchOfPackedLinesIsBoundedByTheirText) {
    std::string text;
    for (int i = 0; i < 6; ++i) {
        text += R"({"_id": ")" + std::to_string(i) + R"(", "text": ")" + std::string(3 << 20, 'x') +
                "\"}\n";
    }
    ASSERT_TRUE(read(deflated(text, 31), {.batch_bytes = 4 << 20}));
    EXPECT_GE(batches.size(), 3U);
}

TEST_F(Jsonl, ABatchIsAlsoBoundedInBytes) {
    std::string text;
    const std::string padding(3 << 20, 'x');
    for (int i = 0; i < 6; ++i) {
        text += R"({"_id": ")" + std::to_string(i) + R"(", "text": ")" + padding + "\"}\n";
    }
    const auto chunks = read(text, {.batch_bytes = 4 << 20});
    ASSERT_TRUE(chunks);
    EXPECT_EQ(chunks->size(), 6U);
    EXPECT_GE(batches.size(), 3U);
}

TEST_F(Jsonl, TakesCrlfBlankLinesAMarkAndNoFinalBreak) {
    const auto chunks =
        read("\xEF\xBB\xBF" + line(1) + "\r\n\r\n   \n\n" + line(2) + "\r\n" + line(3));
    ASSERT_TRUE(chunks) << chunks.error().message;
    EXPECT_EQ(chunks->size(), 3U);
    EXPECT_EQ(count_lines(folder / "c.jsonl").value(), 3U);
}

TEST_F(Jsonl, LinesAcrossBlocksStayWhole) {
    for (unsigned seed = 0; seed < 5; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::string text;
        std::vector<std::size_t> sizes;
        for (int i = 0; i < 40; ++i) {
            sizes.push_back(1 + rng() % 300'000);
            text += R"({"_id": ")" + std::to_string(i) + R"(", "text": ")" +
                    std::string(sizes.back(), static_cast<char>('a' + i % 26)) + "\"}\n";
        }
        const auto chunks = read(text);
        ASSERT_TRUE(chunks);
        ASSERT_EQ(chunks->size(), sizes.size());
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            ASSERT_EQ((*chunks)[i].content.size(), sizes[i]);
        }
        EXPECT_EQ(count_lines(folder / "c.jsonl").value(), sizes.size());
    }
}

TEST_F(Jsonl, ErrorsNameFileAndLine) {
    EXPECT_TRUE(has(complaint(line(1) + "\n\n{\"_id\": \"x\"}\n"), "c.jsonl:3: no text"));
    EXPECT_TRUE(has(complaint(line(1) + "\n{\"text\": }\n"), "c.jsonl:2: column "))
        << complaint(line(1) + "\n{\"text\": }\n");
    EXPECT_TRUE(
        has(complaint(line(1) + "\n{\"text\": \"x\", \"vector\": [NaN]}\n"), "c.jsonl:2: "));
    EXPECT_TRUE(has(complaint("5"), "c.jsonl:1: "));
    EXPECT_TRUE(has(complaint(line(1) + line(2)), "c.jsonl:1: "));
}

TEST_F(Jsonl, AnEmptyFileIsAnError) {
    EXPECT_TRUE(has(complaint(""), "no lines"));
    EXPECT_TRUE(has(complaint("\n \n\r\n"), "no lines"));
    EXPECT_TRUE(has(complaint("\xEF\xBB\xBF"), "no lines"));
    EXPECT_EQ(complaint("\n", {.may_be_empty = true}), "(accepted)");
}

TEST_F(Jsonl, AMissingFileAndAFolderAreErrors) {
    const auto missing = JsonlReader::open(folder / "missing.jsonl");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_TRUE(has(missing.error().message, "missing.jsonl"));
    EXPECT_EQ(JsonlReader::open(folder.path().string()).error().code, ErrorCode::InvalidArgument);
}

TEST_F(Jsonl, BytesThatAreNoUtf8NameLineAndByte) {
    const std::string message = complaint(line(1) + "\n{\"text\": \"ab\xFF\"}\n");
    EXPECT_TRUE(has(message, "c.jsonl:2: not valid UTF-8: byte 0xff at byte 13")) << message;
    EXPECT_TRUE(has(complaint("{\"text\": \"\xED\xA0\x80\"}"), "UTF-8"));
}

TEST_F(Jsonl, ALineBeyondTheLimitNamesLineAndLimit) {
    const std::string text = line(1) + "\n{\"text\": \"" + std::string(3 << 20, 'x') + "\"}\n";
    const std::string message = complaint(text, {.max_line_bytes = 2 << 20});
    EXPECT_TRUE(has(message, "c.jsonl:2: ")) << message;
    EXPECT_TRUE(has(message, "2 MiB")) << message;
    EXPECT_TRUE(read(text, {.max_line_bytes = 4 << 20}));
    // The line break is not part of the line.
    EXPECT_TRUE(read(line(1) + "\n", {.max_line_bytes = line(1).size()}));
    EXPECT_FALSE(read(line(1) + "\n", {.max_line_bytes = line(1).size() - 1}));
    EXPECT_FALSE(read(line(1), {.max_line_bytes = line(1).size() - 1}));
}

TEST_F(Jsonl, RepeatedIdsNameBothLines) {
    const std::string message =
        complaint(line(1) + "\n" + line(2) + "\n\n" + line(1) + "\n", {.batch_chunks = 2});
    EXPECT_TRUE(has(message, "c.jsonl:4: the id \"d1\" is already in line 1")) << message;
    // The same text without an id is the same chunk.
    EXPECT_TRUE(has(complaint("{\"text\": \"x\"}\n{\"text\": \"x\"}\n"), "line 1"));
    EXPECT_TRUE(read(R"({"_id": "a", "text": "x", "namespace": "n"})"
                     "\n"
                     R"({"_id": "a", "text": "x", "namespace": "m"})"));
}

TEST_F(Jsonl, ManyIdsAreRemembered) {
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += line(i) + "\n";
    EXPECT_TRUE(read(text));
    EXPECT_TRUE(
        has(complaint(text + line(137)), "c.jsonl:20001: the id \"d137\" is already in line 138"));
}

TEST_F(Jsonl, ABatchIsSplitByNamespace) {
    const std::string path = folder.write(
        "n.jsonl",
        "{\"_id\":\"1\",\"text\":\"x\"}\n{\"_id\":\"2\",\"text\":\"x\",\"namespace\":\"b\"}\n"
        "{\"_id\":\"3\",\"text\":\"x\"}\n");
    auto reader = JsonlReader::open(path, {.namespace_ = "a"});
    ASSERT_TRUE(reader);
    const auto next = reader->next();
    ASSERT_TRUE(next);
    const Batch batch = present(*next);
    ASSERT_EQ(batch.parts.size(), 2U);
    EXPECT_EQ(batch.parts[0].namespace_, "a");
    EXPECT_EQ(batch.parts[0].chunks.size(), 2U);
    EXPECT_EQ(batch.parts[1].namespace_, "b");
    EXPECT_EQ(reader->lines_read(), 3U);
    EXPECT_EQ(reader->bytes_read(), reader->file_bytes());
    EXPECT_EQ(reader->next().value(), std::nullopt);
}

TEST_F(Jsonl, WarningsNameTheLine) {
    EXPECT_TRUE(read(line(1) + "\n{\"text\": \"x\", \"metadata\": {\"chunk_index\": \"two\"}}"));
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_TRUE(has(warnings[0], "c.jsonl:2: "));
}

TEST_F(Jsonl, RowsOfTheVectorFileBelongToLines) {
    const std::string vectors =
        folder.write("v.npy", npy_of<float>("<f4", 3, 2, {1, 2, 3, 4, 5, 6}));
    const auto chunks =
        read(line(1) + "\n\n" + line(2) + "\n" + line(3), {.batch_chunks = 2, .vectors = vectors});
    ASSERT_TRUE(chunks) << chunks.error().message;
    EXPECT_EQ(chunks->at(0).vector, (std::vector<float>{1, 2}));
    EXPECT_EQ(chunks->at(2).vector, (std::vector<float>{5, 6}));

    EXPECT_TRUE(has(complaint(line(1) + "\n" + line(2), {.vectors = vectors}), "3 rows"));
    EXPECT_TRUE(
        has(complaint(line(1) + "\n" + line(2) + "\n" + R"({"text": "x", "vector": [1, 2]})",
                      {.vectors = vectors}),
            "c.jsonl:3: has a vector of its own"));
    EXPECT_EQ(read(line(1), {.vectors = folder / "none.npy"}).error().code, ErrorCode::NotFound);
}

TEST_F(Jsonl, FindsVectorsBesideTheFile) {
    const std::string path = folder.write("corpus.jsonl", line(1));
    EXPECT_EQ(vectors_beside(path), std::nullopt);
    const std::string vectors = folder.write("corpus.npy", "x");
    EXPECT_EQ(vectors_beside(path), vectors);
    EXPECT_EQ(vectors_beside("-"), std::nullopt);
}

TEST_F(Jsonl, AStopRequestEndsTheReading) {
    const std::stop_source stop;
    stop.request_stop();
    const auto chunks = read(line(1), {.stop = stop.get_token()});
    ASSERT_FALSE(chunks);
    EXPECT_EQ(chunks.error().code, ErrorCode::Cancelled);
}

TEST_F(Jsonl, ABadLineDoesNotStopTheOthersIfTheyMayGoOn) {
    const std::string vectors = folder.write("v.npy", npy_of<float>("<f4", 5, 1, {1, 2, 3, 4, 5}));
    const std::string path = folder.write(
        "c.jsonl", line(1) + "\n{broken\n{\"text\": \"\xFF\"}\n" + line(2) + "\n" + line(1) + "\n");
    auto reader = JsonlReader::open(path, {.vectors = vectors, .keep_going = true});
    ASSERT_TRUE(reader) << reader.error().message;
    const auto next = reader->next();
    ASSERT_TRUE(next) << next.error().message;
    const Batch batch = present(*next);
    ASSERT_EQ(batch.chunks, 2U);
    EXPECT_EQ(batch.parts[0].chunks[1].vector, (std::vector<float>{4}));
    ASSERT_EQ(batch.failed.size(), 3U);
    EXPECT_TRUE(has(batch.failed[0], "c.jsonl:2: "));
    EXPECT_TRUE(has(batch.failed[1], "c.jsonl:3: not valid UTF-8"));
    EXPECT_TRUE(has(batch.failed[2], "c.jsonl:5: the id"));
    EXPECT_EQ(reader->next().value(), std::nullopt);
}

TEST_F(Jsonl, ALineThatIsTooLongIsPassedOver) {
    const std::string vectors = folder.write("v.npy", npy_of<float>("<f4", 4, 1, {1, 2, 3, 4}));
    // Longer than what is read at once, so that its end is looked for.
    const std::string endless = "{\"text\": \"" + std::string(std::size_t{5} << 20, 'x') + "\"}";
    const std::string path =
        folder.write("c.jsonl", line(1) + "\n" + endless + "\n" + line(2) + "\n" + endless);
    auto reader =
        JsonlReader::open(path, {.max_line_bytes = 1000, .vectors = vectors, .keep_going = true});
    ASSERT_TRUE(reader) << reader.error().message;
    std::vector<std::string> failed;
    std::vector<Chunk> chunks;
    while (true) {
        const auto next = reader->next();
        ASSERT_TRUE(next) << next.error().message;
        if (!*next) break;
        failed.insert(failed.end(), (*next)->failed.begin(), (*next)->failed.end());
        for (const Batch::Part& part : (*next)->parts) {
            chunks.insert(chunks.end(), part.chunks.begin(), part.chunks.end());
        }
    }
    ASSERT_EQ(chunks.size(), 2U);
    EXPECT_EQ(chunks[1].vector, (std::vector<float>{3}));
    ASSERT_EQ(failed.size(), 2U);
    EXPECT_TRUE(has(failed[0], "c.jsonl:2: the line is longer than the limit of 1000 bytes"));
    EXPECT_TRUE(has(failed[1], "c.jsonl:4: the line is longer"));
    EXPECT_TRUE(has(complaint(line(1) + "\n" + endless, {.max_line_bytes = 1000}),
                    "c.jsonl:2: the line is longer than the limit of 1000 bytes"));
}

TEST_F(Jsonl, LinesOfAnotherFormAreMadeChunks) {
    const auto chunks = read("{\"a\": \"x\"}\n", {.record = [](const Value& line) -> Result<Value> {
                                 return Object{{"_id", "1"}, {"text", *line.find("a")}};
                             }});
    ASSERT_TRUE(chunks) << chunks.error().message;
    EXPECT_EQ(chunks->at(0).content, "x");
}

TEST_F(Jsonl, RandomBytesNeverCrash) {
    const std::string good = line(1) + "\n" + line(2) + "\n" +
                             R"({"text":"x","vector":[1.5],"metadata":{"a":[1,{"b":null}]}})";
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 rng(seed);
        std::string text = good;
        for (unsigned i = 0; i <= seed % 5; ++i) {
            text[rng() % text.size()] = static_cast<char>(rng());
        }
        (void)read(text.substr(0, rng() % (text.size() + 1)));
    }
}

}  // namespace
}  // namespace braid::ingest
