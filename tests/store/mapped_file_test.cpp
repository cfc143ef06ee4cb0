#include "braid/store/mapped_file.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <numeric>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "braid/store/section_file.hpp"
#include "braid/store/section_file_writer.hpp"
#include "store/every_directory.hpp"

namespace braid::store {
namespace {

constexpr std::size_t kMappedBytes = 1'000'000;

class MappedFileSuite : public testing::EveryDirectory {};

INSTANTIATE_TEST_SUITE_P(Everywhere, MappedFileSuite,
                         ::testing::Values("posix", "memory", "faulty"),
                         [](const auto& tested) { return tested.param; });

TEST_P(MappedFileSuite, ShowsTheBytesOfAFile) {
    std::mt19937_64 rng(3);
    for (const std::size_t size : {0UL, 1UL, 4096UL, 100'000UL}) {
        const std::string name = "f" + std::to_string(size);
        const testing::Bytes bytes = testing::random_bytes(rng, size);
        ASSERT_TRUE(directory->create(name, bytes).has_value());
        const auto mapped = directory->map(name).value();
        EXPECT_TRUE(std::ranges::equal(mapped->bytes(), bytes));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapped->bytes().data()) % 64, 0U);
        ASSERT_TRUE(directory->remove(name).has_value());
        EXPECT_TRUE(std::ranges::equal(mapped->bytes(), bytes)) << "outlives the file";
        EXPECT_TRUE(mapped->intact().has_value());
        EXPECT_EQ(mapped->path(), directory->path() + "/" + name);
    }
    EXPECT_EQ(directory->map("absent").error().code, ErrorCode::NotFound);
    EXPECT_EQ(directory->map("../x").error().code, ErrorCode::InvalidArgument);
}

std::uint64_t sum_of(std::span<const std::byte> bytes) {
    std::uint64_t sum = 0;
    for (const std::byte byte : bytes) sum += std::to_integer<std::uint64_t>(byte);
    return sum;
}

/// A file of ones on the real disk.
class CutFile : public ::testing::Test {
protected:
    void SetUp() override {
        directory = folder.open();
        ASSERT_TRUE(directory->create("f", testing::Bytes(kMappedBytes, std::byte{1})).has_value());
        mapped = directory->map("f").value();
    }
    void cut(std::uint64_t size) { std::filesystem::resize_file(folder.path() / "f", size); }

    testing::TemporaryDirectory folder;
    std::unique_ptr<Directory> directory;
    std::shared_ptr<const MappedFile> mapped;
};

TEST_F(CutFile, ReadingWhatIsGoneIsAnErrorAndNoSignal) {
    cut(8192);
    EXPECT_EQ(sum_of(mapped->bytes()), 8192U) << "zeros stand for what is gone";
    const auto intact = mapped->intact();
    ASSERT_FALSE(intact.has_value());
    EXPECT_EQ(intact.error().code, ErrorCode::Corruption);
    EXPECT_NE(intact.error().message.find("f"), std::string::npos);
    cut(kMappedBytes);  // it has its size again, not its content
    EXPECT_FALSE(mapped->intact().has_value()) << "what was read is wrong for ever";
    EXPECT_FALSE(directory->map("f").value()->bytes().empty());
}

TEST_F(CutFile, ACutWithinAPageIsSeenToo) {
    EXPECT_EQ(sum_of(mapped->bytes()), kMappedBytes);
    EXPECT_TRUE(mapped->intact().has_value());
    cut(kMappedBytes - 10);
    EXPECT_EQ(sum_of(mapped->bytes()), kMappedBytes - 10) << "no signal tells";
    ASSERT_FALSE(mapped->intact().has_value());
    EXPECT_EQ(mapped->intact().error().code, ErrorCode::Corruption);
}

TEST_F(CutFile, ManyReadersSeeTheSame) {
    std::vector<std::thread> readers;
    std::atomic<int> wrong = 0;
    std::atomic<bool> stop = false;
    readers.reserve(4);
    for (int i = 0; i < 4; ++i) {
        readers.emplace_back([&] {
            while (!stop.load()) {
                const std::uint64_t sum = sum_of(mapped->bytes());
                if (sum != kMappedBytes && mapped->intact()) ++wrong;
            }
        });
    }
    for (int i = 0; i < 20; ++i) {  // others come and go meanwhile
        const auto other = directory->map("f").value();
        EXPECT_EQ(sum_of(other->bytes()), kMappedBytes);
    }
    cut(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.store(true);
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_FALSE(mapped->intact().has_value());
}

TEST_F(CutFile, ManyMappingsAreToldApart) {
    std::vector<std::shared_ptr<const MappedFile>> others;
    for (int i = 0; i < 300; ++i) {  // more than one part of the registry holds
        const std::string name = "other" + std::to_string(i);
        ASSERT_TRUE(directory->create(name, testing::Bytes(5000, std::byte{2})).has_value());
        others.push_back(directory->map(name).value());
    }
    std::filesystem::resize_file(folder.path() / "other299", 0);
    EXPECT_EQ(sum_of(others.back()->bytes()), 0U);
    EXPECT_FALSE(others.back()->intact().has_value());
    others.pop_back();
    for (const auto& other : others) EXPECT_TRUE(other->intact().has_value());
    EXPECT_EQ(sum_of(mapped->bytes()), kMappedBytes);
    EXPECT_TRUE(mapped->intact().has_value());
    others.clear();
    const auto again = directory->map("other0").value();
    EXPECT_TRUE(again->intact().has_value()) << "a place that is used again starts afresh";
}

TEST_F(CutFile, ASectionFileThatIsCutUnderAReaderIsAnError) {
    const auto writer = SectionFileWriter::create(*directory, "segment", 1).value();
    ASSERT_TRUE(writer->begin("numbers").has_value());
    ASSERT_TRUE(writer->write(testing::Bytes(kMappedBytes, std::byte{3})).has_value());
    ASSERT_TRUE(writer->finish().has_value());
    const auto file = SectionFile::open(*directory, "segment-000001").value();
    const Section section = file->section("numbers").value();
    const auto first = section.bytes(0, 1000).value();
    std::filesystem::resize_file(folder.path() / "segment-000001", 100);

    const auto later = section.bytes(kMappedBytes / 2, 1000);
    ASSERT_FALSE(later.has_value());
    EXPECT_EQ(later.error().code, ErrorCode::Corruption) << later.error().message;
    EXPECT_EQ(sum_of(first), 36U * 3) << "36 bytes behind the header are left";
    ASSERT_FALSE(section.intact().has_value()) << "asked afterwards, it says so";
    EXPECT_FALSE(SectionFile::open(*directory, "segment-000001").has_value());
}

/// A mapping that is not ours, cut under its reader: what was installed before us gets the signal.
[[noreturn]] void fault_elsewhere(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    void* memory = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED || ::ftruncate(file, 0) != 0) ::_exit(2);
    const volatile char* read = static_cast<const char*>(memory);
    ::_exit(read[0] == 0 ? 3 : 4);
}

TEST_F(CutFile, OtherAddressesAreNotOurs) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(fault_elsewhere(folder.path() / "f"), "");
    EXPECT_DEATH((void)::raise(SIGBUS), "");
}

}  // namespace
}  // namespace braid::store
