#include <string>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/store/memory_directory.hpp"
#include "local/copy_database.hpp"
#include "recovery/workload.hpp"
#include "store/faulty_directory.hpp"

namespace braid::testing {
namespace {

using store::testing::CrashMode;
using store::testing::FaultKind;
using store::testing::FaultyDisk;

/// A database in memory, copied to disks that fail.
class CopyCrash : public ::testing::Test {
protected:
    CopyCrash() {
        for (const Step& step : workload()) must(step.run(*source));
        state = state_of(*source);
    }

    bool copy_to(FaultyDisk& disk) const {
        return copy_database(*source, *disk.root(), {}).has_value();
    }

    /// What is on the disk is the whole database, or none: not even an empty one.
    void expect_all_or_nothing(FaultyDisk& disk, bool copied) const {
        const auto opened = local::open_local_backend(disk.root(), {.read_only = true});
        if (!opened) {
            ASSERT_FALSE(copied) << opened.error().message;
            if (opened.error().code == ErrorCode::NotFound) return;
            expect_error(opened, ErrorCode::Corruption, "not finished");
            return;
        }
        const std::string found = state_of(*opened->backend);
        if (found.empty()) {
            ASSERT_FALSE(copied) << "the copy is gone";
            ASSERT_TRUE(must(disk.root()->list()).empty()) << "nothing that anybody has made";
            return;
        }
        ASSERT_EQ(found, state);
        EXPECT_TRUE(must(opened->backend->check({})).clean());
    }
    /// Done again, it is whole.
    void expect_done_again(FaultyDisk& disk) const {
        const auto opened = local::open_local_backend(disk.root(), {.read_only = true});
        if (opened && !state_of(*opened->backend).empty()) return;
        ASSERT_TRUE(copy_to(disk));
        expect_all_or_nothing(disk, true);
    }

    std::unique_ptr<Backend> source =
        std::move(must(local::open_local_backend(store::make_memory_directory(), {})).backend);
    std::string state;
};

TEST_F(CopyCrash, AtEveryOperationLeavesAWholeCopyOrNone) {
    bool crashed = true;
    for (std::uint64_t at = 1; crashed; ++at) {
        FaultyDisk disk;
        disk.plan().fail_at(at, FaultKind::Crash);
        const bool copied = copy_to(disk);
        crashed = disk.plan().crashed();
        for (const CrashMode mode : store::testing::kCrashModes) {
            for (std::uint64_t seed = 0; seed < 4; ++seed) {
                SCOPED_TRACE(::testing::Message() << "operation " << at << ", mode "
                                                  << static_cast<int>(mode) << ", seed " << seed);
                FaultyDisk after = disk.crash_state(seed, mode);
                expect_all_or_nothing(after, copied);
                expect_done_again(after);
                if (::testing::Test::HasFatalFailure()) return;
            }
        }
    }
}

TEST_F(CopyCrash, AnErrorAtEveryOperationIsReported) {
    for (const FaultKind kind : {FaultKind::IoError, FaultKind::NoSpace, FaultKind::ShortWrite}) {
        FaultyDisk counting;
        ASSERT_TRUE(copy_to(counting));
        for (std::uint64_t at = 1; at <= counting.plan().operations(); ++at) {
            SCOPED_TRACE(::testing::Message()
                         << "operation " << at << ", kind " << static_cast<int>(kind));
            FaultyDisk disk;
            disk.plan().fail_at(at, kind);
            const bool copied = copy_to(disk);
            disk.plan().clear();
            expect_all_or_nothing(disk, copied);
            FaultyDisk after = disk.crash_state(at, CrashMode::DropAll);
            expect_all_or_nothing(after, copied);
            expect_done_again(after);
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
}

}  // namespace
}  // namespace braid::testing
