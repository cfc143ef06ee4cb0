#include "braid/store/append_log.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "braid/store/checksum.hpp"
#include "braid/store/log_check.hpp"
#include "braid/store/log_format.hpp"
#include "braid/store/memory_directory.hpp"
#include "store/every_directory.hpp"
#include "store/faulty_directory.hpp"
#include "store/store_helpers.hpp"

namespace braid::store {
namespace {

using testing::Bytes;
using testing::FaultKind;
using testing::FaultyDisk;
using testing::random_bytes;
using testing::replay;
using testing::to_bytes;
using testing::why;

class AppendLogSuite : public testing::EveryDirectory {};

INSTANTIATE_TEST_SUITE_P(Everywhere, AppendLogSuite, ::testing::Values("posix", "memory", "faulty"),
                         [](const auto& tested) { return tested.param; });

TEST_P(AppendLogSuite, ReplaysWhatWasAppendedInOrder) {
    std::mt19937_64 rng(1);
    const std::vector<Bytes> sent = {to_bytes("one"),
                                     {},
                                     random_bytes(rng, 1),
                                     random_bytes(rng, 70'000),
                                     random_bytes(rng, 3'000'000),
                                     to_bytes("six")};
    {
        const auto [opened, records] = replay(*directory);
        ASSERT_TRUE(opened.has_value()) << why(opened);
        EXPECT_TRUE(opened->report.created);
        EXPECT_TRUE(records.empty());
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(opened->log->append(sent[i]).value(), i + 1);
        }
    }
    {
        const auto [opened, records] = replay(*directory);
        ASSERT_TRUE(opened.has_value()) << why(opened);
        EXPECT_FALSE(opened->report.created);
        EXPECT_EQ(records, std::vector<Bytes>(sent.begin(), sent.begin() + 4));
        EXPECT_EQ(opened->log->next_sequence(), 5U);
        EXPECT_EQ(opened->log->append(sent[4]).value(), 5U);
        EXPECT_EQ(opened->log->append(sent[5]).value(), 6U);
    }
    const auto [opened, records] = replay(*directory);
    ASSERT_TRUE(opened.has_value()) << why(opened);
    EXPECT_EQ(records, sent);
    EXPECT_EQ(opened->report.records, 6U);
    EXPECT_EQ(opened->report.next_sequence, 7U);
    EXPECT_EQ(opened->report.cut_bytes, 0U);
    EXPECT_EQ(opened->log->size_bytes(), (*directory->open("log"))->bytes().size());

    const auto check = check_log(*directory, "log");
    ASSERT_TRUE(check.has_value()) << why(check);
    EXPECT_EQ(check->records, 6U);
    EXPECT_TRUE(check->problems.empty());
}

TEST_P(AppendLogSuite, ReadOnlyCreatesAndChangesNothing) {
    AppendLogOptions read_only;
    read_only.read_only = true;
    const auto absent = replay(*directory, "log", read_only);
    ASSERT_FALSE(absent.opened.has_value());
    EXPECT_EQ(absent.opened.error().code, ErrorCode::NotFound);
    EXPECT_TRUE(directory->list().value().empty());

    ASSERT_TRUE(replay(*directory).opened->log->append(to_bytes("a")).has_value());
    ASSERT_TRUE(directory->open_append("log").value()->append(to_bytes("torn")).has_value());
    const auto before = directory->list().value();
    const auto [opened, records] = replay(*directory, "log", read_only);
    ASSERT_TRUE(opened.has_value()) << why(opened);
    EXPECT_EQ(records, std::vector<Bytes>{to_bytes("a")});
    EXPECT_EQ(opened->report.cut_bytes, 4U);
    const auto refused = opened->log->append(to_bytes("b"));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::ReadOnly);
    EXPECT_TRUE(opened->log->flush().has_value());
    EXPECT_TRUE(opened->log->close().has_value());
    EXPECT_EQ(directory->list().value(), before);
}

TEST_P(AppendLogSuite, CutsATornTailAndSaysSo) {
    ASSERT_TRUE(replay(*directory).opened->log->append(to_bytes("kept")).has_value());
    const std::uint64_t size = (*directory->open("log"))->bytes().size();
    ASSERT_TRUE(directory->open_append("log").value()->append(Bytes(100)).has_value());
    {
        const auto [opened, records] = replay(*directory);
        ASSERT_TRUE(opened.has_value()) << why(opened);
        EXPECT_EQ(opened->report.cut_bytes, 100U);
        EXPECT_EQ(opened->report.cut_offset, size);
        EXPECT_TRUE(opened->report.kept.starts_with("cut-log-")) << opened->report.kept;
        EXPECT_TRUE(
            std::ranges::equal((*directory->open(opened->report.kept))->bytes(), Bytes(100)));
        EXPECT_EQ((*directory->open("log"))->bytes().size(), size);
        EXPECT_EQ(opened->log->append(to_bytes("next")).value(), 2U);
    }
    EXPECT_EQ(replay(*directory).records, (std::vector<Bytes>{to_bytes("kept"), to_bytes("next")}));
}

TEST_P(AppendLogSuite, EveryTornTailIsKeptUnderANameOfItsOwn) {
    std::set<std::string> kept;
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(replay(*directory).opened->log->append(to_bytes("kept")).has_value());
        ASSERT_TRUE(directory->open_append("log").value()->append(Bytes(7)).has_value());
        kept.insert(replay(*directory).opened->report.kept);
    }
    EXPECT_EQ(kept.size(), 5U);
    EXPECT_EQ(replay(*directory).records.size(), 5U);
}

TEST_P(AppendLogSuite, ALogThatSomeoneElseChangedTakesNoMoreRecords) {
    const auto append_after = [&](const std::function<void()>& change) {
        const auto opened = replay(*directory).opened;
        EXPECT_TRUE(opened->log->append(to_bytes("ours")).has_value());
        change();
        const auto refused = opened->log->append(to_bytes("lost"));
        EXPECT_TRUE(!refused && refused.error().code == ErrorCode::ReadOnly);
        EXPECT_EQ(opened->log->append(to_bytes("lost")).error().code, ErrorCode::ReadOnly);
    };
    append_after([&] {
        ASSERT_TRUE(replay(*directory).opened->log->append(to_bytes("theirs")).has_value());
    });
    EXPECT_EQ(replay(*directory).records,
              (std::vector<Bytes>{to_bytes("ours"), to_bytes("theirs")}));
    append_after([&] {
        const auto view = directory->open("log").value();
        ASSERT_TRUE(directory->replace("log", view->bytes()).has_value());
    });
    EXPECT_EQ(replay(*directory).records.size(), 3U);
    append_after([&] { ASSERT_TRUE(directory->remove("log").has_value()); });
}

TEST_P(AppendLogSuite, ALogWhoseLockIsLostTakesNoMoreRecords) {
    AppendLogOptions options;
    options.lock = directory->lock("lock").value();
    const auto opened = replay(*directory, "log", options).opened;
    ASSERT_TRUE(opened->log->append(to_bytes("a")).has_value());
    ASSERT_TRUE(directory->remove("lock").has_value());
    const auto refused = opened->log->append(to_bytes("b"));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::ReadOnly);
    EXPECT_NE(refused.error().message.find("lock"), std::string::npos) << refused.error().message;
    EXPECT_EQ(replay(*directory).records, std::vector<Bytes>{to_bytes("a")});
}

TEST(AppendLog, StartsAtTheGivenSequenceNumber) {
    const auto directory = make_memory_directory();
    AppendLogOptions options;
    options.first_sequence = 1000;
    {
        const auto opened = replay(*directory, "log", options).opened;
        EXPECT_EQ(opened->log->append(to_bytes("a")).value(), 1000U);
    }
    options.first_sequence = 7;  // ignored: the log is there
    const auto opened = replay(*directory, "log", options).opened;
    EXPECT_EQ(opened->log->append(to_bytes("b")).value(), 1001U);
}

TEST(AppendLog, MustExistMeansNotFoundAndNothingCreated) {
    const auto directory = make_memory_directory();
    AppendLogOptions options;
    options.must_exist = true;
    const auto absent = replay(*directory, "log", options);
    ASSERT_FALSE(absent.opened.has_value());
    EXPECT_EQ(absent.opened.error().code, ErrorCode::NotFound);
    EXPECT_TRUE(directory->list().value().empty());
    ASSERT_TRUE(replay(*directory).opened.has_value());
    EXPECT_TRUE(replay(*directory, "log", options).opened.has_value());
}

TEST(AppendLog, RefusesRecordsThatAreTooLongAndGoesOn) {
    const auto directory = make_memory_directory();
    AppendLogOptions options;
    options.max_record_bytes = 10;
    const auto opened = replay(*directory, "log", options).opened;
    const auto refused = opened->log->append(Bytes(11));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(opened->log->append(Bytes(10)).value(), 1U);

    options.max_record_bytes = kMaxRecordBytes + 1;
    EXPECT_FALSE(replay(*directory, "log", options).opened.has_value());
    options.max_record_bytes = 5;  // records longer than that are still read
    EXPECT_EQ(replay(*directory, "log", options).records.size(), 1U);
    options.durability = Durability::relaxed(std::chrono::hours(2));
    EXPECT_FALSE(replay(*directory, "log", options).opened.has_value());
}

TEST(AppendLog, AnErrorOfTheReplayCallbackStopsTheOpening) {
    const auto directory = make_memory_directory();
    {
        const auto opened = replay(*directory).opened;
        for (int i = 0; i < 3; ++i) ASSERT_TRUE(opened->log->append(to_bytes("x")).has_value());
    }
    int calls = 0;
    const auto opened = AppendLog::open(
        *directory, "log", {}, [&](std::uint64_t sequence, std::span<const std::byte>) -> Result<> {
            ++calls;
            if (sequence == 2) return fail(ErrorCode::Unsupported, "unknown record type");
            return {};
        });
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, ErrorCode::Unsupported);
    EXPECT_EQ(calls, 2);
    EXPECT_NE(opened.error().message.find("record 2"), std::string::npos) << opened.error().message;
    EXPECT_TRUE(AppendLog::open(*directory, "log", {}, nullptr).has_value());
}

TEST(AppendLog, AFailedSyncMakesItReadOnlyForEver) {
    FaultyDisk disk;
    const auto root = disk.root();
    const auto opened = replay(*root).opened;
    ASSERT_TRUE(opened->log->append(to_bytes("safe")).has_value());
    disk.plan().fail_sync_at(1);
    const auto failed = opened->log->append(to_bytes("doubtful"));
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code, ErrorCode::IoError);

    const std::uint64_t syncs = disk.plan().file_syncs();
    for (int i = 0; i < 3; ++i) {
        const auto refused = opened->log->append(to_bytes("refused"));
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code, ErrorCode::ReadOnly);
        EXPECT_NE(refused.error().message.find("injected I/O error"), std::string::npos);
    }
    EXPECT_FALSE(opened->log->flush().has_value());
    EXPECT_FALSE(opened->log->close().has_value());
    EXPECT_TRUE(opened->log->failure().has_value());
    EXPECT_EQ(disk.plan().file_syncs(), syncs) << "a failed sync is not tried again";
}

// The cache still shows the record whose sync failed, and the next sync of the file succeeds
// without writing it. Whoever reopens the log must not build on it.
TEST(AppendLog, ReopeningAfterAFailedSyncDoesNotTrustTheCache) {
    FaultyDisk disk;
    const auto root = disk.root();
    {
        const auto opened = replay(*root).opened;
        ASSERT_TRUE(opened->log->append(to_bytes("safe")).has_value());
        disk.plan().fail_sync_at(1);
        ASSERT_FALSE(opened->log->append(to_bytes("lost")).has_value());
    }
    {
        const auto [opened, records] = replay(*root);
        ASSERT_TRUE(opened.has_value()) << why(opened);
        EXPECT_EQ(records, std::vector<Bytes>{to_bytes("safe")});
        EXPECT_GT(opened->report.cut_bytes, 0U);
        ASSERT_TRUE(opened->log->append(to_bytes("after")).has_value());
    }
    FaultyDisk left = disk.crash_state(0, testing::CrashMode::DropAll);
    const auto [opened, records] = replay(*left.root());
    ASSERT_TRUE(opened.has_value()) << why(opened);
    EXPECT_EQ(records, (std::vector<Bytes>{to_bytes("safe"), to_bytes("after")}));
}

TEST(AppendLog, AFullDiskRefusesWritesUntilThereIsSpaceAndStillReads) {
    FaultyDisk disk;
    const auto root = disk.root();
    const auto opened = replay(*root).opened;
    ASSERT_TRUE(opened->log->append(to_bytes("a")).has_value());
    disk.plan().fill_disk(true);
    const auto full = opened->log->append(to_bytes("b"));
    ASSERT_FALSE(full.has_value());
    EXPECT_EQ(full.error().code, ErrorCode::StorageFull);
    EXPECT_EQ(opened->log->append(to_bytes("c")).error().code, ErrorCode::StorageFull);
    EXPECT_EQ(opened->log->failure(), std::nullopt);
    EXPECT_TRUE(opened->log->no_space().has_value());
    EXPECT_EQ(opened->log->try_space().error().code, ErrorCode::StorageFull);
    AppendLogOptions read_only;
    read_only.read_only = true;
    EXPECT_EQ(replay(*root, "log", read_only).records, std::vector<Bytes>{to_bytes("a")});
    EXPECT_EQ(replay(*root).records, std::vector<Bytes>{to_bytes("a")}) << "opening needs no space";

    disk.plan().fill_disk(false);
    EXPECT_TRUE(opened->log->no_space().has_value());
    EXPECT_TRUE(opened->log->try_space().has_value());
    EXPECT_EQ(opened->log->no_space(), std::nullopt);
    EXPECT_EQ(opened->log->append(to_bytes("d")).value(), 2U) << "the same log goes on";
    EXPECT_EQ(replay(*root).records, (std::vector<Bytes>{to_bytes("a"), to_bytes("d")}));
}

TEST(AppendLog, ATornTailThatAFullDiskCannotKeepStaysUntilThereIsSpace) {
    FaultyDisk disk;
    const auto root = disk.root();
    ASSERT_TRUE(replay(*root).opened->log->append(to_bytes("a")).has_value());
    ASSERT_TRUE(root->open_append("log").value()->append(to_bytes("torn")).has_value());
    const std::uint64_t torn = (*root->open("log"))->bytes().size();
    disk.plan().fill_disk(true);
    const auto [opened, records] = replay(*root);
    ASSERT_TRUE(opened.has_value()) << why(opened);
    EXPECT_EQ(records, std::vector<Bytes>{to_bytes("a")});
    EXPECT_EQ(opened->report.cut_bytes, 4U);
    EXPECT_EQ(opened->report.kept, "");
    EXPECT_EQ(opened->log->append(to_bytes("b")).error().code, ErrorCode::StorageFull);
    EXPECT_EQ(opened->log->try_space().error().code, ErrorCode::StorageFull);
    EXPECT_TRUE(opened->log->flush().has_value());
    EXPECT_EQ((*root->open("log"))->bytes().size(), torn) << "nothing is cut that is not kept";
    disk.plan().fill_disk(false);
    EXPECT_EQ(opened->log->append(to_bytes("b")).value(), 2U);
    EXPECT_EQ(replay(*root).records, (std::vector<Bytes>{to_bytes("a"), to_bytes("b")}));
    EXPECT_EQ(std::ranges::count_if(root->list().value(),
                                    [](const DirectoryEntry& entry) {
                                        return entry.name.starts_with("cut-log-") &&
                                               entry.size == 4;
                                    }),
              1);
}

TEST(AppendLog, WhatAFullDiskLeftIsCutOffBeforeTheNextRecord) {
    FaultyDisk disk;
    const auto root = disk.root();
    const auto opened = replay(*root).opened;
    ASSERT_TRUE(opened->log->append(to_bytes("a")).has_value());
    const std::uint64_t size = opened->log->size_bytes();
    disk.plan().fail_at(1, FaultKind::NoSpace);  // after a part was written
    ASSERT_EQ(opened->log->append(to_bytes("lost")).error().code, ErrorCode::StorageFull);
    EXPECT_EQ(opened->log->size_bytes(), size);
    ASSERT_EQ(opened->log->append(to_bytes("b")).value(), 2U);
    EXPECT_EQ(opened->log->no_space(), std::nullopt);
    for (const testing::CrashMode mode : testing::kCrashModes) {
        FaultyDisk left = disk.crash_state(1, mode);
        const auto [log, records] = replay(*left.root());
        ASSERT_TRUE(log.has_value()) << why(log);
        EXPECT_EQ(records, (std::vector<Bytes>{to_bytes("a"), to_bytes("b")}));
    }
}

TEST(AppendLog, IsReadOnlyWhenWhatAFullDiskLeftCannotBeCutOff) {
    for (const std::uint64_t n : {2U, 3U}) {  // the cut, the sync of the cut
        FaultyDisk disk;
        const auto root = disk.root();
        const auto opened = replay(*root).opened;
        ASSERT_TRUE(opened->log->append(to_bytes("a")).has_value());
        disk.plan().fill_disk(true);
        disk.plan().fail_at(n, FaultKind::IoError);
        ASSERT_EQ(opened->log->append(to_bytes("b")).error().code, ErrorCode::IoError);
        disk.plan().clear();
        disk.plan().fill_disk(false);
        EXPECT_EQ(opened->log->append(to_bytes("c")).error().code, ErrorCode::ReadOnly);
        EXPECT_EQ(replay(*root).records, std::vector<Bytes>{to_bytes("a")});
    }
}

TEST(AppendLog, FinishesShortWrites) {
    FaultyDisk disk;
    const auto root = disk.root();
    std::mt19937_64 rng(1);
    const Bytes payload = testing::random_bytes(rng, 1001);
    const auto opened = replay(*root).opened;
    for (int i = 0; i < 3; ++i) {
        disk.plan().fail_at(1, FaultKind::ShortWrite);
        ASSERT_TRUE(opened->log->append(payload).has_value());
    }
    EXPECT_EQ(replay(*root).records, std::vector<Bytes>(3, payload));
}

TEST(AppendLog, AppliesBeforeItReturns) {
    const auto directory = make_memory_directory();
    const auto opened = replay(*directory).opened;
    std::vector<std::uint64_t> applied;
    const AppendLog::OnDurable apply = [&](std::uint64_t sequence) { applied.push_back(sequence); };
    ASSERT_TRUE(opened->log->append(to_bytes("a"), apply).has_value());
    ASSERT_TRUE(opened->log->append(to_bytes("b"), AppendLog::OnDurable()).has_value());
    ASSERT_TRUE(opened->log->append(to_bytes("c"), apply).has_value());
    EXPECT_EQ(applied, (std::vector<std::uint64_t>{1, 3}));
}

TEST(AppendLog, AnApplyThatThrowsStopsTheLogAndKeepsTheRecord) {
    const auto directory = make_memory_directory();
    const auto opened = replay(*directory).opened;
    const auto failed = opened->log->append(
        to_bytes("a"), [](std::uint64_t) { throw std::runtime_error("no memory left for this"); });
    ASSERT_FALSE(failed.has_value());
    EXPECT_NE(failed.error().message.find("no memory left for this"), std::string::npos);
    EXPECT_EQ(opened->log->append(to_bytes("b")).error().code, ErrorCode::ReadOnly);
    EXPECT_EQ(replay(*directory).records, std::vector<Bytes>{to_bytes("a")});
}

TEST(AppendLog, DoesNotApplyWhatIsNotDurable) {
    FaultyDisk disk;
    const auto root = disk.root();
    const auto opened = replay(*root).opened;
    disk.plan().fail_sync_at(1);
    bool applied = false;
    EXPECT_FALSE(
        opened->log->append(to_bytes("a"), [&](std::uint64_t) { applied = true; }).has_value());
    EXPECT_FALSE(applied);
}

TEST(AppendLog, ClosingFlushesAndRefusesMore) {
    FaultyDisk disk;
    const auto root = disk.root();
    AppendLogOptions options;
    options.durability = Durability::relaxed(std::chrono::hours(1));
    const auto opened = replay(*root, "log", options).opened;
    const std::uint64_t syncs = disk.plan().file_syncs();
    ASSERT_TRUE(opened->log->append(to_bytes("a")).has_value());
    ASSERT_TRUE(opened->log->append(to_bytes("b")).has_value());
    EXPECT_EQ(disk.plan().file_syncs(), syncs) << "relaxed: the timer is an hour away";
    FaultyDisk before = disk.crash_state(0, testing::CrashMode::DropAll);
    EXPECT_TRUE(replay(*before.root()).records.empty()) << "that is the risk";

    ASSERT_TRUE(opened->log->close().has_value());
    ASSERT_TRUE(opened->log->close().has_value());
    EXPECT_EQ(disk.plan().file_syncs(), syncs + 2) << "the log, and the mark of its length";
    EXPECT_EQ(opened->log->append(to_bytes("c")).error().code, ErrorCode::ReadOnly);
    FaultyDisk after = disk.crash_state(0, testing::CrashMode::DropAll);
    EXPECT_EQ(replay(*after.root()).records.size(), 2U);
}

TEST(AppendLog, FlushMakesARelaxedLogDurable) {
    FaultyDisk disk;
    const auto root = disk.root();
    AppendLogOptions options;
    options.durability = Durability::relaxed(std::chrono::hours(1));
    const auto opened = replay(*root, "log", options).opened;
    ASSERT_TRUE(opened->log->append(to_bytes("a")).has_value());
    ASSERT_TRUE(opened->log->flush().has_value());
    const std::uint64_t syncs = disk.plan().file_syncs();
    ASSERT_TRUE(opened->log->flush().has_value());
    EXPECT_EQ(disk.plan().file_syncs(), syncs) << "nothing to do";
    FaultyDisk left = disk.crash_state(0, testing::CrashMode::DropAll);
    EXPECT_EQ(replay(*left.root()).records.size(), 1U);
}

TEST(AppendLog, ANewerVersionIsUnsupportedNotDamaged) {
    const auto directory = make_memory_directory();
    ASSERT_TRUE(replay(*directory).opened->log->append(to_bytes("a")).has_value());
    const auto view = directory->open("log").value();
    Bytes bytes(view->bytes().begin(), view->bytes().end());
    bytes[8] = std::byte{2};  // the version
    const std::uint64_t sum = checksum(std::span(bytes).first(32));
    for (std::size_t i = 0; i < 8; ++i) bytes[32 + i] = static_cast<std::byte>(sum >> (8 * i));
    ASSERT_TRUE(directory->replace("log", bytes).has_value());

    const auto opened = replay(*directory).opened;
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, ErrorCode::Unsupported);
    EXPECT_NE(opened.error().message.find("newer version"), std::string::npos);
    EXPECT_EQ(check_log(*directory, "log").error().code, ErrorCode::Unsupported);
    EXPECT_EQ(testing::to_text((*directory->open("log"))->bytes()), testing::to_text(bytes));
}

}  // namespace
}  // namespace braid::store
