#include <algorithm>

#include <gtest/gtest.h>

#include "braid/store/append_log.hpp"
#include "braid/store/log_check.hpp"
#include "store/faulty_directory.hpp"
#include "store/store_helpers.hpp"

namespace braid::store {
namespace {

using testing::Bytes;
using testing::CrashMode;
using testing::FaultKind;
using testing::FaultyDisk;
using testing::is_prefix;
using testing::kCrashModes;
using testing::replay;
using testing::Replayed;
using testing::to_bytes;
using testing::why;

/// What a session has been told, and what it has tried: the log must hold at least the former and
/// at most the latter, in this order.
struct Model {
    std::vector<Bytes> sent;
    std::size_t acknowledged = 0;  // the first so many of `sent`
};

void expect_legal(const Replayed& replayed, const Model& model) {
    ASSERT_TRUE(replayed.opened.has_value()) << why(replayed.opened);
    EXPECT_TRUE(is_prefix(replayed.records, model.sent)) << "something never sent came back";
    EXPECT_GE(replayed.records.size(), model.acknowledged) << "an acknowledged record is gone";
    EXPECT_EQ(replayed.opened->report.next_sequence, replayed.records.size() + 1);
}

/// Opens the log and appends records of the given sizes; stops at the first error. What an open
/// replays counts as acknowledged from then on: the session builds on it.
void session(Directory& directory, const AppendLogOptions& options,
             const std::vector<std::size_t>& sizes, std::mt19937_64& rng, Model& model) {
    Replayed replayed = replay(directory, "log", options);
    if (!replayed.opened) return;
    expect_legal(replayed, model);
    model.sent = replayed.records;
    model.acknowledged = model.sent.size();
    for (const std::size_t size : sizes) {
        model.sent.push_back(testing::random_bytes(rng, size));
        const auto sequence = replayed.opened->log->append(model.sent.back());
        if (!sequence) return;
        EXPECT_EQ(*sequence, model.sent.size());
        if (options.durability.is_full()) model.acknowledged = model.sent.size();
    }
    if (replayed.opened->log->close()) model.acknowledged = model.sent.size();
}

void workload(FaultyDisk& disk, const AppendLogOptions& options, Model& model) {
    std::mt19937_64 rng(7);
    const auto root = disk.root();
    session(*root, options, {}, rng, model);
    session(*root, options, {3, 0, 600, 5000}, rng, model);
    session(*root, options, {100, 10'000}, rng, model);
    session(*root, options, {1, 511, 4096}, rng, model);
}

std::uint64_t operations_of_workload(const AppendLogOptions& options) {
    FaultyDisk disk;
    Model model;
    workload(disk, options, model);
    EXPECT_EQ(model.acknowledged, 9U);
    return disk.plan().operations();
}

/// Every state that a power cut may leave opens, is legal, and takes another record that stays.
void expect_recovery(const FaultyDisk& disk, const Model& model, std::uint64_t seeds) {
    for (const CrashMode mode : kCrashModes) {
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            SCOPED_TRACE(::testing::Message()
                         << "mode " << static_cast<int>(mode) << ", seed " << seed);
            FaultyDisk left = disk.crash_state(seed, mode);
            const auto root = left.root();
            Replayed replayed = replay(*root);
            expect_legal(replayed, model);
            if (::testing::Test::HasFailure()) return;
            auto expected = replayed.records;
            expected.push_back(to_bytes("after the crash"));
            ASSERT_TRUE(replayed.opened->log->append(expected.back()).has_value());
            const FaultyDisk again = left.crash_state(seed, CrashMode::DropAll);
            FaultyDisk copy = again;
            ASSERT_EQ(replay(*copy.root()).records, expected);
            const auto check = check_log(*root, "log");
            ASSERT_TRUE(check.has_value() && check->problems.empty());
        }
    }
}

TEST(LogCrash, EveryAcknowledgedRecordSurvivesACrashAtAnyOperation) {
    const std::uint64_t operations = operations_of_workload({});
    for (std::uint64_t n = 1; n <= operations; ++n) {
        SCOPED_TRACE(::testing::Message() << "crash at operation " << n << " of " << operations);
        FaultyDisk disk;
        disk.plan().fail_at(n, FaultKind::Crash);
        Model model;
        workload(disk, {}, model);
        ASSERT_TRUE(disk.plan().crashed());
        expect_recovery(disk, model, 8);
        if (HasFailure()) return;
    }
}

// Longer payloads are written from where the caller has them, not from the buffer.
TEST(LogCrash, LongRecordsSurviveToo) {
    for (std::uint64_t n = 1; n <= 20; ++n) {
        SCOPED_TRACE(::testing::Message() << "crash at operation " << n);
        FaultyDisk disk;
        disk.plan().fail_at(n, FaultKind::Crash);
        Model model;
        std::mt19937_64 rng(n);
        session(*disk.root(), {}, {300'000, 5, 270'000}, rng, model);
        expect_recovery(disk, model, 2);
        if (HasFailure()) return;
    }
}

TEST(LogCrash, ARelaxedLogLosesOnlyTheNewestAndNothingFlushed) {
    AppendLogOptions options;
    options.durability = Durability::relaxed(std::chrono::hours(1));
    const std::uint64_t operations = operations_of_workload(options);
    for (std::uint64_t n = 1; n <= operations; ++n) {
        SCOPED_TRACE(::testing::Message() << "crash at operation " << n << " of " << operations);
        FaultyDisk disk;
        disk.plan().fail_at(n, FaultKind::Crash);
        Model model;
        workload(disk, options, model);
        expect_recovery(disk, model, 8);
        if (HasFailure()) return;
    }
}

TEST(LogCrash, ACrashDuringRecoveryLosesNothingEither) {
    const std::uint64_t operations = operations_of_workload({});
    for (std::uint64_t n = 1; n <= operations; ++n) {
        FaultyDisk disk;
        disk.plan().fail_at(n, FaultKind::Crash);
        Model model;
        workload(disk, {}, model);
        for (std::uint64_t m = 1; m <= 8; ++m) {
            SCOPED_TRACE(::testing::Message() << "crashes at operation " << n << ", then " << m);
            const CrashMode mode = kCrashModes[(n + m) % std::size(kCrashModes)];
            FaultyDisk left = disk.crash_state(n * 100 + m, mode);
            left.plan().fail_at(m, FaultKind::Crash);
            (void)replay(*left.root());
            expect_recovery(left, model, 2);
            if (HasFailure()) return;
        }
    }
}

TEST(LogFaults, AnErrorAtAnyOperationLosesNothingAcknowledged) {
    const std::uint64_t operations = operations_of_workload({});
    for (const FaultKind kind : {FaultKind::IoError, FaultKind::NoSpace, FaultKind::ShortWrite}) {
        for (std::uint64_t n = 1; n <= operations; ++n) {
            SCOPED_TRACE(::testing::Message()
                         << "fault " << static_cast<int>(kind) << " at operation " << n);
            FaultyDisk disk;
            disk.plan().fail_at(n, kind);
            Model model;
            workload(disk, {}, model);  // goes on after the fault, with the next session
            expect_recovery(disk, model, 3);
            if (HasFailure()) return;
        }
    }
}

TEST(LogFaults, AFailedSyncAnywhereLosesNothingAcknowledged) {
    for (std::uint64_t n = 1; n <= 24; ++n) {
        SCOPED_TRACE(::testing::Message() << "sync " << n << " fails");
        FaultyDisk disk;
        disk.plan().fail_sync_at(n);
        Model model;
        workload(disk, {}, model);
        expect_recovery(disk, model, 5);
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace braid::store
