#include <algorithm>

#include <gtest/gtest.h>

#include "braid/local/manifest.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

constexpr std::size_t kLogHeader = 40;

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

/// Two collections with three writes each; the tests damage "hurt".
class Damage : public ::testing::Test {
protected:
    Damage() {
        const auto backend = database.open();
        for (const char* name : {"healthy", "hurt"}) {
            must(backend->create_collection(name, words_schema()));
            for (const char* id : {"a", "b", "c"}) {
                must(backend->upsert(name, "default", {make_chunk(id, "word")}, {}));
            }
        }
    }

    std::vector<std::byte> read(const std::string& file) const {
        return DatabaseInMemory::read(*database.collection("hurt"), file);
    }
    void write(const std::string& file, std::span<const std::byte> bytes) const {
        must(database.collection("hurt")->replace(file, bytes));
    }

    /// "hurt" cannot be used, everything else can.
    void expect_damage(const local::LocalOptions& options = {}) const {
        const auto opened = must(database.try_open(options));
        ASSERT_EQ(opened.notes.size(), 1U);
        EXPECT_NE(opened.notes.front().find("\"hurt\""), std::string::npos);
        Backend& backend = *opened.backend;
        const auto infos = must(backend.collections({}));
        ASSERT_EQ(infos.size(), 2U);
        EXPECT_TRUE(infos[0].damage.empty());
        EXPECT_EQ(infos[0].chunks, 3U);
        EXPECT_EQ(infos[1].name, "hurt");
        EXPECT_FALSE(infos[1].damage.empty());
        const auto is_damage = [](const auto& result) {
            return !result && (result.error().code == ErrorCode::Corruption ||
                               result.error().code == ErrorCode::Unsupported);
        };
        EXPECT_TRUE(is_damage(backend.describe("hurt", {})));
        EXPECT_TRUE(is_damage(backend.upsert("hurt", "default", {make_chunk("d", "x")}, {})));
        EXPECT_TRUE(is_damage(backend.remove(scope_of("hurt"), by_ids({"a"}), {})));
        const Ids names{"healthy", "hurt"};
        EXPECT_TRUE(is_damage(backend.snapshot(names, {})));
        EXPECT_EQ(ids_in(backend, "healthy"), (Ids{"a", "b", "c"}));
        if (options.read_only) return;
        expect_error(backend.create_collection("hurt", words_schema()), ErrorCode::AlreadyExists);
        must(backend.upsert("healthy", "default", {make_chunk("c", "word")}, {}));
    }

    DatabaseInMemory database;
};

TEST_F(Damage, EveryFlippedByteOfTheManifestIsNoticed) {
    const auto manifest = read("manifest");
    for (std::size_t i = 0; i < manifest.size(); ++i) {
        SCOPED_TRACE(::testing::Message() << "byte " << i);
        auto flipped = manifest;
        flipped[i] ^= std::byte{0x10};
        write("manifest", flipped);
        expect_damage();
    }
    expect_damage({.read_only = true});
    write("manifest", manifest);
    EXPECT_EQ(ids_in(*database.open(), "hurt"), (Ids{"a", "b", "c"}));
}

TEST_F(Damage, EveryFlippedByteOfAcknowledgedRecordsIsNoticed) {
    const auto log = read("log-000001");
    for (std::size_t i = 0; i < log.size(); ++i) {  // the last record too: it was acknowledged
        SCOPED_TRACE(::testing::Message() << "byte " << i << " of " << log.size());
        auto flipped = log;
        flipped[i] ^= std::byte{0x01};
        write("log-000001", flipped);
        expect_damage({.read_only = i % 2 == 0});
        EXPECT_EQ(read("log-000001"), flipped) << "evidence must not be destroyed";
    }
    write("log-000001", log);
    EXPECT_EQ(ids_in(*database.open(), "hurt"), (Ids{"a", "b", "c"}));
}

TEST_F(Damage, ATruncatedLogIsDamage) {
    const auto log = read("log-000001");
    const std::size_t record = (log.size() - kLogHeader) / 3;
    for (const std::size_t more : {0UL, 5UL}) {
        write("log-000001", std::span(log).first(kLogHeader + 2 * record + more));
        expect_damage();
        expect_damage({.read_only = true});
    }
}

TEST_F(Damage, WhatACrashLeftAtTheEndIsCutAndKeptAndNamed) {
    auto log = read("log-000001");
    log.resize(log.size() + 5);
    write("log-000001", log);
    const auto reading = must(database.try_open({.read_only = true}));
    ASSERT_EQ(reading.notes.size(), 1U);
    EXPECT_NE(reading.notes.front().find("ignored 5 bytes"), std::string::npos);
    const auto opened = must(database.try_open());
    ASSERT_EQ(opened.notes.size(), 1U);
    const std::string& note = opened.notes.front();
    EXPECT_NE(note.find("cut 5 bytes"), std::string::npos) << note;
    EXPECT_EQ(ids_in(*opened.backend, "hurt"), (Ids{"a", "b", "c"}));
    const std::string kept = note.substr(note.rfind('/') + 1);
    EXPECT_TRUE(kept.starts_with("cut-log-000001-")) << note;
    EXPECT_EQ(read(kept), std::vector<std::byte>(5));
    const CheckReport report = must(opened.backend->check({}));
    EXPECT_TRUE(report.clean());
    ASSERT_EQ(report.notes.size(), 1U);
    EXPECT_NE(report.notes.front().find(kept), std::string::npos) << report.notes.front();
}

TEST_F(Damage, ALogWithoutItsHeaderIsDamageNotANewLog) {
    const auto log = read("log-000001");
    for (const std::size_t size : {0UL, 7UL, 39UL}) {
        SCOPED_TRACE(size);
        write("log-000001", std::span(log).first(size));
        expect_damage();
        expect_damage({.read_only = true});
        EXPECT_EQ(read("log-000001").size(), size);
    }
}

TEST_F(Damage, AMissingFileIsDamage) {
    const auto manifest = read("manifest");
    must(database.collection("hurt")->remove("manifest"));
    expect_damage();
    expect_damage({.read_only = true});
    write("manifest", manifest);
    must(database.collection("hurt")->remove("log-000001"));
    expect_damage();
    EXPECT_EQ(must(database.collection("hurt")->list()).size(), 3U)
        << "no new log: manifest, its copy and the mark";
}

TEST_F(Damage, ADamagedCollectionCanBeDropped) {
    write("manifest", bytes_of("nonsense"));
    {
        const auto opened = must(database.try_open());
        must(opened.backend->drop_collection("hurt"));
        must(opened.backend->create_collection("hurt", words_schema()));
    }
    EXPECT_TRUE(ids_in(*database.open(), "hurt").empty());
}

TEST_F(Damage, AManifestOfANewerVersionSaysSo) {
    auto manifest = read("manifest");
    manifest[4] = std::byte{local::kNewestFormat + 1};
    write("manifest", manifest);
    const auto opened = must(database.try_open());
    expect_error(opened.backend->describe("hurt", {}), ErrorCode::Unsupported, "newer");
}

TEST_F(Damage, NotesGoToTheLogSink) {
    write("manifest", bytes_of("nonsense"));
    std::vector<std::string> events;
    local::LocalOptions options;
    options.log = [&](const LogEvent& event) { events.emplace_back(event.message); };
    const auto opened = must(database.try_open(options));
    EXPECT_EQ(events, opened.notes);
}

TEST(LeftOver, FilesAndDirectoriesDoNotStopOpening) {
    const DatabaseInMemory database;
    {
        const auto backend = database.open();
        must(backend->create_collection("c", words_schema()));
        must(backend->upsert("c", "default", {make_chunk("a", "word")}, {}));
    }
    must(database.home()->create("notes.txt", bytes_of("mine")));
    must(database.collections()->create("a-file", bytes_of("x")));
    must(database.collections()->subdirectory("name.with.dots"));
    must(database.collections()->subdirectory("without-manifest"));
    must(database.collection("c")->create("unknown", bytes_of("x")));
    must(database.collection("c")->subdirectory("sub"));
    const auto backend = database.open();
    ASSERT_EQ(must(backend->collections({})).size(), 1U);
    EXPECT_EQ(ids_in(*backend, "c"), Ids{"a"});
    must(backend->create_collection("without-manifest", words_schema()));
    must(backend->upsert("without-manifest", "default", {make_chunk("b", "word")}, {}));
    EXPECT_EQ(must(database.home()->open("notes.txt"))->bytes().size(), 4U);
    expect_error(backend->create_collection("a-file", words_schema()), ErrorCode::AlreadyExists);
}

TEST(LeftOver, ACreationThatWasInterruptedIsAsIfItNeverWas) {
    const DatabaseInMemory database;
    { const auto backend = database.open(); }
    {
        // What create_collection does before it writes the manifest.
        const DatabaseInMemory other;
        must(other.open()->create_collection("c", words_schema()));
        const auto log = DatabaseInMemory::read(*other.collection("c"), "log-000001");
        for (const std::size_t size : {0UL, 10UL, log.size()}) {
            const std::string name = "c" + std::to_string(size);
            must(database.collection(name)->create("log-000001", std::span(log).first(size)));
        }
    }
    const auto backend = database.open();
    EXPECT_TRUE(must(backend->collections({})).empty());
    for (const char* name : {"c0", "c10", "c40"}) {
        must(backend->create_collection(name, words_schema()));
        must(backend->upsert(name, "default", {make_chunk("a", "word")}, {}));
        EXPECT_EQ(ids_in(*backend, name), Ids{"a"});
    }
}

}  // namespace
}  // namespace braid::testing
