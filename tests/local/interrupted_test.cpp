// Calls of the system that a signal interrupts, and reads and writes that stop short: none of it is
// an error, and nothing is lost.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/dump.hpp"
#include "backend/helpers.hpp"
#include "braid/local/backend.hpp"
#include "braid/store/posix_directory.hpp"
#include "core/temporary_folder.hpp"
#include "local/database_in_memory.hpp"

namespace {

std::atomic<bool> interrupting = false;
std::atomic<std::uint64_t> interruptions = 0;

/// Every other call of a thread.
bool is_interrupted() {
    thread_local bool again = false;
    if (!interrupting) return false;
    again = !again;
    if (!again) return false;
    ++interruptions;
    errno = EINTR;
    return true;
}

std::size_t some_of(std::size_t bytes) {
    thread_local std::size_t calls = 0;
    if (!interrupting || bytes <= 1) return bytes;
    return std::min(bytes, 1 + ++calls * 7919 % 5000);
}

}  // namespace

// In place of the system's, which they call.
extern "C" ssize_t write(int file, const void* bytes, std::size_t count) {
    return is_interrupted() ? -1 : ::syscall(SYS_write, file, bytes, some_of(count));
}
extern "C" ssize_t pread(int file, void* bytes, std::size_t count, off_t from) {
    return is_interrupted() ? -1 : ::syscall(SYS_pread64, file, bytes, some_of(count), from);
}
extern "C" int fdatasync(int file) {
    return is_interrupted() ? -1 : static_cast<int>(::syscall(SYS_fdatasync, file));
}
extern "C" int fsync(int file) {
    return is_interrupted() ? -1 : static_cast<int>(::syscall(SYS_fsync, file));
}
extern "C" int ftruncate(int file, off_t size) noexcept {
    return is_interrupted() ? -1 : static_cast<int>(::syscall(SYS_ftruncate, file, size));
}

namespace braid::testing {
namespace {

class Interrupting {
public:
    Interrupting() { interrupting = true; }
    Interrupting(const Interrupting&) = delete;
    Interrupting& operator=(const Interrupting&) = delete;
    Interrupting(Interrupting&&) = delete;
    Interrupting& operator=(Interrupting&&) = delete;
    ~Interrupting() { interrupting = false; }
};

local::LocalOptions flushes_beside_signals() {
    local::LocalOptions options;
    options.flush_rows = 8;
    options.flush_on_close_rows = 4;
    options.compaction.background = false;
    return options;
}

void change_beside_signals(Backend& backend) {
    auto& local = dynamic_cast<local::LocalBackend&>(backend);
    must(backend.create_collection("c", vectors_schema(2)));
    for (int i = 0; i < 200; ++i) {
        Chunk chunk = make_chunk("chunk " + std::to_string(i % 90),
                                 "red fox " + std::to_string(i) + std::string(300, 'x'),
                                 {1, static_cast<float>(i)});
        chunk.metadata = {{"year", i % 9}};
        must(backend.upsert("c", "default", {chunk}, {}));
        if (i % 10 == 9) {
            must(backend.remove(scope_of("c"), by_ids({"chunk " + std::to_string(i % 50)}), {}));
        }
        local.run_due_compactions();
    }
    compact_whole(backend, "c");
}

std::string seen_beside_signals(const Backend& backend) {
    DumpPlan plan;
    plan.collection = "c";
    plan.queries = {"red fox 150"};
    plan.vectors = {{1, 4}};
    plan.facet_fields = {"year"};
    plan.versions = DumpPlan::Versions::Named;
    return dump(snapshot_of(backend, "c"), {}, plan);
}

TEST(Interrupted, CallsAreRepeatedAndShortOnesGoneOnWith) {
    const DatabaseInMemory undisturbed;
    const auto expected = undisturbed.open(flushes_beside_signals());
    change_beside_signals(*expected);

    const TemporaryFolder folder;
    const Interrupting signals;
    const auto open = [&] {
        auto opened = must(local::open_local_backend(
            must(store::open_posix_directory(folder / "db", store::OpenMode::CreateIfMissing)),
            flushes_beside_signals()));
        EXPECT_EQ(opened.notes, std::vector<std::string>());
        return std::move(opened.backend);
    };
    auto backend = open();
    change_beside_signals(*backend);
    EXPECT_EQ(seen_beside_signals(*backend), seen_beside_signals(*expected));
    EXPECT_TRUE(must(backend->backup(folder / "copy", {})).clean());
    backend = nullptr;
    backend = open();
    EXPECT_EQ(seen_beside_signals(*backend), seen_beside_signals(*expected));
    EXPECT_TRUE(must(backend->check({})).clean());
    EXPECT_GT(interruptions, 1000U);
}

}  // namespace
}  // namespace braid::testing
