#include "braid/store/scratch.hpp"

#include <algorithm>
#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "braid/store/posix_scratch.hpp"
#include "store/every_directory.hpp"

namespace braid::store {
namespace {

class ScratchSuite : public testing::EveryDirectory {};

INSTANTIATE_TEST_SUITE_P(Everywhere, ScratchSuite, ::testing::Values("posix", "memory", "faulty"),
                         [](const auto& tested) { return tested.param; });

TEST_P(ScratchSuite, IsZeroKeepsWhatIsWrittenAndLeavesNothing) {
    for (const std::uint64_t size : {0UL, 1UL, 4097UL, 1'000'000UL}) {
        const auto scratch = directory->scratch(size).value();
        const auto bytes = scratch->bytes();
        ASSERT_EQ(bytes.size(), size);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64, 0U);
        EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; }));
        std::ranges::fill(bytes, std::byte{7});
        EXPECT_EQ(std::ranges::count(bytes, std::byte{7}), static_cast<std::ptrdiff_t>(size));
        EXPECT_TRUE(scratch->intact().has_value());
        EXPECT_TRUE(directory->list().value().empty());
        EXPECT_TRUE(directory->list_others().value().empty());
    }
}

TEST(Scratch, LostByTheDiskIsAnErrorAndNoSignal) {
    const testing::TemporaryDirectory folder;
    const auto path = folder.path() / "f";
    Descriptor file = open_at(AT_FDCWD, path.c_str(), O_RDWR | O_CREAT, 0600);
    const auto scratch = map_posix_scratch(std::move(file), 100'000, path.string()).value();
    const auto bytes = scratch->bytes();
    std::ranges::fill(bytes, std::byte{1});
    std::filesystem::resize_file(path, 4096);
    EXPECT_EQ(std::ranges::count(bytes, std::byte{1}), 4096) << "zeros stand for what is gone";
    std::ranges::fill(bytes, std::byte{2});  // written as well
    ASSERT_FALSE(scratch->intact().has_value());
    EXPECT_EQ(scratch->intact().error().code, ErrorCode::IoError);
}

TEST(Scratch, MoreThanTheDiskHasIsRefused) {
    const testing::TemporaryDirectory folder;
    const auto directory = folder.open();
    EXPECT_FALSE(directory->scratch(std::uint64_t{1} << 60).has_value());
    EXPECT_FALSE(directory->scratch(~std::uint64_t{0}).has_value());
    EXPECT_TRUE(directory->list_others().value().empty());
}

}  // namespace
}  // namespace braid::store
