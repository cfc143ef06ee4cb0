#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

/// "c" with the chunks a, b (twice), d and, in another namespace, e; one record each.
struct DamagedDatabase {
    DamagedDatabase() {
        const auto backend = database.open();
        must(backend->create_collection("c", vectors_schema(2)));
        must(backend->create_collection("whole", words_schema()));
        must(backend->upsert("whole", "default", {make_chunk("w", "whole")}, {}));
        for (const char* id : {"a", "b", "b", "d"}) {
            must(backend->upsert("c", "default", {make_chunk(id, "word", {1, 2})}, {}));
        }
        last = must(backend->upsert("c", "other", {make_chunk("e", "word", {1, 2})}, {})).version;
    }

    std::vector<std::byte> log() const {
        return DatabaseInMemory::read(*database.collection("c"), "log-000001");
    }
    void write_log(const std::vector<std::byte>& bytes) const {
        must(database.collection("c")->replace("log-000001", bytes));
    }
    RepairReport repaired() const { return must(local::repair_database(*database.home())); }

    DatabaseInMemory database;
    Version last = 0;
};

TEST(Repair, TouchesNothingThatIsWhole) {
    const DamagedDatabase it;
    const auto before = it.log();
    const RepairReport report = it.repaired();
    EXPECT_TRUE(report.mended.empty() && report.beyond.empty());
    EXPECT_EQ(it.log(), before);
}

TEST(Repair, EveryDamagedByteLosesAtMostItsOwnRecord) {
    const DamagedDatabase it;
    const auto bytes = it.log();
    const auto before = must(it.database.open()->check({}));
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        SCOPED_TRACE(::testing::Message() << "byte " << at);
        const DamagedDatabase files;  // as the first one
        auto damaged = files.log();
        damaged[at] ^= std::byte{0x40};
        files.write_log(damaged);
        const RepairReport report = files.repaired();
        if (!report.beyond.empty()) {
            EXPECT_LT(at, 64U) << "only the head of the log is needed for all: "
                               << report.beyond.front();
            continue;
        }
        const auto backend = std::move(must(files.database.try_open()).backend);
        const CheckReport check = must(backend->check({}));
        EXPECT_TRUE(check.clean());
        EXPECT_EQ(check.collections, before.collections);
        EXPECT_GE(check.chunks + 1, before.chunks);
        EXPECT_EQ(ids_in(*backend, "whole"), Ids{"w"});
        ASSERT_EQ(report.mended.size(), 1U) << "also for the last record: it was acknowledged";
        EXPECT_FALSE(report.mended.front().lost.empty());
        EXPECT_EQ(DatabaseInMemory::read(*files.database.collection("c"), "damaged-log-000001"),
                  damaged);
        const Version version =
            must(backend->upsert("c", "default", {make_chunk("n", "word", {1, 2})}, {})).version;
        EXPECT_NE(version, it.last) << "no version is given twice";
    }
}

TEST(Repair, WhatCannotBeMendedIsNamedAndLeft) {
    const DamagedDatabase it;
    it.write_log({});
    const RepairReport report = it.repaired();
    ASSERT_EQ(report.beyond.size(), 1U);
    EXPECT_NE(report.beyond.front().find("\"c\""), std::string::npos);
    EXPECT_TRUE(it.log().empty());
}

TEST(Repair, ADatabaseInUseIsLocked) {
    const DamagedDatabase it;
    const auto backend = it.database.open();
    expect_error(local::repair_database(*it.database.home()), ErrorCode::Locked);
}

}  // namespace
}  // namespace braid::testing
