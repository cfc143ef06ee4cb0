#include <algorithm>
#include <chrono>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

constexpr std::size_t kLogHeaderSize = 40;
using Lines = std::vector<std::string>;

bool names_all(const std::string& line, std::initializer_list<std::string_view> parts) {
    return std::ranges::all_of(
        parts, [&](std::string_view part) { return line.find(part) != std::string::npos; });
}

std::string joined(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

void expect_clean(const Backend& backend) {
    const CheckReport report = must(backend.check({}));
    EXPECT_TRUE(report.clean()) << joined(report.problems);
}

/// Every problem is of "hurt", and one of them says all these words.
void expect_damage(const Backend& backend, std::initializer_list<std::string_view> words) {
    const CheckReport report = must(backend.check({}));
    EXPECT_FALSE(report.clean());
    EXPECT_EQ(report.collections, 2U) << "the healthy one is checked all the same";
    for (const std::string& problem : report.problems) {
        EXPECT_TRUE(problem.starts_with("collection \"hurt\": ")) << problem;
    }
    EXPECT_TRUE(std::ranges::any_of(report.problems, [&](const auto& line) {
        return names_all(line, words);
    })) << joined(report.problems);
}

/// Two collections with three writes each; the tests damage "hurt".
class Check : public ::testing::Test {
protected:
    Check() {
        const auto backend = database.open();
        for (const char* name : {"healthy", "hurt"}) {
            must(backend->create_collection(name, vectors_schema(2)));
            for (const char* id : {"a", "b", "c"}) {
                must(backend->upsert(name, "default", {make_chunk(id, "word", {1, 2})}, {}));
            }
        }
    }
    std::unique_ptr<Backend> open_to_read() const {
        return std::move(must(database.try_open({.read_only = true})).backend);
    }
    std::vector<std::byte> read(const std::string& file) const {
        return DatabaseInMemory::read(*database.collection("hurt"), file);
    }
    void write(const std::string& file, std::span<const std::byte> bytes) const {
        must(database.collection("hurt")->replace(file, bytes));
    }

    DatabaseInMemory database;
};

TEST_F(Check, CountsWhatItLookedAt) {
    for (const bool read_only : {false, true}) {
        const auto opened = must(database.try_open({.read_only = read_only}));
        const CheckReport report = must(opened.backend->check({}));
        EXPECT_TRUE(report.clean()) << joined(report.problems);
        EXPECT_EQ(report.notes, Lines{});
        EXPECT_EQ(report.collections, 2U);
        EXPECT_EQ(report.chunks, 6U);
        EXPECT_EQ(report.records, 6U);
        EXPECT_EQ(report.bytes, 2 * (read("manifest").size() + read("log-000001").size()));
    }
}

TEST_F(Check, ADatabaseWithoutAnythingIsClean) {
    const DatabaseInMemory empty;
    const CheckReport report = must(empty.open()->check({}));
    EXPECT_EQ(report, CheckReport{});
    EXPECT_EQ(must(must(empty.try_open({.read_only = true})).backend->check({})), CheckReport{});
}

TEST_F(Check, EveryFlippedByteOfTheManifestIsFound) {
    const auto manifest = read("manifest");
    const auto opened_before = database.open();
    for (std::size_t i = 0; i < manifest.size(); ++i) {
        SCOPED_TRACE(::testing::Message() << "byte " << i);
        auto flipped = manifest;
        flipped[i] ^= std::byte{0x10};
        write("manifest", flipped);
        expect_damage(*open_to_read(), {"hurt/manifest"});
        expect_damage(*opened_before, {"hurt/manifest"});
    }
    write("manifest", manifest);
    expect_clean(*opened_before);
}

TEST_F(Check, EveryFlippedByteOfTheLogIsFoundAndItsPlaceNamed) {
    const auto log = read("log-000001");
    const std::size_t record = (log.size() - kLogHeaderSize) / 3;
    const auto opened_before = database.open();
    for (std::size_t i = 0; i < log.size(); ++i) {
        SCOPED_TRACE(::testing::Message() << "byte " << i << " of " << log.size());
        auto flipped = log;
        flipped[i] ^= std::byte{0x01};
        write("log-000001", flipped);
        const std::size_t begin = i < kLogHeaderSize ? 0 : i - (i - kLogHeaderSize) % record;
        const std::string place = "offset " + std::to_string(begin) + ":";
        expect_damage(*opened_before, {"hurt/log-000001", place});
        expect_damage(*open_to_read(), {"hurt/log-000001", place});
        EXPECT_EQ(read("log-000001"), flipped) << "a check changes nothing";
    }
    write("log-000001", log);
    expect_clean(*opened_before);
}

TEST_F(Check, ALogThatWasCutIsFound) {
    const auto log = read("log-000001");
    const auto opened_before = database.open();
    for (const std::size_t size : {0UL, 7UL, 39UL}) {
        SCOPED_TRACE(size);
        write("log-000001", std::span(log).first(size));
        expect_damage(*open_to_read(), {"hurt/log-000001", "cut short"});
        expect_damage(*opened_before, {"hurt/log-000001", "cut short"});
    }
    write("log-000001", std::span(log).first(log.size() - 1));
    expect_damage(*opened_before, {"hurt/log-000001", "cut short"});
    expect_damage(*open_to_read(), {"hurt/log-000001", "cut short"});
    expect_damage(*open_to_read(), {"hurt/log-000001", "record 3 is lost"});
    const std::size_t record = (log.size() - kLogHeaderSize) / 3;
    write("log-000001", std::span(log).first(log.size() - record));
    expect_damage(*opened_before, {"hurt/log-000001", "cut short"});
    expect_damage(*open_to_read(), {"hurt/log-000001", "cut short", "record 3 is lost"});
}

TEST_F(Check, AnUnfinishedWriteIsNoted) {
    auto log = read("log-000001");
    log.resize(log.size() + 9);
    write("log-000001", log);
    const CheckReport report = must(open_to_read()->check({}));
    EXPECT_TRUE(report.clean()) << joined(report.problems);
    ASSERT_EQ(report.notes.size(), 1U);
    EXPECT_TRUE(names_all(report.notes.front(), {"hurt/log-000001", "unfinished"}));
}

TEST_F(Check, MissingFilesAreFound) {
    const auto manifest = read("manifest");
    const auto log = read("log-000001");
    const auto opened_before = database.open();
    must(database.collection("hurt")->remove("manifest"));
    expect_damage(*opened_before, {"hurt/manifest"});
    expect_damage(*open_to_read(), {"manifest is missing", "3 records"});
    write("manifest", manifest);
    must(database.collection("hurt")->remove("log-000001"));
    expect_damage(*opened_before, {"hurt/log-000001"});
    expect_damage(*open_to_read(), {"hurt/log-000001"});
}

TEST_F(Check, FilesOfAnotherCollectionAreFound) {
    const DatabaseInMemory other;
    {
        const auto backend = other.open();
        must(backend->create_collection("hurt", vectors_schema(2, Metric::Dot)));
        must(backend->upsert("hurt", "default", {make_chunk("x", "other", {1, 2})}, {}));
    }
    const auto opened_before = database.open();
    const auto manifest = read("manifest");
    write("manifest", DatabaseInMemory::read(*other.collection("hurt"), "manifest"));
    expect_damage(*opened_before, {"hurt/manifest", "not the manifest written last"});
    write("manifest", manifest);
    write("log-000001", DatabaseInMemory::read(*other.collection("hurt"), "log-000001"));
    expect_damage(*opened_before, {"hurt/log-000001"});
}

TEST_F(Check, AnEqualLogWithOtherChunksIsFound) {
    // As long, as many records, all checksums right: only comparing tells.
    const DatabaseInMemory other;
    {
        const auto backend = other.open();
        must(backend->create_collection("hurt", vectors_schema(2)));
        for (const char* id : {"a", "b", "c"}) {
            must(backend->upsert("hurt", "default", {make_chunk(id, "ward", {1, 2})}, {}));
        }
    }
    const auto opened_before = database.open();
    write("log-000001", DatabaseInMemory::read(*other.collection("hurt"), "log-000001"));
    expect_damage(*opened_before, {"chunk \"a\"", "differs between memory and the log"});
    expect_damage(*opened_before, {"chunk \"b\"", "index of words", "ward"});
}

TEST_F(Check, WhatDoesNoHarmIsNoted) {
    const std::string text = "mine";
    const auto bytes = std::as_bytes(std::span(text));
    must(database.home()->create("notes.txt", bytes));
    must(database.collections()->create("a-file", bytes));
    must(database.collections()->subdirectory("without-manifest"));
    must(database.collection("hurt")->create("unknown", bytes));
    must(database.collection("hurt")->create("log-000009", bytes));
    const CheckReport report = must(open_to_read()->check({}));
    EXPECT_TRUE(report.clean()) << joined(report.problems);
    ASSERT_EQ(report.notes.size(), 5U) << joined(report.notes);
    for (const char* name : {"notes.txt", "a-file", "without-manifest", "unknown", "log-000009"}) {
        EXPECT_NE(joined(report.notes).find(name), std::string::npos) << name;
    }
}

TEST_F(Check, AnUnfinishedRewriteIsNoted) {
    const auto backend = database.open();
    {
        const auto rewrite = must(backend->rewrite("hurt", vectors_schema(3)));
        Rewrite::Batch batch = must(rewrite->pending(1));
        for (Chunk& chunk : batch.chunks) chunk.vector.push_back(1);
        must(rewrite->put(std::move(batch)));
    }
    const CheckReport report = must(backend->check({}));
    EXPECT_TRUE(report.clean()) << joined(report.problems);
    ASSERT_EQ(report.notes.size(), 1U) << joined(report.notes);
    EXPECT_NE(report.notes.front().find("a rewrite is unfinished"), std::string::npos);
}

TEST_F(Check, GivesUpWhenToldTo) {
    const auto backend = database.open();
    expect_error(backend->check(late_call()), ErrorCode::DeadlineExceeded);
    expect_error(backend->check(stopped_call()), ErrorCode::Cancelled);
}

/// Some chunk of a small world, so that ids come again.
Chunk random_chunk(std::mt19937& rng) {
    Chunk chunk = make_chunk("c" + std::to_string(rng() % 200), "");
    for (unsigned i = 0; i < 1 + rng() % 12; ++i) {
        chunk.content += "word" + std::to_string(rng() % 50) + " ";
    }
    chunk.document_id = "d" + std::to_string(rng() % 40);
    if (rng() % 2 == 0) chunk.title = "title" + std::to_string(rng() % 9);
    constexpr std::array levels{"public", "normal", "restricted"};
    if (rng() % 3 == 0) chunk.sensitivity = levels[rng() % levels.size()];
    if (rng() % 4 == 0) chunk.visibility_scope = {"sales", "legal"};
    chunk.vector = {static_cast<float>(rng() % 100) + 1, static_cast<float>(rng() % 100)};
    return chunk;
}

TEST(CheckOfRandomChanges, IsCleanAtEveryTime) {
    for (const unsigned seed : {1U, 2U, 3U}) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const DatabaseInMemory database;
        auto backend = database.open();
        must(backend->create_collection("c", vectors_schema(2)));
        ReaderPtr held;
        for (int step = 0; step < 300; ++step) {  // enough dead rows to be compacted
            const std::string space = rng() % 4 == 0 ? "tenant" : "default";
            std::vector<Chunk> chunks;
            Ids seen;
            for (unsigned i = 0; i < 1 + rng() % 20; ++i) {
                Chunk chunk = random_chunk(rng);
                if (std::ranges::count(seen, chunk.chunk_id) > 0) continue;
                seen.push_back(chunk.chunk_id);
                chunks.push_back(std::move(chunk));
            }
            must(backend->upsert("c", space, std::move(chunks), {}));
            if (step % 5 == 1) {
                MetadataUpdate update{.chunk_id = seen.front(), .metadata = {{"n", step}}};
                update.sensitivity = "public";
                must(backend->update("c", space, {update}, {}));
            }
            ReadScope scope = scope_of("c");
            scope.namespace_ = space;
            if (step % 7 == 2) must(backend->remove(scope, by_ids({seen.back()}), {}));
            if (step % 40 == 3) held = snapshot_of(*backend, "c");
            if (step % 25 == 0) expect_clean(*backend);
        }
        expect_clean(*backend);
        held = nullptr;
        backend = nullptr;
        expect_clean(*database.open({.read_only = true}));
        expect_clean(*database.open());
    }
}

}  // namespace
}  // namespace braid::testing
