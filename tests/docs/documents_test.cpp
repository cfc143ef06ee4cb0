#include <algorithm>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "backend/random_data.hpp"
#include "braid/docs/documents_builder.hpp"
#include "braid/docs/documents_format.hpp"
#include "braid/docs/documents_reader.hpp"
#include "braid/store/memory_directory.hpp"
#include "braid/store/memory_sections.hpp"
#include "braid/store/section_file.hpp"
#include "braid/store/section_file_writer.hpp"
#include "store/store_helpers.hpp"

namespace braid::docs {
namespace {

/// In the order of their ids, without vectors.
std::vector<Chunk> random_chunks(unsigned seed, std::size_t count) {
    braid::testing::RandomData random(seed);
    std::map<std::string, Chunk> chunks;
    for (std::size_t i = 0; i < count; ++i) {
        Chunk chunk = random.chunk(0);
        chunk.chunk_id += "-" + std::to_string(random.below(100'000));
        chunk.version = random.below(1'000'000);
        chunk.content += random.words(random.below(60));
        if (random.chance(1)) chunk.content = random.words(20'000);  // more than a block
        chunks[chunk.chunk_id] = std::move(chunk);
    }
    std::vector<Chunk> rows;
    for (auto& [id, chunk] : chunks) rows.push_back(std::move(chunk));
    return rows;
}

void write_rows(store::SectionSink& sink, const std::vector<Chunk>& rows,
                const std::string& prefix = "", DocumentsOptions options = {}) {
    DocumentsBuilder builder(sink, prefix, options);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        Chunk chunk = rows[row];
        chunk.vector = {1.0F, 2.0F};
        const auto added = builder.add(std::move(chunk), static_cast<std::uint32_t>(row % 7),
                                       static_cast<std::uint32_t>(row * 3));
        ASSERT_TRUE(added.has_value()) << added.error().message;
    }
    EXPECT_EQ(builder.rows(), rows.size());
    const auto finished = builder.finish();
    ASSERT_TRUE(finished.has_value()) << finished.error().message;
}

std::vector<std::uint64_t> rows_of(const std::vector<Chunk>& rows, const std::string& document) {
    std::vector<std::uint64_t> found;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (rows[row].document_id == document) found.push_back(row);
    }
    std::ranges::stable_sort(found, [&](std::uint64_t a, std::uint64_t b) {
        const auto& left = rows[a].chunk_index;
        const auto& right = rows[b].chunk_index;
        return left && (!right || *left < *right);
    });
    return found;
}

void expect_rows(const DocumentsReader& reader, const std::vector<Chunk>& rows) {
    ASSERT_EQ(reader.rows(), rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const auto chunk = reader.chunk(row);
        ASSERT_TRUE(chunk.has_value()) << chunk.error().message;
        EXPECT_EQ(*chunk, rows[row]);
        EXPECT_EQ(reader.find(rows[row].chunk_id).value(), row);
        EXPECT_EQ(reader.document_id(row).value(), rows[row].document_id);
        EXPECT_EQ(reader.created_at(row).value(), rows[row].created_at);
        EXPECT_EQ(reader.labels().at(row).value(), row % 7);
        EXPECT_EQ(reader.lengths().at(row).value(), row * 3);
    }
    for (std::size_t row = 0; row < rows.size(); row += 10) {
        EXPECT_EQ(reader.document_rows(rows[row].document_id).value(),
                  rows_of(rows, rows[row].document_id));
    }
    EXPECT_EQ(reader.find("no such chunk").value(), std::nullopt);
    EXPECT_TRUE(reader.document_rows("no such document").value().empty());
    EXPECT_EQ(reader.chunk(rows.size()).error().code, ErrorCode::NotFound);
}

TEST(Documents, AreReadAsTheyWereWritten) {
    for (const std::size_t count : {0UL, 1UL, 2UL, 500UL}) {
        SCOPED_TRACE(::testing::Message() << count << " chunks");
        const auto rows = random_chunks(static_cast<unsigned>(count), count);
        store::MemorySections sections;
        write_rows(sections, rows);
        expect_rows(DocumentsReader::open(sections, "").value(), rows);
        const auto cache = std::make_shared<BlockCache>(64 * 1024);
        expect_rows(DocumentsReader::open(sections, "", cache).value(), rows);
        EXPECT_LE(cache->stats().bytes, 64U * 1024);
    }
}

TEST(Documents, WithoutADictionaryToo) {
    const auto rows = random_chunks(9, 300);
    store::MemorySections sections;
    write_rows(sections, rows, "", {.block_bytes = 1000, .level = 1, .sample_bytes = 0});
    EXPECT_EQ(sections.section(kDictionarySection).value().size(), 0U);
    expect_rows(DocumentsReader::open(sections, "").value(), rows);
}

TEST(Documents, ADictionaryIsKeptWhereItHelps) {
    std::vector<Chunk> rows;
    for (int i = 0; i < 4000; ++i) {
        braid::testing::RandomData random(static_cast<unsigned>(i));
        Chunk chunk;
        chunk.chunk_id = std::to_string(100'000 + i);
        chunk.document_id = chunk.chunk_id;
        chunk.metadata.set("source_of_the_passage", "https://example.org/a/rather/long/path");
        chunk.content = random.words(60) + std::to_string(random.below(1'000'000'000));
        rows.push_back(std::move(chunk));
    }
    const auto bytes_with = [&](std::size_t sample_bytes) {
        store::MemorySections sections;
        write_rows(sections, rows, "",
                   {.block_bytes = 2000, .level = 3, .sample_bytes = sample_bytes});
        expect_rows(DocumentsReader::open(sections, "").value(), rows);
        return sections.size_bytes();
    };
    EXPECT_LT(bytes_with(512 * 1024), bytes_with(0));
}

TEST(Documents, SeveralNamespacesShareAFileAndACache) {
    const auto directory = store::make_memory_directory();
    const auto first = random_chunks(1, 200);
    const auto second = random_chunks(2, 300);
    const auto writer = store::SectionFileWriter::create(*directory, "segment", 1).value();
    write_rows(*writer, first, "0/");
    write_rows(*writer, second, "1/");
    ASSERT_TRUE(writer->finish().has_value());
    const auto file = store::SectionFile::open(*directory, "segment-000001").value();
    const auto cache = std::make_shared<BlockCache>(1 << 20);
    const auto one = DocumentsReader::open(*file, "0/", cache).value();
    const auto two = DocumentsReader::open(*file, "1/", cache).value();
    expect_rows(one, first);
    expect_rows(two, second);
    expect_rows(one, first);
    EXPECT_TRUE(one.intact().has_value());
    EXPECT_EQ(DocumentsReader::open(*file, "2/").error().code, ErrorCode::NotFound);
}

TEST(Documents, RowsAreAddedInTheOrderOfTheirIds) {
    store::MemorySections sections;
    DocumentsBuilder builder(sections, "");
    Chunk chunk;
    chunk.chunk_id = "b";
    ASSERT_TRUE(builder.add(chunk, 0, 0).has_value());
    EXPECT_EQ(builder.add(chunk, 0, 0).error().code, ErrorCode::InvalidArgument);
    chunk.chunk_id = "a";
    EXPECT_EQ(builder.add(chunk, 0, 0).error().code, ErrorCode::InvalidArgument);
}

TEST(Documents, ManyReadersAtOnce) {
    const auto rows = random_chunks(3, 400);
    store::MemorySections sections;
    write_rows(sections, rows);
    const auto reader =
        DocumentsReader::open(sections, "", std::make_shared<BlockCache>(100'000)).value();
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    threads.reserve(4);
    for (unsigned thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            braid::testing::RandomData random(thread);
            for (int i = 0; i < 300; ++i) {
                const std::size_t row = random.below(rows.size());
                const auto chunk = reader.chunk(row);
                if (!chunk || *chunk != rows[row]) ++wrong;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong.load(), 0);
}

/// Sections whose bytes a test chooses, without checksums: readers must bear any.
class ChosenSections final : public store::SectionSource {
public:
    std::map<std::string, store::testing::Bytes, std::less<>> parts;

    Result<store::Section> section(std::string_view name) const override {
        const auto found = parts.find(name);
        if (found == parts.end()) return fail(ErrorCode::NotFound, std::string(name));
        return store::Section(found->second, found->first);
    }
};

ChosenSections chosen_sections(const std::vector<Chunk>& rows) {
    store::MemorySections sections;
    write_rows(sections, rows);
    ChosenSections chosen;
    for (const std::string_view name :
         {kBlocksSection, kIndexSection, kDictionarySection, kIdsSection, kDocumentsSection,
          kDocumentOfSection, kStartsSection, kOrderSection, kCreatedKnownSection, kCreatedSection,
          kVersionsSection, kLabelsSection, kLengthsSection}) {
        const auto bytes = sections.section(name).value().bytes().value();
        chosen.parts[std::string(name)] = {bytes.begin(), bytes.end()};
    }
    return chosen;
}

/// Reads all that can be asked for; what comes out does not matter.
void read_everything(const store::SectionSource& sections) {
    const auto reader = DocumentsReader::open(sections, "");
    if (!reader) return;
    for (std::uint64_t row = 0; row < std::min<std::uint64_t>(reader->rows(), 20); ++row) {
        (void)reader->chunk(row);
        const auto document = reader->document_id(row);
        if (document) (void)reader->document_rows(*document);
    }
    (void)reader->find("c");
}

TEST(DocumentsDamage, HostileBytesAreErrorsAndNothingWorse) {
    const auto rows = random_chunks(21, 6);
    const ChosenSections good = chosen_sections(rows);
    read_everything(good);
    for (const auto& [name, bytes] : good.parts) {
        for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 200) {
            ChosenSections cut = good;
            cut.parts[name].resize(size);
            read_everything(cut);
        }
        for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 1 + bytes.size() / 500) {
            ChosenSections flipped = good;
            flipped.parts[name][bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
            read_everything(flipped);
        }
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            std::mt19937_64 rng(seed);
            ChosenSections random = good;
            random.parts[name] = store::testing::random_bytes(rng, rng() % 200);
            read_everything(random);
        }
        ChosenSections without = good;
        without.parts.erase(name);
        EXPECT_FALSE(DocumentsReader::open(without, "").has_value());
    }
}

TEST(DocumentsDamage, InAFileEveryFlippedBitIsAnErrorOrWithoutEffect) {
    const auto directory = store::make_memory_directory();
    const auto rows = random_chunks(22, 4);
    const auto writer = store::SectionFileWriter::create(*directory, "segment", 1).value();
    write_rows(*writer, rows);
    ASSERT_TRUE(writer->finish().has_value());
    const auto view = directory->open("segment-000001").value();
    const store::testing::Bytes good(view->bytes().begin(), view->bytes().end());
    for (std::size_t bit = 0; bit < good.size() * 8; bit += 3) {
        store::testing::Bytes bad = good;
        bad[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        const auto other = store::make_memory_directory();
        ASSERT_TRUE(other->create("segment-000001", bad).has_value());
        const auto file = store::SectionFile::open(*other, "segment-000001");
        if (!file) continue;
        const auto reader = DocumentsReader::open(**file, "");
        if (!reader) continue;
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const auto chunk = reader->chunk(row);
            if (chunk) {
                EXPECT_EQ(*chunk, rows[row]) << "bit " << bit;
            }
        }
    }
}

}  // namespace
}  // namespace braid::docs
