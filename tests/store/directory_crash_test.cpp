#include <functional>

#include <gtest/gtest.h>

#include "store/faulty_directory.hpp"
#include "store/store_helpers.hpp"

namespace braid::store {
namespace {

using testing::Bytes;
using testing::CrashMode;
using testing::FaultKind;
using testing::FaultyDisk;
using testing::kCrashModes;
using testing::to_bytes;
using testing::to_text;

constexpr std::uint64_t kSeeds = 12;

/// The content of a file, or "(absent)".
std::string content(const Directory& directory, std::string_view name) {
    const auto view = directory.open(name);
    return view ? to_text((*view)->bytes()) : "(absent)";
}

/// Does `change` on a disk made by `prepare`, cutting the power at every operation of it in turn,
/// and passes every state the disk may then be in to `expect`, with whether `change` succeeded.
void crash_everywhere(const std::function<void(Directory&)>& prepare,
                      const std::function<Result<>(Directory&)>& change,
                      const std::function<void(Directory&, bool succeeded)>& expect) {
    for (std::uint64_t n = 1;; ++n) {
        FaultyDisk disk;
        const auto root = disk.root();
        prepare(*root);
        disk.plan().fail_at(n, FaultKind::Crash);
        const bool succeeded = change(*root).has_value();
        for (const CrashMode mode : kCrashModes) {
            for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
                SCOPED_TRACE(::testing::Message() << "crash at operation " << n << ", mode "
                                                  << static_cast<int>(mode) << ", seed " << seed);
                FaultyDisk left = disk.crash_state(seed, mode);
                const auto left_root = left.root();
                expect(*left_root, succeeded);
                ASSERT_TRUE(left_root->remove_leftovers().has_value());
                expect(*left_root, succeeded);
                if (::testing::Test::HasFailure()) return;
            }
        }
        if (!disk.plan().crashed()) {
            EXPECT_TRUE(succeeded);
            EXPECT_GT(n, 2U) << "something was enumerated";
            return;
        }
        EXPECT_FALSE(succeeded);
    }
}

Bytes large(char fill) {
    return Bytes(10'000, static_cast<std::byte>(fill));
}

TEST(DirectoryCrash, CreateIsAllOrNothingAndDurable) {
    crash_everywhere([](Directory&) {},
                     [](Directory& root) { return root.create("file", large('n')); },
                     [](Directory& root, bool succeeded) {
                         const std::string found = content(root, "file");
                         const bool whole = found == to_text(large('n'));
                         EXPECT_TRUE(whole || (!succeeded && found == "(absent)")) << found.size();
                     });
}

TEST(DirectoryCrash, ReplaceShowsTheOldOrTheNewNeverLess) {
    crash_everywhere(
        [](Directory& root) { ASSERT_TRUE(root.create("file", large('o')).has_value()); },
        [](Directory& root) { return root.replace("file", large('n')); },
        [](Directory& root, bool succeeded) {
            const std::string found = content(root, "file");
            const bool is_new = found == to_text(large('n'));
            EXPECT_TRUE(is_new || (!succeeded && found == to_text(large('o')))) << found.size();
        });
}

TEST(DirectoryCrash, RemoveIsDurable) {
    crash_everywhere(
        [](Directory& root) { ASSERT_TRUE(root.create("file", large('o')).has_value()); },
        [](Directory& root) { return root.remove("file"); },
        [](Directory& root, bool succeeded) {
            const std::string found = content(root, "file");
            EXPECT_TRUE(found == "(absent)" || (!succeeded && found == to_text(large('o'))));
        });
}

TEST(DirectoryCrash, ASubdirectoryIsDurableWithWhatIsCreatedInIt) {
    crash_everywhere([](Directory&) {},
                     [](Directory& root) -> Result<> {
                         BRAID_TRY(const auto folder, root.subdirectory("folder"));
                         return folder->create("file", large('n'));
                     },
                     [](Directory& root, bool succeeded) {
                         const auto folder = root.open_subdirectory("folder");
                         const std::string found = folder ? content(**folder, "file") : "(absent)";
                         const bool whole = found == to_text(large('n'));
                         EXPECT_TRUE(whole || (!succeeded && found == "(absent)"));
                     });
}

TEST(DirectoryCrash, RemovingASubdirectoryNeverLeavesHalfOfItUnderItsName) {
    crash_everywhere(
        [](Directory& root) {
            const auto folder = root.subdirectory("folder").value();
            for (const char* name : {"a", "b", "c"}) {
                ASSERT_TRUE(folder->create(name, large('o')).has_value());
            }
            const auto deep = folder->subdirectory("deep").value();
            ASSERT_TRUE(deep->create("d", large('o')).has_value());
        },
        [](Directory& root) { return root.remove_subdirectory("folder"); },
        [](Directory& root, bool succeeded) {
            const auto folder = root.open_subdirectory("folder");
            if (!folder) return;
            EXPECT_FALSE(succeeded);
            EXPECT_EQ((*folder)->list().value().size(), 4U);
            for (const char* name : {"a", "b", "c"}) {
                EXPECT_EQ(content(**folder, name), to_text(large('o')));
            }
            EXPECT_EQ(content(*(*folder)->open_subdirectory("deep").value(), "d"),
                      to_text(large('o')));
        });
}

TEST(DirectoryCrash, ARenamedDirectoryHasOneOfItsNamesAndIsWhole) {
    crash_everywhere(
        [](Directory& root) {
            const auto folder = root.subdirectory("from").value();
            ASSERT_TRUE(folder->create("file", large('o')).has_value());
        },
        [](Directory& root) { return root.rename_subdirectory("from", "to"); },
        [](Directory& root, bool succeeded) {
            const auto from = root.open_subdirectory("from");
            const auto to = root.open_subdirectory("to");
            ASSERT_NE(from.has_value(), to.has_value());
            EXPECT_TRUE(to || !succeeded);
            EXPECT_EQ(content(to ? **to : **from, "file"), to_text(large('o')));
        });
}

TEST(DirectoryCrash, WhatWasAppendedAndSyncedStays) {
    crash_everywhere([](Directory&) {},
                     [](Directory& root) -> Result<> {
                         BRAID_TRY(const auto file, root.open_append("log"));
                         BRAID_CHECK(file->append(large('1')));
                         BRAID_CHECK(file->append(large('2')));
                         return file->sync();
                     },
                     [](Directory& root, bool succeeded) {
                         if (!succeeded) return;
                         EXPECT_EQ(content(root, "log"), to_text(large('1')) + to_text(large('2')));
                     });
}

TEST(DirectoryCrash, ATruncationIsDurable) {
    crash_everywhere(
        [](Directory& root) {
            const auto file = root.open_append("log").value();
            ASSERT_TRUE(file->append(large('1')).has_value());
            ASSERT_TRUE(file->sync().has_value());
        },
        [](Directory& root) -> Result<> {
            BRAID_TRY(const auto file, root.open_append("log"));
            return file->truncate(4000);
        },
        [](Directory& root, bool succeeded) {
            const std::size_t size = content(root, "log").size();
            EXPECT_TRUE(size == 4000 || (!succeeded && size == 10'000)) << size;
        });
}

TEST(DirectoryCrash, AFileCreatedByADeadProcessBecomesDurableWithTheFirstSync) {
    FaultyDisk disk;
    const auto root = disk.root();
    {
        const auto file = root->open_append("log").value();
        ASSERT_TRUE(file->append(to_bytes("left behind")).has_value());
    }
    ASSERT_TRUE(root->open_append("log").value()->sync().has_value());
    FaultyDisk left = disk.crash_state(1, CrashMode::DropAll);
    EXPECT_EQ(content(*left.root(), "log"), "left behind");
}

TEST(DirectoryFaults, AnErrorAnywhereLeavesOldOrNewAndIsReported) {
    for (const FaultKind kind : {FaultKind::IoError, FaultKind::NoSpace, FaultKind::ShortWrite}) {
        for (std::uint64_t n = 1; n <= 12; ++n) {
            SCOPED_TRACE(::testing::Message() << "fault at " << n);
            FaultyDisk disk;
            const auto root = disk.root();
            ASSERT_TRUE(root->create("file", large('o')).has_value());
            disk.plan().fail_at(n, kind);
            const auto replaced = root->replace("file", large('n'));
            disk.plan().clear();
            const std::string found = content(*root, "file");
            if (replaced) {
                EXPECT_EQ(found, to_text(large('n')));
            } else {
                EXPECT_TRUE(found == to_text(large('n')) || found == to_text(large('o')));
                EXPECT_EQ(replaced.error().code,
                          kind == FaultKind::NoSpace ? ErrorCode::StorageFull : ErrorCode::IoError);
                EXPECT_NE(kind, FaultKind::ShortWrite) << "short writes are continued";
            }
            EXPECT_TRUE(root->replace("file", large('x')).has_value()) << "and it goes on";
            EXPECT_EQ(root->remove_leftovers().value(), 0U) << "nothing half-written stays";
        }
    }
}

TEST(FaultyDisk, KnowsWhatIsDurable) {
    FaultyDisk disk;
    const auto root = disk.root();
    const auto file = root->open_append("log").value();
    ASSERT_TRUE(file->append(large('1')).has_value());
    ASSERT_TRUE(file->sync().has_value());
    ASSERT_TRUE(file->append(large('2')).has_value());

    const auto left = [&](CrashMode mode, std::uint64_t seed) {
        FaultyDisk state = disk.crash_state(seed, mode);
        return content(*state.root(), "log");
    };
    EXPECT_EQ(left(CrashMode::DropAll, 0).size(), 10'000U);
    EXPECT_EQ(left(CrashMode::KeepAll, 0).size(), 20'000U);
    bool torn = false;
    bool reordered = false;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const std::string prefix = left(CrashMode::TornPrefix, seed);
        ASSERT_GE(prefix.size(), 10'000U);
        torn = torn || (prefix.size() > 10'000U && prefix.size() < 20'000U);
        for (const CrashMode mode : {CrashMode::Reordered512, CrashMode::Reordered4096}) {
            const std::string mixed = left(mode, seed);
            ASSERT_EQ(mixed.substr(0, 10'000), to_text(large('1'))) << "synced bytes stay";
            const std::size_t hole = mixed.find('\0');
            reordered = reordered ||
                        (hole != std::string::npos && mixed.find('2', hole) != std::string::npos);
        }
        ASSERT_EQ(left(CrashMode::Reordered512, seed), left(CrashMode::Reordered512, seed));
    }
    EXPECT_TRUE(torn);
    EXPECT_TRUE(reordered);
}

}  // namespace
}  // namespace braid::store
