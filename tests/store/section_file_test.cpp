#include "braid/store/section_file.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include <gtest/gtest.h>

#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/section_file_writer.hpp"
#include "store/every_directory.hpp"

namespace braid::store {
namespace {

using Parts = std::map<std::string, testing::Bytes>;

Parts random_parts(std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    Parts parts;
    for (const std::size_t size : {0UL, 1UL, 63UL, 64UL, 65UL, 70'000UL, 65'536UL, 300'000UL}) {
        parts["part." + std::to_string(size)] = testing::random_bytes(rng, size);
    }
    return parts;
}

/// Each section in pieces of random sizes.
Result<std::uint64_t> write_parts(Directory& directory, const Parts& parts,
                                  std::uint64_t generation) {
    std::mt19937_64 rng(generation);
    BRAID_TRY(const auto writer, SectionFileWriter::create(directory, "segment", generation));
    for (const auto& [name, bytes] : parts) {
        BRAID_CHECK(writer->begin(name));
        std::span<const std::byte> rest = bytes;
        while (!rest.empty()) {
            const std::size_t size = std::min<std::size_t>(rest.size(), rng() % 100'000 + 1);
            BRAID_CHECK(writer->write(rest.first(size)));
            rest = rest.subspan(size);
            EXPECT_EQ(writer->offset(), bytes.size() - rest.size());
        }
    }
    return writer->finish();
}

void expect_parts(const SectionFile& file, const Parts& parts) {
    ASSERT_EQ(file.sections().size(), parts.size());
    for (const auto& [name, bytes] : parts) {
        const auto section = file.section(name);
        ASSERT_TRUE(section.has_value()) << section.error().message;
        EXPECT_EQ(section->name(), name);
        EXPECT_EQ(section->size(), bytes.size());
        const auto found = section->bytes();
        ASSERT_TRUE(found.has_value()) << found.error().message;
        EXPECT_TRUE(std::ranges::equal(*found, bytes));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(found->data()) % kSectionAlignment, 0U);
        EXPECT_TRUE(section->intact().has_value());
    }
}

class SectionFileSuite : public testing::EveryDirectory {};

INSTANTIATE_TEST_SUITE_P(Everywhere, SectionFileSuite,
                         ::testing::Values("posix", "memory", "faulty"),
                         [](const auto& tested) { return tested.param; });

TEST_P(SectionFileSuite, GivesBackWhatWasWritten) {
    const Parts parts = random_parts(5);
    const std::uint64_t size = write_parts(*directory, parts, 42).value();
    const auto file = SectionFile::open(*directory, "segment-000042").value();
    EXPECT_EQ(file->generation(), 42U);
    EXPECT_EQ(file->kind(), "segment");
    EXPECT_EQ(file->size_bytes(), size);
    expect_parts(*file, parts);
    for (std::uint64_t block = 0; block < file->blocks(); ++block) {
        EXPECT_TRUE(file->verify_block(block).has_value());
    }
    const auto section = file->section("part.65").value();
    EXPECT_EQ(section.bytes(65, 0).value().size(), 0U);
    EXPECT_EQ(section.bytes(60, 6).error().code, ErrorCode::Corruption);
    EXPECT_EQ(section.bytes(66, 0).error().code, ErrorCode::Corruption);
    EXPECT_EQ(section.bytes(1, ~std::uint64_t{0}).error().code, ErrorCode::Corruption);
    EXPECT_EQ(file->section("part").error().code, ErrorCode::NotFound);
}

TEST_P(SectionFileSuite, AFileWithoutSectionsIsAFile) {
    ASSERT_TRUE(write_parts(*directory, {}, 1).has_value());
    EXPECT_EQ(SectionFile::open(*directory, "segment-000001").value()->sections().size(), 0U);
}

TEST_P(SectionFileSuite, ASectionIsWrittenOnceAndBegunFirst) {
    const auto writer = SectionFileWriter::create(*directory, "segment", 3).value();
    EXPECT_FALSE(writer->write(testing::Bytes(1)).has_value());
    ASSERT_TRUE(writer->begin("a").has_value());
    ASSERT_TRUE(writer->begin("b").has_value());
    EXPECT_EQ(writer->begin("a").error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(writer->begin("").error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(writer->begin(std::string(1025, 'x')).error().code, ErrorCode::InvalidArgument);
    EXPECT_FALSE(SectionFileWriter::create(*directory, "Segment", 4).has_value());
    EXPECT_FALSE(SectionFileWriter::create(*directory, "", 4).has_value());
    EXPECT_FALSE(SectionFileWriter::create(*directory, "-a", 4).has_value());
}

TEST_P(SectionFileSuite, AGenerationIsUsedOnce) {
    ASSERT_TRUE(write_parts(*directory, {}, 7).has_value());
    EXPECT_EQ(SectionFileWriter::create(*directory, "segment", 7).error().code,
              ErrorCode::AlreadyExists);
}

TEST_P(SectionFileSuite, AFileUnderAnotherNameIsRefused) {
    ASSERT_TRUE(write_parts(*directory, random_parts(1), 7).has_value());
    const auto bytes = directory->open("segment-000007").value();
    for (const char* name : {"segment-000008", "segments-000007", "segment-0000007", "x"}) {
        ASSERT_TRUE(directory->create(name, bytes->bytes()).has_value());
        const auto opened = SectionFile::open(*directory, name);
        ASSERT_FALSE(opened.has_value()) << name;
        EXPECT_EQ(opened.error().code, ErrorCode::Corruption);
        EXPECT_NE(opened.error().message.find("segment-000007"), std::string::npos);
    }
    EXPECT_EQ(SectionFile::open(*directory, "segment-000009").error().code, ErrorCode::NotFound);
}

TEST(SectionFileNames, CarryTheGeneration) {
    EXPECT_EQ(section_file_name("segment", 1), "segment-000001");
    EXPECT_EQ(section_file_name("segment", 12'345'678), "segment-12345678");
}

TEST(SectionFileVersions, NewerFilesAreRefusedAndSayWhy) {
    testing::FaultyDisk disk;
    const auto root = disk.root();
    ASSERT_TRUE(write_parts(*root, random_parts(2), 1).has_value());
    const auto written = root->open("segment-000001").value();
    const auto with_header = [&](const std::vector<std::byte>& header) {
        testing::Bytes bytes(written->bytes().begin(), written->bytes().end());
        std::copy(header.begin(), header.end(), bytes.begin());
        EXPECT_TRUE(root->replace("segment-000001", bytes).has_value());
        return SectionFile::open(*root, "segment-000001");
    };
    EXPECT_TRUE(with_header(encode_section_header({"segment", 1})).has_value());
    const auto newer = with_header(encode_section_header({"segment", 1, 0, 0, 3}));
    ASSERT_FALSE(newer.has_value());
    EXPECT_EQ(newer.error().code, ErrorCode::Unsupported);
    EXPECT_NE(newer.error().message.find("newer"), std::string::npos);
    const auto feature = with_header(encode_section_header({"segment", 1, 4, 0}));
    ASSERT_FALSE(feature.has_value());
    EXPECT_EQ(feature.error().code, ErrorCode::Unsupported);
    EXPECT_NE(feature.error().message.find("newer"), std::string::npos);
    EXPECT_TRUE(with_header(encode_section_header({"segment", 1, 0, 4})).has_value())
        << "optional features can be ignored";
}

TEST(SectionFileVersions, TheFirstHadLargerBlocks) {
    constexpr std::uint64_t block_bytes = 64 * 1024;
    const std::string text(3 * block_bytes, 'x');
    const SectionFileHeader header{"segment", 1, 0, 0, 1};
    testing::Bytes bytes = encode_section_header(header);
    std::ranges::transform(text, std::back_inserter(bytes),
                           [](char c) { return static_cast<std::byte>(c); });
    SectionFileFooter footer;
    footer.generation = 1;
    footer.directory_offset = bytes.size();
    BlockSummer summer(1, block_bytes);
    summer.add(bytes);
    ByteWriter directory(encode_section_directory({{"x", kSectionFileHeaderBytes, text.size()}}));
    footer.directory_length = directory.size();
    footer.directory_checksum = checksum(directory.view(), 1);
    directory.pad_to(sizeof(std::uint64_t));
    ByteWriter sums;
    for (const std::uint64_t sum : summer.finish()) sums.u64(sum);
    EXPECT_EQ(sums.size(), 4 * sizeof(std::uint64_t)) << "three blocks, and the header behind one";
    footer.blocks_checksum = checksum(sums.view(), 1);
    footer.file_size = bytes.size() + directory.size() + sums.size() + kSectionFileFooterBytes;
    const auto end = encode_section_footer(footer);
    for (const std::span<const std::byte> part :
         {directory.view(), sums.view(), std::span<const std::byte>(end)}) {
        bytes.insert(bytes.end(), part.begin(), part.end());
    }
    testing::FaultyDisk disk;
    ASSERT_TRUE(disk.root()->create("segment-000001", bytes).has_value());
    const auto file = SectionFile::open(*disk.root(), "segment-000001").value();
    EXPECT_EQ(file->blocks(), 4U);
    EXPECT_EQ(testing::to_text(file->section("x").value().bytes().value()), text);

    bytes[2 * block_bytes] ^= std::byte{1};
    ASSERT_TRUE(disk.root()->replace("segment-000001", bytes).has_value());
    const auto damaged = SectionFile::open(*disk.root(), "segment-000001").value();
    const Section section = damaged->section("x").value();
    EXPECT_TRUE(section.bytes(0, block_bytes).has_value());
    EXPECT_FALSE(section.bytes(2 * block_bytes, 1).has_value());
}

TEST(SectionFileFaults, AnErrorAnywhereLeavesNothingAndACrashAllOrNothing) {
    const Parts parts = random_parts(9);
    for (const auto kind : {testing::FaultKind::IoError, testing::FaultKind::NoSpace,
                            testing::FaultKind::ShortWrite, testing::FaultKind::Crash}) {
        for (std::uint64_t n = 1;; ++n) {
            SCOPED_TRACE(::testing::Message()
                         << "kind " << static_cast<int>(kind) << ", operation " << n);
            testing::FaultyDisk disk;
            const auto root = disk.root();
            disk.plan().fail_at(n, kind);
            const bool written = write_parts(*root, parts, 1).has_value();
            const bool at_end = n > disk.plan().operations();
            if (kind == testing::FaultKind::Crash) {
                for (const testing::CrashMode mode : testing::kCrashModes) {
                    testing::FaultyDisk left = disk.crash_state(n, mode);
                    const auto opened = SectionFile::open(*left.root(), "segment-000001");
                    EXPECT_TRUE(opened || !written);
                    if (opened) {
                        expect_parts(**opened, parts);
                    } else {
                        EXPECT_EQ(opened.error().code, ErrorCode::NotFound);
                    }
                }
            } else {
                disk.plan().clear();
                EXPECT_EQ(root->remove_leftovers().value(), 0U);
                const auto opened = SectionFile::open(*root, "segment-000001");
                EXPECT_TRUE(opened || !written);
                if (opened) expect_parts(**opened, parts);
            }
            if (at_end) {
                EXPECT_TRUE(written);
                break;
            }
        }
    }
}

TEST(SectionFileFaults, AReadErrorOfTheDiskIsAnErrorOfOpen) {
    testing::FaultyDisk disk;
    const auto root = disk.root();
    ASSERT_TRUE(write_parts(*root, {}, 1).has_value());
    disk.plan().fail_at(1, testing::FaultKind::IoError);
    EXPECT_EQ(SectionFile::open(*root, "segment-000001").error().code, ErrorCode::IoError);
}

}  // namespace
}  // namespace braid::store
