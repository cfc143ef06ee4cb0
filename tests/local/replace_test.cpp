#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/local/manifest.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

Chunk part_of(const std::string& document, const std::string& id, const std::string& text) {
    Chunk chunk = make_chunk(id, text);
    chunk.document_id = document;
    return chunk;
}

WriteOptions whole_documents() {
    WriteOptions options;
    options.replace_documents = true;
    return options;
}

class ReplaceTest : public ::testing::Test {
protected:
    ReplaceTest() {
        const auto backend = database.open();
        must(backend->create_collection("c", words_schema()));
        must(backend->upsert("c", "default",
                             {part_of("d", "old-1", "ant"), part_of("d", "both", "bee"),
                              part_of("other", "elsewhere", "ant")},
                             {}));
        must(backend->upsert("c", "tenant", {part_of("d", "old-1", "ant")}, {}));
    }
    static Ids found(const Backend& backend, const std::string& word) {
        const Leg leg = words_leg(scope_of("c"), {word});
        return ids_of(must(snapshot_of(backend, "c")->search_leg(leg)));
    }

    DatabaseInMemory database;
};

TEST_F(ReplaceTest, AllOfTheOldDocumentGoesAndTheNewOneComesInOneRecord) {
    std::uint64_t records = 0;
    {
        const auto backend = database.open();
        records = must(backend->check({})).records;
        const WriteReport report = must(backend->upsert(
            "c", "default", {part_of("d", "both", "cat"), part_of("d", "new-1", "cat")},
            whole_documents()));
        EXPECT_EQ(report.written, 2U);
        EXPECT_EQ(report.replaced, 1U);
        EXPECT_EQ(report.removed, 1U);
        EXPECT_EQ(must(backend->check({})).records, records + 1);
        EXPECT_EQ(ids_in(*backend, "c"), (Ids{"both", "elsewhere", "new-1"}));
        EXPECT_EQ(found(*backend, "ant"), Ids{"elsewhere"}) << "other documents stay";
        EXPECT_EQ(
            must(snapshot_of(*backend, "c")->count({.collection = "c", .namespace_ = "tenant"})),
            1U)
            << "other namespaces too";
        EXPECT_TRUE(must(backend->check({})).clean());
    }
    const auto backend = database.open();
    EXPECT_EQ(ids_in(*backend, "c"), (Ids{"both", "elsewhere", "new-1"}));
    EXPECT_EQ(found(*backend, "cat"), (Ids{"both", "new-1"}));
    EXPECT_TRUE(must(backend->check({})).clean());
}

TEST_F(ReplaceTest, WhatTheCallerMayNotSeeStays) {
    const auto backend = database.open();
    Chunk hidden = part_of("d", "hidden", "dog");
    hidden.sensitivity = "restricted";
    must(backend->upsert("c", "default", {hidden}, {}));
    WriteOptions options = whole_documents();
    options.principal.clearance = "normal";
    const WriteReport report =
        must(backend->upsert("c", "default", {part_of("d", "new-1", "cat")}, options));
    EXPECT_EQ(report.removed, 2U) << "the hidden one is not counted either";
    EXPECT_EQ(ids_in(*backend, "c"), (Ids{"elsewhere", "hidden", "new-1"}));
    expect_error(backend->upsert("c", "default", {part_of("d", "hidden", "cat")}, options),
                 ErrorCode::Conflict);
    EXPECT_EQ(ids_in(*backend, "c"), (Ids{"elsewhere", "hidden", "new-1"}));
}

TEST_F(ReplaceTest, AChunkOfAnotherDocumentIsNotTakenAway) {
    const auto backend = database.open();
    expect_error(
        backend->upsert("c", "default", {part_of("d", "elsewhere", "cat")}, whole_documents()),
        ErrorCode::Conflict, "\"elsewhere\" belongs to document \"other\"");
    EXPECT_EQ(ids_in(*backend, "c"), (Ids{"both", "elsewhere", "old-1"}));
    EXPECT_EQ(found(*backend, "ant"), (Ids{"elsewhere", "old-1"}));
    must(backend->upsert("c", "default",
                         {part_of("d", "elsewhere", "cat"), part_of("other", "new-1", "dog")},
                         whole_documents()));
    EXPECT_EQ(ids_in(*backend, "c"), (Ids{"elsewhere", "new-1"})) << "both are replaced whole";
}

TEST_F(ReplaceTest, AChunkOfAHiddenDocumentIsTakenAndNothingIsSaidOfIt) {
    const auto backend = database.open();
    Chunk hidden = part_of("secret", "d#0", "dog");
    hidden.sensitivity = "restricted";
    must(backend->upsert("c", "default", {hidden}, {}));
    WriteOptions options = whole_documents();
    options.principal.clearance = "normal";
    const auto refused = backend->upsert("c", "default", {part_of("d", "d#0", "cat")}, options);
    expect_error(refused, ErrorCode::Conflict, "the chunk id \"d#0\" is taken");
    EXPECT_EQ(refused.error().message.find("secret"), std::string::npos);
}

TEST_F(ReplaceTest, WithoutTheOptionOtherChunksOfTheDocumentStay) {
    const auto backend = database.open();
    must(backend->upsert("c", "default", {part_of("d", "new-1", "cat")}, {}));
    EXPECT_EQ(ids_in(*backend, "c"), (Ids{"both", "elsewhere", "new-1", "old-1"}));
}

TEST_F(ReplaceTest, IsRefusedWholeIfAChunkIsWrong) {
    const auto backend = database.open();
    Chunk wrong = part_of("d", "wrong", "cat");
    wrong.sensitivity = "unheard-of";
    expect_error(
        backend->upsert("c", "default", {part_of("d", "new-1", "cat"), wrong}, whole_documents()),
        ErrorCode::InvalidArgument);
    EXPECT_EQ(ids_in(*backend, "c"), (Ids{"both", "elsewhere", "old-1"}));
}

TEST_F(ReplaceTest, ACollectionOfTheFirstFormatSaysSoBeforeItTakesSuchARecord) {
    auto manifest = DatabaseInMemory::read(*database.collection("c"), "manifest");
    ASSERT_EQ(manifest.at(4), std::byte{3});
    // As format 1 has it: the same bytes under another number and checksum.
    {
        auto old = must(local::read_manifest(manifest, "manifest"));
        old.format = 1;
        must(database.collection("c")->replace("manifest", local::write_manifest(old)));
    }
    {
        const auto backend = database.open();
        must(backend->upsert("c", "default", {part_of("d", "more", "cat")}, {}));
        EXPECT_EQ(DatabaseInMemory::read(*database.collection("c"), "manifest").at(4),
                  std::byte{1});
        must(backend->upsert("c", "default", {part_of("d", "new-1", "cat")}, whole_documents()));
        const auto raised = DatabaseInMemory::read(*database.collection("c"), "manifest");
        EXPECT_EQ(raised.at(4), std::byte{2});
        EXPECT_EQ(must(local::read_manifest(raised, "manifest")),
                  must(local::read_manifest(manifest, "manifest")));
        EXPECT_TRUE(must(backend->check({})).clean());
    }
    EXPECT_EQ(ids_in(*database.open(), "c"), (Ids{"elsewhere", "new-1"}));
}

}  // namespace
}  // namespace braid::testing
