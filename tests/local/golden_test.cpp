#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

// Files of a collection as version 1 of the formats has them: written once, never changed here.
// The log holds a record of each kind: a copy, an upsert, one into another namespace, an update, a
// delete.
constexpr std::string_view kManifest =
    "4252444d01000000f2d2aa9bb405344d0a6c6f672d3030303030320102057469746c6500000000000000400763"
    "6f6e74656e74000000000000f03f0673696d706c6507656e676c6973680000333333333333f33f000000000000"
    "e83f000000000000d03f0865787465726e616c020100000104796561720104067075626c6963066e6f726d616c"
    "0973656e7369746976650a72657374726963746564066e6f726d616c";
constexpr std::string_view kLog =
    "62726169646c6f670100000000000000255095de8120d1a801000000000000007391491a1ef83b3ad74252c12f"
    "000000255095de8120d1a8010000000000000028000000000000003631e4f6c2f6dc5a4cff56c57d046be20407"
    "64656661756c7401010000000000000000036f6c64036f6c6408616c6c20676f6e650000020000803f0000803f"
    "d74252c166000000255095de8120d1a80200000000000000870000000000000051e26de00354da78fc979ee8e7"
    "b1ae3f010764656661756c74020b016101610772656420666f780300000000000000055469746c6500401e1824"
    "0a06000002047965617203e8070000000000000474616773060205017800020000803f00000000000162016204"
    "626c7565000002000000000000803fd74252c123000000255095de8120d1a803000000000000001d0100000000"
    "0000f1ee5e9ce28ebecd3f53d7cff1f25f69010674656e616e7401000161016109656c73657768657265000002"
    "0000004000000040d74252c124000000255095de8120d1a804000000000000007001000000000000d7c6f8bbca"
    "95235c0839b65740802604020764656661756c74011001610973656e73697469766502047461677300046d6f72"
    "6502d74252c10c000000255095de8120d1a80500000000000000c40100000000000036f2b4e1d0690ab08db33f"
    "90931d32f2030764656661756c74010162";

std::vector<std::byte> from_hex(std::string_view text) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes.push_back(static_cast<std::byte>(digit(text[i]) * 16 + digit(text[i + 1])));
    }
    return bytes;
}

TEST(Golden, ADatabaseOfVersionOneIsRead) {
    const DatabaseInMemory database;
    must(database.collection("c")->create("manifest", from_hex(kManifest)));
    must(database.collection("c")->create("log-000002", from_hex(kLog)));
    const auto opened = must(database.try_open());
    const auto& backend = opened.backend;
    ASSERT_EQ(opened.notes.size(), 1U);
    EXPECT_NE(opened.notes.front().find("does not record its length"), std::string::npos);

    Schema schema = vectors_schema(2, Metric::Dot);
    schema.text_fields = {{"title", 2}, {"content", 1}};
    schema.metadata = {{"year", MetadataType::Number}};
    EXPECT_EQ(schema_of(*backend, "c"), schema);
    EXPECT_EQ(must(backend->describe("c", {})).namespaces, (Ids{"default", "tenant"}));

    Chunk a = make_chunk("a", "red fox", {1, 0});
    a.document_id = "a";
    a.title = "Title";
    a.chunk_index = 3;
    a.created_at = Timestamp{1'700'000'000'000'000};
    a.metadata = {{"year", 2024}, {"more", true}};
    a.sensitivity = "sensitive";
    a.version = 2'366'266'621'879'595;  // of the fourth record
    Chunk old = make_chunk("old", "all gone", {1, 1});
    old.document_id = "old";
    old.version = 1;
    EXPECT_EQ(must(snapshot_of(*backend, "c")->scan(scope_of("c"), "", 9, true)),
              (std::vector<Chunk>{a, old}));
    const Leg leg = words_leg(scope_of("c"), {"title"});
    EXPECT_EQ(ids_of(must(snapshot_of(*backend, "c")->search_leg(leg))), Ids{"a"});
    EXPECT_EQ(must(backend->upsert("c", "default", {make_chunk("n", "new", {1, 1})}, {})).version,
              6'271'998'939'203'213U);
}

TEST(Golden, ADatabaseOfVersionOneBecomesOneOfSegments) {
    const DatabaseInMemory database;
    must(database.collection("c")->create("manifest", from_hex(kManifest)));
    must(database.collection("c")->create("log-000002", from_hex(kLog)));
    local::LocalOptions options;
    options.flush_on_close_rows = 1;
    std::vector<Chunk> before;
    {
        const auto opened = must(database.try_open(options));
        before = must(snapshot_of(*opened.backend, "c")->scan(scope_of("c"), "", 9, true));
    }
    const auto names = must(database.collection("c")->list());
    EXPECT_TRUE(std::ranges::any_of(names, [](const store::DirectoryEntry& entry) {
        return entry.name.starts_with("segment-");
    }));
    const auto backend = database.open(options);
    EXPECT_EQ(must(snapshot_of(*backend, "c")->scan(scope_of("c"), "", 9, true)), before);
    EXPECT_EQ(must(backend->describe("c", {})).namespaces, (Ids{"default", "tenant"}));
    EXPECT_TRUE(must(backend->check({})).clean());
}

}  // namespace
}  // namespace braid::testing
