#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "braid/store/append_log.hpp"
#include "store/faulty_directory.hpp"
#include "store/store_helpers.hpp"

namespace braid::store {
namespace {

using testing::Bytes;
using testing::FaultKind;
using testing::FaultyDisk;
using testing::kCrashModes;
using testing::replay;
using testing::Replayed;
using testing::to_bytes;
using testing::to_text;
using testing::why;

constexpr int kThreads = 16;
constexpr int kPerThread = 25;
constexpr std::uint64_t kAppends = std::uint64_t{kThreads} * kPerThread;

/// Runs `body(thread, i)` on many threads, until it returns false.
template <class Body>
void on_threads(int per_thread, const Body& body) {
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < per_thread && body(t, i); ++i) {
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

std::string text_of(int thread, int i) {
    return std::to_string(thread) + "/" + std::to_string(i) +
           std::string(static_cast<std::size_t>(i % 7) * 40, '.');
}

TEST(LogConcurrency, ConcurrentAppendsShareSyncsAndAreAppliedInOrder) {
    FaultyDisk disk;
    disk.plan().set_sync_delay(std::chrono::milliseconds(2));
    const auto root = disk.root();
    Replayed log = replay(*root);
    ASSERT_TRUE(log.opened.has_value()) << why(log.opened);
    const std::uint64_t syncs_before = disk.plan().file_syncs();

    std::vector<std::uint64_t> applied;  // guarded by the log: on_durable runs one at a time
    std::mutex mutex;
    std::map<std::uint64_t, std::string> acknowledged;
    on_threads(kPerThread, [&](int thread, int i) {
        bool mine_applied = false;
        const std::string text = text_of(thread, i);
        const auto sequence = log.opened->log->append(to_bytes(text), [&](std::uint64_t n) {
            applied.push_back(n);
            mine_applied = true;
        });
        EXPECT_TRUE(sequence.has_value()) << why(sequence);
        EXPECT_TRUE(mine_applied);
        const std::scoped_lock lock(mutex);
        EXPECT_TRUE(acknowledged.emplace(sequence.value_or(0), text).second);
        return true;
    });

    EXPECT_LT(disk.plan().file_syncs() - syncs_before, kAppends / 2) << "syncs were not shared";
    ASSERT_EQ(applied.size(), kAppends);
    for (std::uint64_t i = 0; i < kAppends; ++i) ASSERT_EQ(applied[i], i + 1);

    FaultyDisk left = disk.crash_state(0, testing::CrashMode::DropAll);
    const Replayed replayed = replay(*left.root());
    ASSERT_EQ(replayed.records.size(), kAppends);
    for (std::uint64_t i = 0; i < kAppends; ++i) {
        ASSERT_EQ(to_text(replayed.records[i]), acknowledged[i + 1]);
    }
}

/// Appends from many threads until something goes wrong, then compares every state a power cut may
/// leave with what the threads were told.
void fail_in_the_middle(std::uint64_t n, FaultKind kind) {
    SCOPED_TRACE(::testing::Message()
                 << "fault " << static_cast<int>(kind) << " at operation " << n);
    FaultyDisk disk;
    const auto root = disk.root();
    Replayed log = replay(*root);
    ASSERT_TRUE(log.opened.has_value()) << why(log.opened);
    disk.plan().set_sync_delay(std::chrono::microseconds(200));
    disk.plan().fail_at(n, kind);
    std::mutex mutex;
    std::map<std::uint64_t, std::string> acknowledged;
    std::atomic<int> refused{0};
    on_threads(10, [&](int thread, int i) {
        const std::string text = text_of(thread, i);
        const auto sequence = log.opened->log->append(to_bytes(text));
        if (!sequence) {
            ++refused;
            return false;
        }
        const std::scoped_lock lock(mutex);
        EXPECT_TRUE(acknowledged.emplace(*sequence, text).second);
        return true;
    });
    // The first two are the log's own write and sync. A later one may be of the mark of its length,
    // and what cannot be noted there is nobody's error: all or none are told.
    const bool struck = n <= 2 || refused.load() > 0;
    if (!struck) {
        EXPECT_FALSE(log.opened->log->failure().has_value());
        EXPECT_EQ(acknowledged.size(), std::size_t{kThreads} * 10);
    } else if (kind == FaultKind::NoSpace) {  // the others go on once there is space
        EXPECT_GE(refused.load(), 1);
    } else {
        EXPECT_EQ(refused.load(), kThreads) << "no thread hangs or goes on";
    }
    for (const testing::CrashMode mode : kCrashModes) {
        FaultyDisk left = disk.crash_state(n, mode);
        const Replayed replayed = replay(*left.root());
        ASSERT_TRUE(replayed.opened.has_value()) << why(replayed.opened);
        std::set<std::string> seen;
        for (const Bytes& record : replayed.records) {
            ASSERT_TRUE(seen.insert(to_text(record)).second) << "twice in the log";
        }
        for (const auto& [sequence, text] : acknowledged) {
            ASSERT_LE(sequence, replayed.records.size()) << "acknowledged, and gone";
            ASSERT_EQ(to_text(replayed.records[sequence - 1]), text);
        }
    }
}

TEST(LogConcurrency, ACrashDuringGroupCommitLosesNothingAcknowledged) {
    for (std::uint64_t n = 1; n <= 14; ++n) fail_in_the_middle(n, FaultKind::Crash);
}

TEST(LogConcurrency, AnErrorDuringGroupCommitReachesEveryCaller) {
    // Odd operations are writes, even ones syncs.
    for (std::uint64_t n = 1; n <= 8; ++n) fail_in_the_middle(n, FaultKind::IoError);
    for (std::uint64_t n = 1; n <= 8; n += 2) fail_in_the_middle(n, FaultKind::NoSpace);
}

TEST(LogConcurrency, TheTimerSyncsARelaxedLog) {
    FaultyDisk disk;
    const auto root = disk.root();
    AppendLogOptions options;
    options.durability = Durability::relaxed(std::chrono::milliseconds(1));
    Replayed log = replay(*root, "log", options);
    ASSERT_TRUE(log.opened.has_value()) << why(log.opened);
    for (std::size_t round = 1; round <= 3; ++round) {
        ASSERT_TRUE(log.opened->log->append(to_bytes("x")).has_value());
        while (true) {  // ends with the test's own time limit if the timer never comes
            FaultyDisk left = disk.crash_state(0, testing::CrashMode::DropAll);
            if (replay(*left.root()).records.size() == round) break;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
}

TEST(LogConcurrency, AFailedSyncOfTheTimerStopsTheLog) {
    FaultyDisk disk;
    const auto root = disk.root();
    AppendLogOptions options;
    options.durability = Durability::relaxed(std::chrono::milliseconds(1));
    Replayed log = replay(*root, "log", options);
    ASSERT_TRUE(log.opened.has_value()) << why(log.opened);
    disk.plan().fail_sync_at(1);
    (void)log.opened->log->append(to_bytes("x"));
    while (!log.opened->log->failure()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto refused = log.opened->log->append(to_bytes("y"));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::ReadOnly);
    EXPECT_FALSE(log.opened->log->flush().has_value());
}

TEST(LogConcurrency, RelaxedAppendsFlushesAndReadersMix) {
    FaultyDisk disk;
    const auto root = disk.root();
    AppendLogOptions options;
    options.durability = Durability::relaxed(std::chrono::milliseconds(1));
    {
        Replayed log = replay(*root, "log", options);
        ASSERT_TRUE(log.opened.has_value()) << why(log.opened);
        AppendLogOptions read_only;
        read_only.read_only = true;
        on_threads(30, [&](int thread, int i) {
            if (thread == 0) {
                EXPECT_TRUE(log.opened->log->flush().has_value());
            } else if (thread == 1) {
                EXPECT_TRUE(replay(*root, "log", read_only).opened.has_value());
                EXPECT_GE(log.opened->log->next_sequence(), 1U);
                EXPECT_GE(log.opened->log->size_bytes(), 40U);
            } else {
                EXPECT_TRUE(log.opened->log->append(to_bytes(text_of(thread, i))).has_value());
            }
            return true;
        });
    }
    EXPECT_EQ(replay(*root).records.size(), (kThreads - 2) * 30U);
}

TEST(LogConcurrency, ClosingWaitsForAppendsAndRefusesLaterOnes) {
    for (int round = 0; round < 20; ++round) {
        FaultyDisk disk;
        const auto root = disk.root();
        Replayed log = replay(*root);
        ASSERT_TRUE(log.opened.has_value()) << why(log.opened);
        std::atomic<std::uint64_t> acknowledged{0};
        disk.plan().set_sync_delay(std::chrono::microseconds(100));
        std::thread closer([&] {
            while (acknowledged.load() < 10) std::this_thread::yield();
            EXPECT_TRUE(log.opened->log->close().has_value());
        });
        on_threads(20, [&](int thread, int i) {
            const auto sequence = log.opened->log->append(to_bytes(text_of(thread, i)));
            if (sequence)
                ++acknowledged;
            else
                EXPECT_EQ(sequence.error().code, ErrorCode::ReadOnly);
            return sequence.has_value();
        });
        closer.join();
        FaultyDisk left = disk.crash_state(0, testing::CrashMode::DropAll);
        EXPECT_EQ(replay(*left.root()).records.size(), acknowledged.load());
    }
}

TEST(LogConcurrency, GroupCommitWorksOnARealDisk) {
    const testing::TemporaryDirectory temporary;
    const auto directory = temporary.open();
    Replayed log = replay(*directory);
    ASSERT_TRUE(log.opened.has_value()) << why(log.opened);
    on_threads(20, [&](int thread, int i) {
        EXPECT_TRUE(log.opened->log->append(to_bytes(text_of(thread, i))).has_value());
        return true;
    });
    std::set<std::string> seen;
    for (const Bytes& record : replay(*directory).records) seen.insert(to_text(record));
    EXPECT_EQ(seen.size(), kThreads * 20U);
}

}  // namespace
}  // namespace braid::store
