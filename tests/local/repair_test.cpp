#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "braid/local/backend.hpp"
#include "braid/store/checksum.hpp"
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
    EXPECT_TRUE(report.repaired.empty() && report.unrepairable.empty());
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
        if (!report.unrepairable.empty()) {
            EXPECT_LT(at, 64U) << "only the head of the log is needed for all: "
                               << report.unrepairable.front();
            continue;
        }
        const auto backend = std::move(must(files.database.try_open()).backend);
        const CheckReport check = must(backend->check({}));
        EXPECT_TRUE(check.clean());
        EXPECT_EQ(check.collections, before.collections);
        EXPECT_GE(check.chunks + 1, before.chunks);
        EXPECT_EQ(ids_in(*backend, "whole"), Ids{"w"});
        ASSERT_EQ(report.repaired.size(), 1U) << "also for the last record: it was acknowledged";
        EXPECT_FALSE(report.repaired.front().lost.empty());
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
    ASSERT_EQ(report.unrepairable.size(), 1U);
    EXPECT_NE(report.unrepairable.front().find("\"c\""), std::string::npos);
    EXPECT_TRUE(it.log().empty());
}

TEST(Repair, ADatabaseInUseIsLocked) {
    const DamagedDatabase it;
    const auto backend = it.database.open();
    expect_error(local::repair_database(*it.database.home()), ErrorCode::Locked);
}

/// Chunks in two segments, dead rows, and records since the last flush.
struct LostManifest {
    LostManifest() {
        options.flush_rows = 4;
        options.flush_on_close_rows = 1000;
        options.compaction.background = false;
        const auto backend = database.open(options);
        must(backend->create_collection("whole", words_schema()));
        must(backend->create_collection("c", vectors_schema(2)));
        for (int i = 0; i < 11; ++i) {
            must(backend->upsert("c", "default",
                                 {make_chunk("c" + std::to_string(i), "word", {1, 2})}, {}));
            if (i == 6) must(backend->remove(scope_of("c"), by_ids({"c1"}), {}));
            dynamic_cast<local::LocalBackend&>(*backend).run_due_compactions();
        }
        expected = ids_in(*backend, "c");
    }
    void write(std::string_view name, std::span<const std::byte> bytes) const {
        must(database.collection("c")->replace(name, bytes));
    }
    std::vector<std::byte> read(std::string_view name) const {
        return DatabaseInMemory::read(*database.collection("c"), std::string(name));
    }
    RepairReport repaired() const { return must(local::repair_database(*database.home())); }
    void expect_whole() const {
        const auto backend = database.open(options);
        EXPECT_EQ(ids_in(*backend, "c"), expected);
        EXPECT_EQ(must(backend->check({})).problems, std::vector<std::string>());
    }

    DatabaseInMemory database;
    local::LocalOptions options;
    Ids expected;
};

TEST(RepairOfTheManifest, EveryDamagedByteCostsNothing) {
    const std::size_t size = LostManifest().read("manifest").size();
    for (std::size_t at = 0; at < size; ++at) {
        SCOPED_TRACE(::testing::Message() << "byte " << at);
        const LostManifest it;
        auto damaged = it.read("manifest");
        damaged[at] ^= std::byte{0x04};
        it.write("manifest", damaged);
        const RepairReport report = it.repaired();
        EXPECT_EQ(report.unrepairable, std::vector<std::string>());
        ASSERT_EQ(report.repaired.size(), 1U);
        EXPECT_EQ(report.repaired.front().collection, "c");
        EXPECT_NE(report.repaired.front().lost.at(0).find("nothing is lost"), std::string::npos);
        EXPECT_EQ(it.read("damaged-manifest"), damaged);
        it.expect_whole();
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(RepairOfTheManifest, OneThatIsGoneOrEmptyCostsNothing) {
    for (const bool gone : {false, true}) {
        const LostManifest it;
        gone ? must(it.database.collection("c")->remove("manifest")) : it.write("manifest", {});
        const auto opened = must(it.database.try_open(it.options));
        expect_error(opened.backend->describe("c", {}), ErrorCode::Corruption, "manifest");
    }
    const LostManifest it;
    must(it.database.collection("c")->remove("manifest"));
    EXPECT_EQ(it.repaired().repaired.size(), 1U);
    it.expect_whole();
}

TEST(RepairOfTheManifest, ADamagedCopyIsFoundAndWrittenAnew) {
    const LostManifest it;
    it.write("manifest-copy", std::vector<std::byte>(7));
    EXPECT_FALSE(must(must(it.database.try_open({.read_only = true})).backend->check({})).clean());
    const RepairReport report = it.repaired();
    ASSERT_EQ(report.repaired.size(), 1U);
    EXPECT_EQ(it.read("manifest-copy"), it.read("manifest"));
    EXPECT_TRUE(it.repaired().repaired.empty());
    it.expect_whole();
}

TEST(RepairOfTheManifest, WithoutItAndItsCopyTheCollectionIsNamedAndLeft) {
    const LostManifest it;
    it.write("manifest", {});
    it.write("manifest-copy", {});
    const RepairReport report = it.repaired();
    ASSERT_EQ(report.unrepairable.size(), 1U);
    EXPECT_NE(report.unrepairable.front().find("restore a backup"), std::string::npos);
}

TEST(RepairOfTheManifest, OneOfANewerVersionIsLeftAlone) {
    const LostManifest it;
    auto bytes = it.read("manifest");
    bytes[4] = std::byte{local::kNewestFormat + 1};
    const std::uint64_t sum =
        store::checksum(std::span(bytes).subspan(16), local::kNewestFormat + 1);
    std::memcpy(bytes.data() + 8, &sum, sizeof sum);
    it.write("manifest", bytes);
    const RepairReport report = it.repaired();
    EXPECT_TRUE(report.repaired.empty());
    ASSERT_EQ(report.unrepairable.size(), 1U);
    EXPECT_NE(report.unrepairable.front().find("newer"), std::string::npos);
    EXPECT_EQ(it.read("manifest"), bytes);
}

TEST(RepairOfTheManifest, ASegmentMayBeDamagedToo) {
    const LostManifest it;
    it.write("manifest", {});
    const auto files = it.database.collection("c");
    std::string segment;
    for (const auto& entry : must(files->list())) {
        if (entry.name.starts_with("segment-") && segment.empty()) segment = entry.name;
    }
    must(files->remove(segment));
    const RepairReport report = it.repaired();
    ASSERT_EQ(report.repaired.size(), 1U);
    EXPECT_GE(report.repaired.front().lost.size(), 2U);
    const auto backend = it.database.open(it.options);
    EXPECT_LT(ids_in(*backend, "c").size(), it.expected.size());
    EXPECT_TRUE(must(backend->check({})).clean());
}

}  // namespace
}  // namespace braid::testing
