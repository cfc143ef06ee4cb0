#include "braid/store/file_writer.hpp"

#include <gtest/gtest.h>

#include "store/every_directory.hpp"

namespace braid::store {
namespace {

class FileWriterSuite : public testing::EveryDirectory {};

INSTANTIATE_TEST_SUITE_P(Everywhere, FileWriterSuite,
                         ::testing::Values("posix", "memory", "faulty"),
                         [](const auto& tested) { return tested.param; });

/// 2.5 MB in pieces of all sizes: more than one write goes to the disk.
testing::Bytes write_pieces(FileWriter& writer) {
    std::mt19937_64 rng(7);
    testing::Bytes all;
    for (const std::size_t size :
         {1UL, 0UL, 100'000UL, 1'048'576UL, 7UL, 1'200'000UL, 65'536UL, 100'001UL}) {
        const testing::Bytes piece = testing::random_bytes(rng, size);
        EXPECT_TRUE(writer.write(piece).has_value());
        all.insert(all.end(), piece.begin(), piece.end());
    }
    return all;
}

TEST_P(FileWriterSuite, WritesWhatItWasGivenAndShowsItAtTheEnd) {
    const auto writer = directory->write_file("large").value();
    const testing::Bytes expected = write_pieces(*writer);
    EXPECT_EQ(writer->size(), expected.size());
    EXPECT_EQ(directory->list().value().size(), 0U) << "not there before it is finished";
    ASSERT_TRUE(writer->finish().has_value());
    const auto found = directory->open("large").value();
    EXPECT_TRUE(std::ranges::equal(found->bytes(), expected));
    EXPECT_EQ(directory->remove_leftovers().value(), 0U);
    EXPECT_FALSE(writer->write(expected).has_value()) << "it is finished";
    EXPECT_FALSE(writer->finish().has_value());
}

TEST_P(FileWriterSuite, LeavesNothingWithoutFinish) {
    write_pieces(*directory->write_file("large").value());
    EXPECT_EQ(directory->list().value().size(), 0U);
    EXPECT_EQ(directory->remove_leftovers().value(), 0U);
}

TEST_P(FileWriterSuite, TakesNoNameThatIsTaken) {
    ASSERT_TRUE(directory->create("a", testing::to_bytes("old")).has_value());
    const auto refused = directory->write_file("a");
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::AlreadyExists);
    EXPECT_FALSE(directory->write_file("../a").has_value());

    const auto late = directory->write_file("b").value();
    ASSERT_TRUE(directory->create("b", testing::to_bytes("faster")).has_value());
    ASSERT_TRUE(late->write(testing::to_bytes("slower")).has_value());
    const auto finished = late->finish();
    ASSERT_FALSE(finished.has_value());
    EXPECT_EQ(finished.error().code, ErrorCode::AlreadyExists);
    EXPECT_EQ(testing::to_text(directory->open("b").value()->bytes()), "faster");
    EXPECT_EQ(directory->remove_leftovers().value(), 0U);
}

/// All of a run: what is asked is asked until the first failure.
Result<> write_file_of(Directory& directory, std::span<const std::byte> bytes) {
    BRAID_TRY(const auto writer, directory.write_file("file"));
    for (std::size_t done = 0; done < bytes.size(); done += 300'000) {
        BRAID_CHECK(writer->write(
            bytes.subspan(done, std::min<std::size_t>(300'000, bytes.size() - done))));
    }
    return writer->finish();
}

TEST(FileWriterFaults, AnErrorAnywhereLeavesNothingBehind) {
    std::mt19937_64 rng(11);
    const testing::Bytes bytes = testing::random_bytes(rng, 2'500'000);
    for (const auto kind : {testing::FaultKind::IoError, testing::FaultKind::NoSpace,
                            testing::FaultKind::ShortWrite}) {
        for (std::uint64_t n = 1;; ++n) {
            SCOPED_TRACE(::testing::Message()
                         << "kind " << static_cast<int>(kind) << ", operation " << n);
            testing::FaultyDisk disk;
            const auto root = disk.root();
            disk.plan().fail_at(n, kind);
            const auto written = write_file_of(*root, bytes);
            const std::uint64_t operations = disk.plan().operations();
            disk.plan().clear();
            const auto found = root->open("file");
            if (written) {
                ASSERT_TRUE(found.has_value());
                EXPECT_TRUE(std::ranges::equal((*found)->bytes(), bytes));
            } else if (found) {
                // Only the sync of the name failed: all of it is there, or will not be.
                EXPECT_TRUE(std::ranges::equal((*found)->bytes(), bytes));
            }
            if (kind == testing::FaultKind::NoSpace && !written) {
                EXPECT_EQ(written.error().code, ErrorCode::StorageFull);
                EXPECT_FALSE(found.has_value());
            }
            EXPECT_EQ(root->remove_leftovers().value(), 0U);
            if (n > operations) break;
        }
    }
}

TEST(FileWriterFaults, AfterAPowerCutTheFileIsWholeOrAbsent) {
    std::mt19937_64 rng(13);
    const testing::Bytes bytes = testing::random_bytes(rng, 1'500'000);
    for (std::uint64_t n = 1;; ++n) {
        testing::FaultyDisk disk;
        const auto root = disk.root();
        disk.plan().fail_at(n, testing::FaultKind::Crash);
        const bool written = write_file_of(*root, bytes).has_value();
        for (const testing::CrashMode mode : testing::kCrashModes) {
            for (std::uint64_t seed = 0; seed < 4; ++seed) {
                SCOPED_TRACE(::testing::Message() << "operation " << n << ", mode "
                                                  << static_cast<int>(mode) << ", seed " << seed);
                testing::FaultyDisk left = disk.crash_state(seed, mode);
                const auto left_root = left.root();
                const auto found = left_root->open("file");
                EXPECT_TRUE(found || !written);
                if (found) {
                    EXPECT_TRUE(std::ranges::equal((*found)->bytes(), bytes));
                }
                ASSERT_TRUE(left_root->remove_leftovers().has_value());
                EXPECT_EQ(left_root->list_others().value().size(), 0U);
            }
        }
        if (!disk.plan().crashed()) {
            EXPECT_TRUE(written);
            break;
        }
    }
}

TEST(FileWriterFaults, RepeatsItsFirstFailure) {
    testing::FaultyDisk disk;
    const auto root = disk.root();
    const auto writer = root->write_file("file").value();
    disk.plan().fill_disk(true);
    const auto full = writer->write(testing::Bytes(2'000'000));
    ASSERT_FALSE(full.has_value());
    EXPECT_EQ(full.error().code, ErrorCode::StorageFull);
    disk.plan().fill_disk(false);
    EXPECT_EQ(writer->write(testing::Bytes(1)).error(), full.error());
    EXPECT_EQ(writer->finish().error(), full.error());
    EXPECT_EQ(root->list_others().value().size(), 0U);
}

}  // namespace
}  // namespace braid::store
