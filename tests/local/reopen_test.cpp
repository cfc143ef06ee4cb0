#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "backend/dump.hpp"
#include "backend/random_data.hpp"
#include "braid/docs/chunk_codec.hpp"
#include "braid/local/manifest.hpp"
#include "braid/local/records.hpp"
#include "braid/store/append_log.hpp"
#include "core/present.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

DumpPlan everything(RandomData& random) {
    DumpPlan plan;
    plan.collection = "c";
    plan.namespaces = {"default", "other"};
    plan.queries = {"w0 w1", random.words(5)};
    plan.vectors = {random.vector(3), random.real_vector(3)};
    plan.filters = {random.filter()};
    plan.facet_fields = {"kind", "year", "tags", "document_id"};
    for (int i = 0; i < 60; i += 5) plan.chunk_ids.push_back("c" + std::to_string(i));
    for (int i = 0; i < 15; i += 4) plan.documents.push_back("d" + std::to_string(i));
    return plan;
}

std::string answers(const Backend& backend, const DumpPlan& plan) {
    std::string all;
    for (const Principal& principal : {Principal{}, reader("normal", {"red"})}) {
        all += dump(snapshot_of(backend, "c"), principal, plan);
        all += dump_collections(backend, principal, "c");
    }
    return all;
}

void change_something(Backend& backend, RandomData& random) {
    const std::string space = random.chance(70) ? "default" : "other";
    const ReadScope scope{.collection = "c", .namespace_ = space};
    if (random.chance(70)) {
        std::vector<Chunk> batch;
        for (std::size_t i = random.below(5); i < 6; ++i) {
            batch.push_back(random.chunk(3));
            batch.back().chunk_id = "c" + std::to_string(random.below(10) * 6 + i);
        }
        must(backend.upsert("c", space, batch, {}));
    } else if (random.chance(50)) {
        must(backend.remove(scope, by_filter(random.filter()), {}));
    } else {
        MetadataUpdate update = random.update();
        update.chunk_id = "c" + std::to_string(random.below(60));
        const auto updated = backend.update("c", space, {update}, {});
        if (!updated) expect_error(updated, ErrorCode::NotFound);
    }
}

TEST(Reopen, KeepsIdsThatWouldBeRefusedNow) {
    const std::string odd("a\0b\n", 4);
    const DatabaseInMemory database;
    must(database.open()->create_collection("c", words_schema()));
    {
        // As an earlier version wrote it.
        const auto files = database.collection("c");
        std::string name;
        for (const auto& entry : must(files->list())) {
            if (local::log_number(entry.name)) name = entry.name;
        }
        const auto any = [](std::uint64_t, std::span<const std::byte>) { return Result<>(); };
        const auto opened = must(store::AppendLog::open(*files, name, {}, any));
        auto record = local::start_record(local::kUpsert, "default", 1);
        Chunk chunk = make_chunk(odd, "old words");
        chunk.document_id = odd;
        docs::write_chunk(record, chunk);
        must(opened.log->append(record.view()));
        must(opened.log->close());
    }
    const auto backend = database.open();
    const ReadScope scope{.collection = "c"};
    const std::vector<std::string> ids{odd};
    const auto fetch = [&] {
        return must(snapshot_of(*backend, "c")->fetch(scope, ids, false)).at(0);
    };
    EXPECT_EQ(present(fetch()).content, "old words");
    MetadataUpdate update;
    update.chunk_id = odd;
    update.metadata = {{"seen", true}};
    EXPECT_EQ(must(backend->update("c", "default", {update}, {})).written, 1U);
    expect_error(backend->upsert("c", "default", {make_chunk(odd, "new")}, {}),
                 ErrorCode::InvalidArgument, "chunk \"a?b?\": chunk_id holds the control");
    EXPECT_EQ(must(backend->remove(scope, {.chunk_ids = ids}, {})).written, 1U);
    EXPECT_FALSE(fetch());
}

TEST(Reopen, GivesTheSameAnswersToTheLastBit) {
    for (unsigned seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        RandomData random(seed);
        const DatabaseInMemory database;
        Schema schema = vectors_schema(seed % 2 == 0 ? 3 : 0, static_cast<Metric>(seed % 3));
        schema.text_fields = {{"content", 1}, {"title", 0.7}};
        if (seed % 2 == 1) schema.bm25.variant = Bm25Variant::Okapi;
        must(database.open()->create_collection("c", schema));
        const DumpPlan plan = everything(random);
        for (int round = 0; round < 4; ++round) {
            std::string before;
            {
                const auto backend = database.open();
                for (int i = 0; i < 12; ++i) change_something(*backend, random);
                before = answers(*backend, plan);
            }
            EXPECT_EQ(answers(*database.open(), plan), before);
            EXPECT_EQ(answers(*database.open({.read_only = true}), plan), before);
        }
    }
}

TEST(Reopen, ForgettingOldVersionsChangesNothing) {
    RandomData random(9);
    const DatabaseInMemory database;
    const DumpPlan plan = everything(random);
    std::string before;
    {
        const auto backend = database.open();
        must(backend->create_collection("c", vectors_schema(3)));
        const ReaderPtr held = snapshot_of(*backend, "c");  // keeps this process from forgetting
        for (int round = 0; round < 50; ++round) {
            std::vector<Chunk> batch;
            for (int i = 0; i < 60; ++i) {
                batch.push_back(random.chunk(3));
                batch.back().chunk_id = "c" + std::to_string(i);
            }
            must(backend->upsert("c", "default", batch, {}));
        }
        before = answers(*backend, plan);
    }
    EXPECT_EQ(answers(*database.open(), plan), before);
}

TEST(Reopen, NoVersionIsGivenTwice) {
    const DatabaseInMemory database;
    std::set<Version> given;
    must(database.open()->create_collection("c", words_schema()));
    for (int round = 0; round < 4; ++round) {
        const auto backend = database.open();
        const Version version =
            must(backend->upsert("c", "default", {make_chunk("a", "x")}, {})).version;
        EXPECT_TRUE(given.insert(version).second);
        const Version removal = must(backend->remove(scope_of("c"), by_ids({"a"}), {})).version;
        EXPECT_TRUE(given.insert(removal).second);
    }
}

TEST(Reopen, DroppedCollectionsStayDropped) {
    const DatabaseInMemory database;
    {
        const auto backend = database.open();
        for (const char* name : {"a", "b"}) {
            must(backend->create_collection(name, words_schema()));
            must(backend->upsert(name, "default", {make_chunk("x", "word")}, {}));
        }
        must(backend->drop_collection("a"));
    }
    const auto backend = database.open();
    ASSERT_EQ(must(backend->collections({})).size(), 1U);
    must(backend->create_collection("a", words_schema()));
    EXPECT_TRUE(ids_in(*backend, "a").empty());
    EXPECT_EQ(ids_in(*backend, "b"), Ids{"x"});
}

TEST(ReadOnly, RefusesEveryChangeAndAnswersEveryQuestion) {
    const DatabaseInMemory database;
    EXPECT_TRUE(must(database.open({.read_only = true})->collections({})).empty());
    EXPECT_TRUE(must(database.home()->list()).empty()) << "nothing may be created";
    {
        const auto backend = database.open();
        must(backend->create_collection("c", words_schema()));
        must(backend->upsert("c", "default", {make_chunk("a", "word")}, {}));
    }
    const auto backend = database.open({.read_only = true});
    expect_error(backend->create_collection("d", words_schema()), ErrorCode::ReadOnly);
    expect_error(backend->drop_collection("c"), ErrorCode::ReadOnly);
    expect_error(backend->upsert("c", "default", {make_chunk("b", "x")}, {}), ErrorCode::ReadOnly);
    expect_error(backend->update("c", "default", {{.chunk_id = "a"}}, {}), ErrorCode::ReadOnly);
    expect_error(backend->remove(scope_of("c"), by_ids({"a"}), {}), ErrorCode::ReadOnly);
    expect_error(backend->rewrite("c", words_schema()), ErrorCode::ReadOnly);
    const Leg leg = words_leg(scope_of("c"), {"word"});
    EXPECT_EQ(ids_of(must(snapshot_of(*backend, "c")->search_leg(leg))), Ids{"a"});
}

TEST(ReadOnly, ReadsBesideAWriterAsOfItsOpening) {
    const DatabaseInMemory database;
    const auto writer = database.open();
    must(writer->create_collection("c", words_schema()));
    must(writer->upsert("c", "default", {make_chunk("a", "word")}, {}));
    const auto observer = database.open({.read_only = true});
    must(writer->upsert("c", "default", {make_chunk("b", "word")}, {}));
    EXPECT_EQ(ids_in(*observer, "c"), Ids{"a"});
    EXPECT_EQ(ids_in(*database.open({.read_only = true}), "c"), (Ids{"a", "b"}));
    expect_error(database.try_open(), ErrorCode::Locked);
}

TEST(Writer, LetsGoOfTheLockWhenItEnds) {
    const DatabaseInMemory database;
    for (int i = 0; i < 3; ++i) database.open();
    const auto first = database.open();
    expect_error(database.try_open(), ErrorCode::Locked);
}

TEST(Writer, RelaxedDurabilityKeepsWhatWasClosed) {
    const DatabaseInMemory database;
    {
        const auto backend = database.open({.relaxed_ms = 60'000});
        must(backend->create_collection("c", words_schema()));
        for (int i = 0; i < 20; ++i) {
            must(backend->upsert("c", "default", {make_chunk(std::to_string(i), "x")}, {}));
        }
    }
    EXPECT_EQ(ids_in(*database.open(), "c").size(), 20U);
}

TEST(ManyVersions, UnderAnOldSnapshotDoNotMakeEveryWriteSlower) {
    const DatabaseInMemory database;
    const auto backend = database.open();
    must(backend->create_collection("c", words_schema()));
    std::vector<Chunk> batch;
    batch.reserve(1500);
    for (int i = 0; i < 1500; ++i) batch.push_back(make_chunk(std::to_string(i), "word"));
    must(backend->upsert("c", "default", batch, {}));
    const ReaderPtr held = snapshot_of(*backend, "c");
    must(backend->upsert("c", "default", batch, {}));
    // Thousands of compactions of 3000 rows would take minutes; the time limit of the test tells.
    for (int i = 0; i < 20'000; ++i) {
        must(backend->upsert("c", "default", {make_chunk("again", "x")}, {}));
    }
    EXPECT_EQ(must(held->count(scope_of("c"))), 1500U);
}

}  // namespace
}  // namespace braid::testing
