#include "braid/store/directory.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "braid/store/memory_directory.hpp"
#include "store/every_directory.hpp"
#include "store/store_helpers.hpp"

namespace braid::store {
namespace {

using testing::Bytes;
using testing::to_bytes;
using testing::to_text;
using testing::why;

constexpr int kThreads = 8;

class DirectorySuite : public testing::EveryDirectory {
protected:
    std::string content(std::string_view name) {
        auto view = directory->open(name);
        return view ? to_text((*view)->bytes()) : "error: " + view.error().message;
    }

    template <class T>
    static ErrorCode code(const Result<T>& result) {
        EXPECT_FALSE(result.has_value());
        return result ? ErrorCode::Cancelled : result.error().code;
    }
};

INSTANTIATE_TEST_SUITE_P(Everywhere, DirectorySuite, ::testing::Values("posix", "memory", "faulty"),
                         [](const auto& tested) { return tested.param; });

TEST_P(DirectorySuite, CreatesAFileOnce) {
    ASSERT_TRUE(directory->create("a", to_bytes("first")).has_value());
    EXPECT_EQ(code(directory->create("a", to_bytes("second"))), ErrorCode::AlreadyExists);
    EXPECT_EQ(content("a"), "first");
    ASSERT_TRUE(directory->create("empty", {}).has_value());
    EXPECT_EQ(content("empty"), "");
    EXPECT_EQ(directory->list().value(),
              (std::vector<DirectoryEntry>{{"a", false, 5}, {"empty", false, 0}}))
        << "no temporary file is left or listed";
    EXPECT_EQ(directory->remove_leftovers().value(), 0U);
}

TEST_P(DirectorySuite, ReplacesAFileWhole) {
    ASSERT_TRUE(directory->replace("manifest", to_bytes("one")).has_value());
    const auto old = directory->open("manifest");
    ASSERT_TRUE(directory->replace("manifest", to_bytes("twenty-two")).has_value());
    EXPECT_EQ(content("manifest"), "twenty-two");
    EXPECT_EQ(to_text((*old)->bytes()), "one") << "a view keeps what it showed";
}

TEST_P(DirectorySuite, RemovesAFileWhoseViewLivesOn) {
    ASSERT_TRUE(directory->create("a", to_bytes("text")).has_value());
    const auto view = directory->open("a");
    ASSERT_TRUE(directory->remove("a").has_value());
    EXPECT_EQ(to_text((*view)->bytes()), "text");
    EXPECT_EQ(code(directory->open("a")), ErrorCode::NotFound);
    EXPECT_EQ(code(directory->remove("a")), ErrorCode::NotFound);
}

TEST_P(DirectorySuite, ErrorsNameWhatWasTriedAndThePath) {
    const auto missing = directory->open("no-such-file");
    ASSERT_FALSE(missing.has_value());
    EXPECT_NE(missing.error().message.find(directory->path() + "/no-such-file"), std::string::npos)
        << missing.error().message;
}

TEST_P(DirectorySuite, RefusesNamesOutsideTheAllowList) {
    const std::vector<std::string> bad = {"",
                                          ".",
                                          "..",
                                          ".hidden",
                                          ".tmp-1",
                                          "a/b",
                                          "../a",
                                          "/etc/passwd",
                                          "a b",
                                          "a\\b",
                                          std::string("a\0b", 3),
                                          "caf\xC3\xA9",
                                          "a\n",
                                          std::string(201, 'a')};
    for (const std::string& name : bad) {
        SCOPED_TRACE(name);
        EXPECT_EQ(code(directory->open(name)), ErrorCode::InvalidArgument);
        EXPECT_EQ(code(directory->create(name, {})), ErrorCode::InvalidArgument);
        EXPECT_EQ(code(directory->replace(name, {})), ErrorCode::InvalidArgument);
        EXPECT_EQ(code(directory->remove(name)), ErrorCode::InvalidArgument);
        EXPECT_EQ(code(directory->open_append(name)), ErrorCode::InvalidArgument);
        EXPECT_EQ(code(directory->subdirectory(name)), ErrorCode::InvalidArgument);
        EXPECT_EQ(code(directory->open_subdirectory(name)), ErrorCode::InvalidArgument);
        EXPECT_EQ(code(directory->remove_subdirectory(name)), ErrorCode::InvalidArgument);
        EXPECT_EQ(code(directory->lock(name)), ErrorCode::InvalidArgument);
    }
    for (const std::string& name :
         {std::string("a"), std::string("A-1_b.c"), std::string("-x"), std::string(200, 'z')}) {
        EXPECT_TRUE(directory->create(name, to_bytes(name)).has_value()) << name;
        EXPECT_EQ(content(name), name);
    }
}

TEST_P(DirectorySuite, AppendsAcrossOpens) {
    {
        auto file = directory->open_append("log").value();
        EXPECT_EQ(file->size(), 0U);
        ASSERT_TRUE(file->append(to_bytes("one,")).has_value());
        ASSERT_TRUE(file->append({}).has_value());
        ASSERT_TRUE(file->sync().has_value());
        ASSERT_TRUE(file->append(to_bytes("two,")).has_value());
        EXPECT_EQ(file->size(), 8U);
    }
    const auto view = directory->open("log");
    auto file = directory->open_append("log").value();
    EXPECT_EQ(file->size(), 8U);
    ASSERT_TRUE(file->append(to_bytes("three")).has_value());
    ASSERT_TRUE(file->sync().has_value());
    EXPECT_EQ(content("log"), "one,two,three");
    EXPECT_EQ(to_text((*view)->bytes()), "one,two,");

    ASSERT_TRUE(file->truncate(4).has_value());
    EXPECT_EQ(file->size(), 4U);
    EXPECT_EQ(code(file->truncate(5)), ErrorCode::InvalidArgument);
    ASSERT_TRUE(file->append(to_bytes("2")).has_value());
    EXPECT_EQ(content("log"), "one,2");
    EXPECT_EQ(to_text((*view)->bytes()), "one,two,");
}

TEST_P(DirectorySuite, NestsDirectories) {
    auto first = directory->subdirectory("first").value();
    auto deep = first->subdirectory("deep").value();
    ASSERT_TRUE(deep->create("file", to_bytes("x")).has_value());
    EXPECT_TRUE(directory->subdirectory("first").has_value()) << "it may exist";
    EXPECT_EQ(code(directory->open_subdirectory("second")), ErrorCode::NotFound);
    const auto again = directory->open_subdirectory("first");
    ASSERT_TRUE(again.has_value()) << why(again);
    EXPECT_EQ((*again)->list().value(), (std::vector<DirectoryEntry>{{"deep", true, 0}}));

    EXPECT_EQ(code(directory->remove("first")), ErrorCode::NotFound) << "it is not a file";
    ASSERT_TRUE(directory->remove_subdirectory("first").has_value());
    EXPECT_TRUE(directory->list().value().empty());
    EXPECT_EQ(code(directory->remove_subdirectory("first")), ErrorCode::NotFound);
    EXPECT_EQ(directory->remove_leftovers().value(), 0U);
}

TEST_P(DirectorySuite, RenamesADirectoryWithWhatItHolds) {
    {
        const auto folder = directory->subdirectory("from").value();
        ASSERT_TRUE(folder->create("file", to_bytes("x")).has_value());
    }
    ASSERT_TRUE(directory->create("taken", to_bytes("y")).has_value());
    EXPECT_EQ(code(directory->rename_subdirectory("from", "taken")), ErrorCode::AlreadyExists);
    EXPECT_EQ(code(directory->rename_subdirectory("missing", "to")), ErrorCode::NotFound);
    EXPECT_EQ(code(directory->rename_subdirectory("taken", "to")), ErrorCode::NotFound);
    EXPECT_EQ(code(directory->rename_subdirectory("from", "../to")), ErrorCode::InvalidArgument);
    ASSERT_TRUE(directory->rename_subdirectory("from", "to").has_value());
    EXPECT_EQ(code(directory->open_subdirectory("from")), ErrorCode::NotFound);
    EXPECT_TRUE(directory->open_subdirectory("to").value()->open("file").has_value());
    EXPECT_TRUE(directory->list_others().value().empty());
}

TEST_P(DirectorySuite, KeepsFilesAndDirectoriesApart) {
    ASSERT_TRUE(directory->create("file", to_bytes("x")).has_value());
    ASSERT_TRUE(directory->subdirectory("folder").has_value());
    EXPECT_EQ(code(directory->open("folder")), ErrorCode::NotFound);
    EXPECT_EQ(code(directory->create("folder", {})), ErrorCode::AlreadyExists);
    EXPECT_EQ(code(directory->replace("folder", {})), ErrorCode::AlreadyExists);
    EXPECT_EQ(code(directory->open_append("folder")), ErrorCode::AlreadyExists);
    EXPECT_EQ(code(directory->subdirectory("file")), ErrorCode::AlreadyExists);
    EXPECT_EQ(code(directory->open_subdirectory("file")), ErrorCode::NotFound);
    EXPECT_EQ(code(directory->remove_subdirectory("file")), ErrorCode::NotFound);
    EXPECT_EQ(content("file"), "x");
    EXPECT_EQ(directory->remove_leftovers().value(), 0U) << "refusals clean up after themselves";
}

TEST_P(DirectorySuite, LocksExcludeEachOtherWithinOneProcess) {
    auto held = directory->lock("lock");
    ASSERT_TRUE(held.has_value()) << why(held);
    const auto refused = directory->lock("lock");
    ASSERT_EQ(code(refused), ErrorCode::Locked);
    EXPECT_NE(refused.error().message.find("lock"), std::string::npos);
    EXPECT_EQ(code(directory->lock("other")), ErrorCode::Locked) << "a directory has one lock";
    EXPECT_TRUE(directory->subdirectory("below").value()->lock("lock").has_value());
    held->reset();
    EXPECT_TRUE(directory->lock("lock").has_value());
}

TEST_P(DirectorySuite, ALockWhoseFileIsRemovedOrReplacedLetsNobodyInAndSaysSo) {
    auto held = directory->lock("lock");
    ASSERT_TRUE(held.has_value()) << why(held);
    EXPECT_TRUE((*held)->verify().has_value());
    ASSERT_TRUE(directory->remove("lock").has_value());
    EXPECT_EQ(code((*held)->verify()), ErrorCode::ReadOnly);
    EXPECT_EQ(code(directory->lock("lock")), ErrorCode::Locked);
    ASSERT_TRUE(directory->replace("lock", {}).has_value());
    EXPECT_EQ(code((*held)->verify()), ErrorCode::ReadOnly) << "another file of that name";
    EXPECT_EQ(code(directory->lock("lock")), ErrorCode::Locked);
    held->reset();
    EXPECT_TRUE(directory->lock("lock").has_value());
}

TEST_P(DirectorySuite, AnAppendedFileKnowsWhenItIsNotTheOneOfItsName) {
    const auto file = directory->open_append("file").value();
    ASSERT_TRUE(file->append(to_bytes("ours")).has_value());
    EXPECT_TRUE(file->verify().has_value());
    {
        const auto other = directory->open_append("file").value();
        ASSERT_TRUE(other->append(to_bytes("theirs")).has_value());
    }
    EXPECT_EQ(code(file->verify()), ErrorCode::ReadOnly) << "someone else wrote to it";
    const auto again = directory->open_append("file").value();
    EXPECT_TRUE(again->verify().has_value());
    ASSERT_TRUE(directory->replace("file", to_bytes("ours")).has_value());
    EXPECT_EQ(code(again->verify()), ErrorCode::ReadOnly) << "another file has its name";
    ASSERT_TRUE(directory->remove("file").has_value());
    EXPECT_EQ(code(again->verify()), ErrorCode::ReadOnly) << "its name is gone";
}

TEST_P(DirectorySuite, ServesManyThreads) {
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20; ++i) {
                const std::string text = std::to_string(t) + "-" + std::to_string(i);
                EXPECT_TRUE(directory->create("own-" + text, to_bytes(text)).has_value());
                EXPECT_TRUE(directory->replace("shared", to_bytes(text)).has_value());
                EXPECT_FALSE(content("shared").empty());
                EXPECT_TRUE(directory->list().has_value());
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(directory->list().value().size(), kThreads * 20U + 1);
}

}  // namespace
}  // namespace braid::store
