// Writers that wait for the disk together share its syncs: of files in memory that take their time,
// and of real ones. Here some writes each, in the program group_commit 20,000.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/helpers.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/store/posix_directory.hpp"
#include "core/temporary_folder.hpp"
#include "store/faulty_directory.hpp"

#ifndef BRAID_WRITES_EACH
#define BRAID_WRITES_EACH 313
#endif

namespace {

std::atomic<std::uint64_t> real_syncs = 0;

}  // namespace

// In place of the system's, which they call: every sync of this process is counted.
extern "C" int fdatasync(int file) {
    ++real_syncs;
    return static_cast<int>(::syscall(SYS_fdatasync, file));
}
extern "C" int fsync(int file) {
    ++real_syncs;
    return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace braid::testing {
namespace {

using store::testing::CrashMode;
using store::testing::FaultyDisk;

constexpr int kWriters = 64;

std::uint64_t count_of(const Backend& backend) {
    const std::vector<std::string> names{"c"};
    return must(must(backend.snapshot(names, {}))->count(scope_of("c")));
}

/// Writers of one chunk at a time; returns how many acknowledgements they got.
std::uint64_t write_beside_each_other(Backend& backend, int writers, int writes) {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(writers));
    for (int writer = 0; writer < writers; ++writer) {
        threads.emplace_back([&, writer] {
            for (int i = 0; i < writes; ++i) {
                const std::string id = std::to_string(writer) + "-" + std::to_string(i);
                must(backend.upsert("c", "default", {make_chunk(id, "all " + id, {1, 1})}, {}));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    return static_cast<std::uint64_t>(writers) * static_cast<std::uint64_t>(writes);
}

/// How many syncs of files writers took together whose syncs take so long.
std::uint64_t syncs_of(int writers, int writes, std::chrono::microseconds delay) {
    FaultyDisk disk;
    const auto backend = std::move(must(local::open_local_backend(disk.root(), {})).backend);
    must(backend->create_collection("c", vectors_schema(2)));
    disk.plan().set_sync_delay(delay);
    const std::uint64_t before = disk.plan().file_syncs();
    const std::uint64_t all = write_beside_each_other(*backend, writers, writes);
    const std::uint64_t syncs = disk.plan().file_syncs() - before;
    EXPECT_EQ(count_of(*backend), all);
    FaultyDisk after = disk.crash_state(1, CrashMode::DropAll);
    const auto reopened = must(local::open_local_backend(after.root(), {}));
    EXPECT_EQ(reopened.notes, std::vector<std::string>());
    EXPECT_EQ(count_of(*reopened.backend), all);
    return syncs;
}

TEST(GroupCommit, ManyWritersShareSyncs) {
    EXPECT_LT(syncs_of(8, 8, std::chrono::milliseconds(5)), 64U);
}

/// A sync takes so long that whoever is woken by one has long written again when the next begins.
TEST(GroupCommit, SixtyFourWritersShareEachSyncAmongEightAtLeast) {
    constexpr int writes = 313;  // 20,032 in all
    const std::uint64_t syncs = syncs_of(kWriters, writes, std::chrono::milliseconds(4));
    std::cout << syncs << " syncs for " << kWriters * writes << " acknowledgements\n";
    EXPECT_LE(syncs, kWriters * writes / 8U);
}

/// Flushes and merges included.
TEST(GroupCommit, SixtyFourWritersShareTheSyncsOfARealDisk) {
    const TemporaryFolder folder;
    auto opened = must(local::open_local_backend(
        must(store::open_posix_directory(folder / "db", store::OpenMode::CreateIfMissing)), {}));
    must(opened.backend->create_collection("c", vectors_schema(2)));
    const std::uint64_t before = real_syncs;
    const std::uint64_t all = write_beside_each_other(*opened.backend, kWriters, BRAID_WRITES_EACH);
    const std::uint64_t syncs = real_syncs - before;
    std::cout << syncs << " syncs for " << all << " acknowledgements\n";
    EXPECT_EQ(count_of(*opened.backend), all);
    EXPECT_LE(syncs, all / 8);
}

}  // namespace
}  // namespace braid::testing
