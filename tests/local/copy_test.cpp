#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "local/copy_database.hpp"
#include "local/database_in_memory.hpp"
#include "recovery/workload.hpp"

namespace braid::testing {
namespace {

/// Copies, and opens the copy.
class CopyTest : public ::testing::Test {
protected:
    CopyTest() {
        for (const Step& step : workload()) must(step.run(*backend));
    }
    Result<CheckReport> copy(const CallLimits& limits = {}) const {
        return copy_database(*backend, *target.home(), limits);
    }

    DatabaseInMemory database;
    std::unique_ptr<Backend> backend = database.open();
    DatabaseInMemory target;
};

TEST_F(CopyTest, HoldsWhatTheDatabaseHolds) {
    const CheckReport report = must(copy());
    EXPECT_TRUE(report.clean());
    EXPECT_EQ(report.collections, must(backend->collections({})).size());
    const auto opened = target.open();
    EXPECT_EQ(state_of(*opened), state_of(*backend));
    expect_both_legs_agree(*opened);
    EXPECT_TRUE(must(opened->check({})).clean());
}

TEST_F(CopyTest, IsADatabaseOfItsOwn) {
    must(copy());
    const std::string before = state_of(*backend);
    {
        const auto opened = target.open();
        must(opened->upsert("brief", "default", {make_chunk("copy", "all of the copy")}, {}));
        must(opened->drop_collection("docs"));
    }
    EXPECT_EQ(state_of(*backend), before);
    must(backend->upsert("brief", "default", {make_chunk("first", "all of the first")}, {}));
    const auto opened = target.open();
    EXPECT_EQ(ids_in(*opened, "brief"), (Ids{"copy", "y1"}));
    EXPECT_TRUE(must(opened->check({})).clean());
    EXPECT_TRUE(must(backend->check({})).clean());
}

TEST_F(CopyTest, VersionsGoOnWhereTheyWere) {
    must(copy());
    const auto opened = target.open();
    const Version here =
        must(backend->upsert("docs", "default", {make_chunk("n", "all", {1, 1, 1})}, {})).version;
    const Version there =
        must(opened->upsert("docs", "default", {make_chunk("n", "all", {1, 1, 1})}, {})).version;
    EXPECT_EQ(here, there);
    // A restored copy that goes its own way does not take up a version that the other has given.
    const Version one =
        must(backend->upsert("docs", "default", {make_chunk("n", "one", {1, 1, 1})}, {})).version;
    const Version other =
        must(opened->upsert("docs", "default", {make_chunk("n", "other", {1, 1, 1})}, {})).version;
    EXPECT_NE(one, other);
}

TEST_F(CopyTest, CanBeMadeFromADatabaseOpenedForReading) {
    const auto reader = std::move(must(database.try_open({.read_only = true})).backend);
    must(backend->upsert("brief", "default", {make_chunk("later", "all")}, {}));
    must(copy_database(*reader, *target.home(), {}));
    EXPECT_EQ(state_of(*target.open()), state_of(*reader));
}

TEST_F(CopyTest, NeedsADirectoryOfItsOwn) {
    const std::string text = "mine";
    must(target.home()->create("notes.txt", std::as_bytes(std::span(text))));
    expect_error(copy(), ErrorCode::AlreadyExists, "notes.txt");
    must(target.home()->remove("notes.txt"));
    must(copy());
    expect_error(copy(), ErrorCode::AlreadyExists, "collections");
    expect_error(copy_database(*backend, *database.home(), {}), ErrorCode::AlreadyExists);
}

TEST_F(CopyTest, IsRefusedWhereACollectionIsDamaged) {
    backend = nullptr;
    const std::string text = "nonsense";
    must(database.collection("docs")->replace("manifest", std::as_bytes(std::span(text))));
    backend = std::move(must(database.try_open()).backend);
    expect_error(copy(), ErrorCode::Corruption, "\"docs\"");
    EXPECT_TRUE(must(target.home()->list()).size() <= 1) << "nothing but the lock";
}

TEST_F(CopyTest, OfFilesThatAreDamagedSinceTheyWereReadIsRefused) {
    const auto log = DatabaseInMemory::read(*database.collection("brief"), "log-000001");
    auto flipped = log;
    flipped.back() ^= std::byte{1};
    must(database.collection("brief")->replace("log-000001", flipped));
    expect_error(copy(), ErrorCode::Corruption, "log-000001");
    must(database.collection("brief")->replace("log-000001", std::span(log).first(50)));
    expect_error(copy(), ErrorCode::Corruption, "log-000001");
    EXPECT_TRUE(must(target.open()->collections({})).empty());
    must(database.collection("brief")->replace("log-000001", log));
}

TEST_F(CopyTest, ThatWasNotFinishedDoesNotOpenAndIsDoneAgain) {
    must(target.home()->subdirectory("collections-unfinished"));
    expect_error(target.try_open(), ErrorCode::Corruption, "not finished");
    expect_error(target.try_open({.read_only = true}), ErrorCode::Corruption, "not finished");
    must(copy());
    EXPECT_EQ(state_of(*target.open()), state_of(*backend));
}

TEST_F(CopyTest, GivesUpWhenToldTo) {
    const std::stop_source source;
    source.request_stop();
    CallLimits stopped;
    stopped.stop = source.get_token();
    expect_error(copy(stopped), ErrorCode::Cancelled);
    EXPECT_TRUE(must(target.open()->collections({})).empty());
}

}  // namespace
}  // namespace braid::testing
