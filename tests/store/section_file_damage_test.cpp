#include <map>

#include <gtest/gtest.h>

#include "braid/store/memory_directory.hpp"
#include "braid/store/section_file.hpp"
#include "braid/store/section_file_writer.hpp"
#include "store/store_helpers.hpp"

namespace braid::store {
namespace {

constexpr std::string_view kDamagedName = "segment-000001";
using Contents = std::map<std::string, std::string>;

Contents small_contents() {
    return {{"a", "the first section"}, {"b", ""}, {"c", std::string(200, 'c')}};
}

testing::Bytes file_of(const Contents& contents) {
    const auto directory = make_memory_directory();
    const auto writer = SectionFileWriter::create(*directory, "segment", 1).value();
    for (const auto& [name, text] : contents) {
        EXPECT_TRUE(writer->begin(name).has_value());
        EXPECT_TRUE(writer->write(std::as_bytes(std::span(text))).has_value());
    }
    EXPECT_TRUE(writer->finish().has_value());
    const auto view = directory->open(kDamagedName).value();
    return {view->bytes().begin(), view->bytes().end()};
}

/// All sections, or the error of the first step that had one.
Result<Contents> read_contents(const testing::Bytes& bytes) {
    const auto directory = make_memory_directory();
    BRAID_CHECK(directory->create(kDamagedName, bytes));
    BRAID_TRY(const auto file, SectionFile::open(*directory, kDamagedName));
    Contents found;
    for (const SectionEntry& entry : file->sections()) {
        BRAID_TRY(const Section section, file->section(entry.name));
        BRAID_TRY(const auto content, section.bytes());
        found[entry.name] = testing::to_text(content);
    }
    for (std::uint64_t block = 0; block < file->blocks(); ++block) {
        BRAID_CHECK(file->verify_block(block));
    }
    return found;
}

TEST(SectionFileDamage, EveryFlippedBitIsFound) {
    const testing::Bytes good = file_of(small_contents());
    ASSERT_EQ(read_contents(good).value(), small_contents());
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        testing::Bytes bad = good;
        bad[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        const auto found = read_contents(bad);
        ASSERT_FALSE(found) << "bit " << bit;
        EXPECT_EQ(found.error().code, ErrorCode::Corruption) << found.error().message;
    }
}

TEST(SectionFileDamage, EveryTruncationAndExtensionIsFound) {
    const testing::Bytes good = file_of(small_contents());
    for (std::size_t size = 0; size < good.size(); ++size) {
        const auto found =
            read_contents({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
        ASSERT_FALSE(found.has_value()) << size;
        EXPECT_EQ(found.error().code, ErrorCode::Corruption);
    }
    testing::Bytes longer = good;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(read_contents(longer).has_value());
}

TEST(SectionFileDamage, BlocksThatChangedPlacesAreFound) {
    Contents contents;
    contents["x"] = std::string(4 * kBlockBytes, 'x');
    contents["x"][kBlockBytes] = 'y';
    testing::Bytes bad = file_of(contents);
    std::swap_ranges(bad.begin() + kBlockBytes, bad.begin() + 2 * kBlockBytes,
                     bad.begin() + 2 * kBlockBytes);
    const auto found = read_contents(bad);
    ASSERT_FALSE(found.has_value());
    EXPECT_NE(found.error().message.find(std::to_string(kBlockBytes)), std::string::npos)
        << found.error().message;
}

TEST(SectionFileDamage, OnlyWhatIsTouchedIsLookedAt) {
    Contents contents{{"x", std::string(4 * kBlockBytes, 'x')}};
    testing::Bytes bad = file_of(contents);
    bad[3 * kBlockBytes] ^= std::byte{1};
    const auto directory = make_memory_directory();
    ASSERT_TRUE(directory->create(kDamagedName, bad).has_value());
    const auto file = SectionFile::open(*directory, kDamagedName).value();
    const Section section = file->section("x").value();
    EXPECT_TRUE(section.bytes(0, 2 * kBlockBytes).has_value());
    EXPECT_FALSE(section.bytes(3 * kBlockBytes, 1).has_value());
    EXPECT_FALSE(section.bytes(3 * kBlockBytes, 1).has_value()) << "and again";
    EXPECT_FALSE(file->verify_block(3).has_value());
    EXPECT_TRUE(file->verify_block(2).has_value());
}

TEST(SectionFileDamage, RandomBytesAreNoFile) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        EXPECT_FALSE(read_contents(testing::random_bytes(rng, rng() % 2000)).has_value());
        // Lengths of a hostile file whose checksums fit.
        const auto directory_bytes = testing::random_bytes(rng, rng() % 100);
        (void)decode_section_directory(directory_bytes, "hostile", rng());
        SectionFileFooter footer{1, rng() >> (rng() % 64), rng() >> (rng() % 64), 0, 0, 1000};
        const auto decoded =
            decode_section_footer(encode_section_footer(footer), "hostile", 1000, kBlockBytes);
        if (decoded) {
            EXPECT_LE(decoded->directory_offset + decoded->directory_length, 1000U);
        }
    }
    const std::vector<SectionEntry> hostile[] = {{{"a", 64, ~std::uint64_t{0}}},
                                                 {{"a", ~std::uint64_t{63}, 64}},
                                                 {{"a", 0, 1}},
                                                 {{"a", 65, 1}},
                                                 {{"b", 64, 1}, {"a", 64, 1}},
                                                 {{"a", 64, 1}, {"a", 64, 1}},
                                                 {{"", 64, 1}},
                                                 {{"a", 1024, 1}}};
    for (const auto& entries : hostile) {
        EXPECT_FALSE(decode_section_directory(encode_section_directory(entries), "hostile", 1000)
                         .has_value());
    }
}

}  // namespace
}  // namespace braid::store
