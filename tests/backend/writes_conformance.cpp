#include <limits>

#include "backend/conformance.hpp"
#include "backend/random_data.hpp"

namespace braid::testing {
namespace {

TEST_P(BackendConformance, KeepsEveryFieldOfAChunk) {
    create(vectors_schema(2));
    Chunk chunk = make_chunk("id", "some words", {0.25F, -3});
    chunk.document_id = "document";
    chunk.chunk_index = std::numeric_limits<std::int64_t>::min();
    chunk.title = "";
    chunk.section_title = "Überschrift";
    chunk.metadata = {{"n", std::numeric_limits<std::int64_t>::max()},
                      {"d", 0.1},
                      {"null", nullptr},
                      {"list", Array{1, "two", false, Array{}, Object{}}},
                      {"deep", Object{{"er", Object{{"é", 1}}}}}};
    chunk.created_at = Timestamp{-1};
    chunk.sensitivity = "public";
    chunk.visibility_scope = {"b", "a", "b"};
    const WriteReport report = put({chunk});
    EXPECT_EQ(report.written, 1U);
    EXPECT_EQ(report.replaced, 0U);
    EXPECT_GT(report.version, 0U);
    chunk.version = report.version;
    EXPECT_EQ(get("id"), chunk);

    const Ids ids{"id"};
    chunk.vector.clear();
    EXPECT_EQ(must(now()->fetch(scope(), ids, false)).at(0), chunk);
}

TEST_P(BackendConformance, AFilterOfEverythingDropsOneNamespace) {
    create(vectors_schema(2));
    Chunk hidden = make_chunk("h", "red secret", {1, 1});
    hidden.sensitivity = "restricted";
    put({make_chunk("a", "red hen", {1, 0}), make_chunk("b", "red dog", {0, 1}), hidden});
    put({make_chunk("a", "red cat", {1, 1})}, "tenant");
    ReadScope tenant = scope();
    tenant.namespace_ = "tenant";
    const ReaderPtr before = now();
    EXPECT_EQ(erase(by_filter(Filter{}), {"low", "normal", {}}).written, 2U);
    EXPECT_EQ(all_ids(), Ids{"h"}) << "who does not see all deletes what it sees";
    EXPECT_EQ(erase(by_filter(Filter{})).written, 1U);
    EXPECT_EQ(all_ids(), Ids{});
    EXPECT_EQ(find_words("red"), Ids{});
    EXPECT_EQ(find_near({1, 1}), Ids{});
    EXPECT_EQ(must(now()->stats(scope())).terms, 0U);
    EXPECT_EQ(all_ids(tenant), Ids{"a"});
    if (promised().snapshots) {
        EXPECT_EQ(must(before->count(scope())), 3U);
    }
    const WriteReport nothing = erase(by_filter(Filter{}));
    EXPECT_EQ(nothing.written, 0U);
    EXPECT_EQ(nothing.version, 0U);
    put({make_chunk("b", "red again", {0, 1})});
    EXPECT_EQ(find_words("red"), Ids{"b"});
    EXPECT_EQ(find_near({1, 1}), Ids{"b"});
    if (promised().live_df) {
        EXPECT_EQ(must(now()->stats(scope())).terms, 2U);
    }
}

TEST_P(BackendConformance, WhatHasExpiredChangesNothing) {
    if (!promised().expiry) GTEST_SKIP() << "chunks do not expire here";
    const Timestamp long_ago{1'000'000};
    const Timestamp far_off{4'000'000'000'000'000};
    create(vectors_schema(2), "other");
    put({make_chunk("b", "red hen hen", {1, 0}), make_chunk("c", "red dog", {0, 1})});
    const auto expected = search(words_leg(scope(), {"red hen"}));
    const CollectionStats stats = must(now()->stats(scope()));

    create(vectors_schema(2));
    Chunk gone = make_chunk("a", "red hen vulpecula", {1, 1});
    gone.expires_at = long_ago;
    gone.metadata = {{"kind", "x"}};
    Chunk staying = make_chunk("b", "red hen hen", {1, 0});
    staying.expires_at = far_off;
    EXPECT_EQ(put({gone, staying, make_chunk("c", "red dog", {0, 1})}).written, 3U);

    EXPECT_EQ(all_ids(), (Ids{"b", "c"}));
    EXPECT_EQ(present(get("b")).expires_at, far_off);
    EXPECT_EQ(get("a"), std::nullopt);
    EXPECT_EQ(find_words("vulpecula"), Ids{});
    EXPECT_EQ(find_near({1, 1}).size(), 2U);
    EXPECT_EQ(must(now()->count(scope())), 2U);
    EXPECT_TRUE(must(now()->facets(scope(), "kind", 10)).empty());
    EXPECT_TRUE(must(now()->suggest(scope(), "vulpeculaa", 5)).empty());
    EXPECT_EQ(must(backend().describe("c", {})).chunks, 2U);
    if (promised().live_df) {
        EXPECT_EQ(search(words_leg(scope(), {"red hen"})).hits, expected.hits);
        EXPECT_EQ(must(now()->stats(scope())).terms, stats.terms);
        EXPECT_EQ(must(now()->stats(scope())).average_length, stats.average_length);
    }
    expect_error(backend().update("c", "default", {{.chunk_id = "a", .metadata = {{"k", 1}}}}, {}),
                 ErrorCode::NotFound);
    EXPECT_EQ(erase(by_ids({"a"})).written, 0U);
    EXPECT_EQ(must(try_put({make_chunk("a", "red", {1, 1})}, {.if_version = 0})).replaced, 0U);
    EXPECT_EQ(all_ids(), (Ids{"a", "b", "c"}));
}

TEST_P(BackendConformance, SkipsWhatIsUnchangedIfToldSo) {
    if (!promised().skips_unchanged) GTEST_SKIP() << "what is unchanged is written again";
    create(vectors_schema(2));
    const std::vector<Chunk> chunks{make_chunk("a", "red", {1, 0}), make_chunk("b", "hen", {0, 1})};
    const WriteReport first = put(chunks);
    const WriteOptions skip{.skip_unchanged = true};
    WriteReport again = must(try_put(chunks, skip));
    EXPECT_EQ(again.written, 0U);
    EXPECT_EQ(again.unchanged, 2U);
    EXPECT_EQ(again.version, 0U);
    EXPECT_EQ(present(get("a")).version, first.version);

    auto changed = chunks;
    changed[1].metadata = {{"k", 1}};
    again = must(try_put(changed, skip));
    EXPECT_EQ(again.written, 1U);
    EXPECT_EQ(again.replaced, 1U);
    EXPECT_EQ(again.unchanged, 1U);
    EXPECT_EQ(present(get("a")).version, first.version);
    EXPECT_EQ(present(get("b")).version, again.version);

    changed[0].vector = {0.5F, 0};
    EXPECT_EQ(must(try_put(changed, skip)).unchanged, 1U);
    EXPECT_EQ(put(changed).written, 2U);  // without being told
}

TEST_P(BackendConformance, RefusesNewIdsWithControlCharacters) {
    create(words_schema());
    for (const std::string& id : {std::string("a\0b", 3), std::string("\0", 1), std::string("a\nb"),
                                  std::string("a\x1f"), std::string("\x7f")}) {
        const auto refused = [&](const Chunk& chunk, std::string_view what) {
            expect_error(backend().upsert("c", "default", {chunk}, {}), ErrorCode::InvalidArgument,
                         std::string(what) + " holds the control character U+00");
        };
        refused(make_chunk(id, "x"), "chunk_id");
        Chunk of_document = make_chunk("a", "x");
        of_document.document_id = id;
        refused(of_document, "document_id");
        Chunk scoped = make_chunk("a", "x");
        scoped.visibility_scope = {id};
        refused(scoped, "visibility_scope");
        expect_error(backend().upsert("c", id, {make_chunk("a", "x")}, {}),
                     ErrorCode::InvalidArgument, "namespace holds the control character U+00");
    }
    put({make_chunk("a b \u00a0 é 狐", "any other")});
    EXPECT_EQ(find_words("other"), Ids{"a b \u00a0 é 狐"});
}

TEST_P(BackendConformance, AChunkWithoutADocumentIsItsOwn) {
    create(words_schema());
    put({make_chunk("alone", "x")});
    EXPECT_EQ(present(get("alone")).document_id, "alone");
}

TEST_P(BackendConformance, ReplacesAChunkWhole) {
    create(vectors_schema(2));
    Chunk old = make_chunk("a", "red", {1, 0});
    old.title = "old";
    old.metadata = {{"kept", true}};
    const WriteReport first = put({old, make_chunk("b", "red", {1, 0})});
    const WriteReport second = put({make_chunk("a", "blue", {0, 1}), make_chunk("n", "", {1, 1})});
    EXPECT_EQ(second.written, 2U);
    EXPECT_EQ(second.replaced, 1U);
    EXPECT_NE(second.version, first.version);
    EXPECT_EQ(present(get("a")).title, std::nullopt);
    EXPECT_TRUE(present(get("a")).metadata.empty());
    EXPECT_EQ(present(get("a")).version, second.version);
    EXPECT_EQ(present(get("b")).version, first.version);
    EXPECT_EQ(find_words("red"), Ids{"b"});
    EXPECT_EQ(find_words("blue"), Ids{"a"});
    EXPECT_EQ(find_near({0, 1}), (Ids{"a", "n", "b"}));
}

TEST_P(BackendConformance, WritesOnlyIfTheVersionsAreTheExpectedOnes) {
    create(words_schema());
    const WriteReport first = must(try_put({make_chunk("a", "one")}, {.if_version = 0}));
    expect_error(try_put({make_chunk("a", "two")}, {.if_version = 0}), ErrorCode::Conflict, "a");
    expect_error(try_put({make_chunk("b", "two")}, {.if_version = first.version}),
                 ErrorCode::Conflict, "b");
    // One chunk that fits does not save the batch.
    expect_error(try_put({make_chunk("new", "two"), make_chunk("a", "two")}, {.if_version = 0}),
                 ErrorCode::Conflict, "a");
    EXPECT_EQ(all_ids(), Ids{"a"});
    EXPECT_EQ(present(get("a")).content, "one");

    const WriteReport second =
        must(try_put({make_chunk("a", "two")}, {.if_version = first.version}));
    EXPECT_NE(second.version, first.version);
    expect_error(try_put({make_chunk("a", "three")}, {.if_version = first.version}),
                 ErrorCode::Conflict);
    EXPECT_EQ(present(get("a")).content, "two");

    erase(by_ids({"a"}));
    const WriteReport again = must(try_put({make_chunk("a", "back")}, {.if_version = 0}));
    EXPECT_NE(again.version, first.version) << "versions never repeat";
    EXPECT_NE(again.version, second.version) << "versions never repeat";
}

TEST_P(BackendConformance, UpdatesAndDeletesOnlyIfTheVersionsAreTheExpectedOnes) {
    create(words_schema());
    const Version old = put({make_chunk("a", "one"), make_chunk("b", "one")}).version;
    const Version newer = put({make_chunk("b", "two")}).version;
    const WriteOptions if_old{.if_version = old};
    const MetadataUpdate change_a{.chunk_id = "a", .metadata = {{"k", 1}}};
    const MetadataUpdate change_b{.chunk_id = "b", .metadata = {{"k", 1}}};
    expect_error(backend().update("c", "default", {change_a, change_b}, if_old),
                 ErrorCode::Conflict, "b");
    EXPECT_TRUE(present(get("a")).metadata.empty());
    const Version changed = must(backend().update("c", "default", {change_a}, if_old)).version;
    EXPECT_NE(changed, newer);
    EXPECT_EQ(present(get("a")).version, changed);

    expect_error(backend().remove(scope(), by_ids({"a", "b"}), {.if_version = changed}),
                 ErrorCode::Conflict, "b");
    expect_error(backend().remove(scope(), by_documents({"a"}), if_old), ErrorCode::Conflict);
    const Filter all = Filter::all_of({});
    expect_error(backend().remove(scope(), by_filter(all), {.if_version = changed}),
                 ErrorCode::Conflict);
    expect_error(backend().remove(scope(), by_ids({"unknown"}), if_old), ErrorCode::Conflict);
    ReadScope nowhere = scope();
    nowhere.namespace_ = "nowhere";
    expect_error(backend().remove(nowhere, by_ids({"a"}), if_old), ErrorCode::Conflict);
    EXPECT_EQ(all_ids().size(), 2U);
    must(backend().remove(scope(), by_ids({"a"}), {.if_version = changed}));
    EXPECT_EQ(all_ids(), Ids{"b"});
}

TEST_P(BackendConformance, AnEmptyBatchChangesNothing) {
    create(words_schema());
    EXPECT_EQ(put({}).version, 0U);
    EXPECT_EQ(must(backend().update("c", "default", {}, {})).written, 0U);
    EXPECT_EQ(must(now()->count(scope())), 0U);
}

TEST_P(BackendConformance, RefusesAWholeBatchForOneBadChunk) {
    Schema schema = vectors_schema(2);
    schema.metadata = {{"year", MetadataType::Number}, {"when", MetadataType::Date}};
    create(schema);
    const auto refused = [&](const std::string& part, auto change) {
        Chunk bad = make_chunk("bad", "words", {1, 2});
        change(bad);
        const auto result = try_put({make_chunk("good", "words", {1, 2}), bad});
        expect_error(result, ErrorCode::InvalidArgument, part);
    };
    refused("chunk_id", [](Chunk& c) { c.chunk_id = ""; });
    refused("512", [](Chunk& c) { c.chunk_id = std::string(513, 'x'); });
    refused("512", [](Chunk& c) { c.document_id = std::string(513, 'x'); });
    refused("UTF-8", [](Chunk& c) { c.chunk_id = "\xff"; });
    refused("content", [](Chunk& c) { c.content = "\xc0\x80"; });
    refused("title", [](Chunk& c) { c.title = "\xed\xa0\x80"; });
    refused("section_title", [](Chunk& c) { c.section_title = "\xff"; });
    refused("metadata", [](Chunk& c) { c.metadata = {{"k", Array{"\xff"}}}; });
    refused("metadata", [](Chunk& c) { c.metadata = {{"k", Object{{"\xff", 1}}}}; });
    refused("metadata", [](Chunk& c) {
        c.metadata = {{"k", Array{std::numeric_limits<double>::quiet_NaN()}}};
    });
    refused("metadata",
            [](Chunk& c) { c.metadata = {{"k", -std::numeric_limits<double>::infinity()}}; });
    refused("year", [](Chunk& c) { c.metadata = {{"year", "2020"}}; });
    refused("year", [](Chunk& c) { c.metadata = {{"year", Array{2020, "2021"}}}; });
    refused("when", [](Chunk& c) { c.metadata = {{"when", "yesterday"}}; });
    refused("secret", [](Chunk& c) { c.sensitivity = "secret"; });
    refused("visibility_scope", [](Chunk& c) { c.visibility_scope = {"a", ""}; });
    refused("vector", [](Chunk& c) { c.vector = {}; });
    refused("3 dimensions", [](Chunk& c) { c.vector = {1, 2, 3}; });
    refused("element 1", [](Chunk& c) { c.vector[1] = std::numeric_limits<float>::quiet_NaN(); });
    refused("element 0", [](Chunk& c) { c.vector[0] = std::numeric_limits<float>::infinity(); });
    refused("zeros", [](Chunk& c) { c.vector = {0, 0}; });
    refused("twice", [](Chunk& c) { c.chunk_id = "good"; });
    EXPECT_EQ(must(now()->count(scope())), 0U);
    EXPECT_TRUE(find_words("words").empty());
    EXPECT_TRUE(find_near({1, 2}).empty());

    put({make_chunk(std::string(512, 'x'), "words", {1, 2})});
    expect_error(try_put({make_chunk("a", "x", {1, 2})}, {}, ""), ErrorCode::InvalidArgument,
                 "namespace");
    expect_error(try_put({make_chunk("a", "x", {1, 2})}, {}, std::string(600, 'n')),
                 ErrorCode::InvalidArgument, "namespace");
}

TEST_P(BackendConformance, RefusesMetadataNestedTooDeeplyToBeReadBack) {
    create(words_schema());
    const auto nested = [](int levels) {
        Value value = 1;
        for (int i = 0; i < levels; ++i) value = Array{std::move(value)};
        Chunk chunk = make_chunk("deep", "x");
        chunk.metadata = {{"k", std::move(value)}};
        return chunk;
    };
    expect_error(try_put({nested(2000)}), ErrorCode::InvalidArgument, "metadata");
    put({nested(100)});
    expect_error(
        backend().update("c", "default", {{"deep", nested(2000).metadata, {}, {}, {}}}, {}),
        ErrorCode::InvalidArgument, "metadata");
    EXPECT_EQ(present(get("deep")).metadata, nested(100).metadata);
}

TEST_P(BackendConformance, ACollectionWithoutVectorsTakesNone) {
    create(words_schema());
    expect_error(try_put({make_chunk("a", "x", {1})}), ErrorCode::InvalidArgument, "external");
    put({make_chunk("a", "x")});
    expect_error(now()->search_leg(vector_leg(scope(), {1})), ErrorCode::InvalidArgument,
                 "vectors");
}

TEST_P(BackendConformance, TheFirstVectorSetsTheDimension) {
    create(vectors_schema(0));
    expect_error(try_put({make_chunk("a", "x", {1, 2, 3}), make_chunk("b", "x", {1, 2})}),
                 ErrorCode::InvalidArgument, "dimensions");
    expect_error(try_put({make_chunk("a", "x", std::vector<float>(70'000, 1.0F))}),
                 ErrorCode::InvalidArgument, "dimension");
    EXPECT_EQ(schema().vectors.dimension, 0U);
    put({make_chunk("a", "x", {1, 2, 3})}, "one");
    EXPECT_EQ(schema().vectors.dimension, 3U);
    EXPECT_EQ(must(backend().describe("c", {})).schema.vectors.dimension, 3U);
    expect_error(try_put({make_chunk("a", "x", {1, 2})}, {}, "another"), ErrorCode::InvalidArgument,
                 "dimensions");
    put({make_chunk("a", "x", {3, 2, 1})}, "another");
}

TEST_P(BackendConformance, VectorsOfAnotherEmbedderAreAConflict) {
    Schema schema = vectors_schema(2);
    const EmbedderFingerprint mine{.model = "mine", .dimension = 2, .runtime = "one"};
    const EmbedderFingerprint other{.model = "other", .dimension = 2};
    EmbedderFingerprint mine_elsewhere = mine;
    mine_elsewhere.runtime = "two";
    schema.vectors.fingerprint = mine;
    create(schema);
    expect_error(try_put({make_chunk("a", "x", {1, 2})}, {.vectors_by = other}),
                 ErrorCode::Conflict, "other");
    EXPECT_TRUE(all_ids().empty());
    must(try_put({make_chunk("a", "x", {1, 2})}, {.vectors_by = mine}));
    must(try_put({make_chunk("b", "x", {1, 2})}, {.vectors_by = mine_elsewhere}));
    must(try_put({make_chunk("c", "x", {1, 2})}));
}

TEST_P(BackendConformance, MergesMetadataAsRfc7396Does) {
    create(vectors_schema(2));
    Chunk chunk = make_chunk("a", "text", {1, 0});
    chunk.title = "title";
    chunk.metadata = {
        {"gone", 1}, {"kept", 2}, {"deep", Object{{"gone", 1}, {"kept", 2}}}, {"flat", "string"}};
    chunk.sensitivity = "public";
    const Version first = put({chunk}).version;
    MetadataUpdate update{.chunk_id = "a"};
    update.metadata = {{"gone", nullptr},
                       {"never_there", nullptr},
                       {"deep", Object{{"gone", nullptr}, {"new", Array{nullptr}}}},
                       {"flat", Object{{"now", "an object"}, {"no", nullptr}}},
                       {"list", Array{1, 2}}};
    update.created_at = Timestamp{5};
    update.visibility_scope = std::vector<std::string>{"team"};
    const WriteReport report = must(backend().update("c", "default", {update}, {}));
    EXPECT_EQ(report.written, 1U);
    EXPECT_NE(report.version, first);
    chunk.document_id = "a";
    chunk.metadata = {{"kept", 2},
                      {"deep", Object{{"kept", 2}, {"new", Array{nullptr}}}},
                      {"flat", Object{{"now", "an object"}}},
                      {"list", Array{1, 2}}};
    chunk.created_at = Timestamp{5};
    chunk.visibility_scope = {"team"};
    chunk.version = report.version;
    EXPECT_EQ(get("a"), chunk);
    EXPECT_EQ(find_words("text"), Ids{"a"});
    EXPECT_EQ(find_near({1, 0}), Ids{"a"});
}

TEST_P(BackendConformance, AnUpdateIsRefusedWhole) {
    Schema schema = words_schema();
    schema.metadata = {{"year", MetadataType::Number}};
    create(schema);
    put({make_chunk("a", "x"), make_chunk("b", "x")});
    const MetadataUpdate good{.chunk_id = "a", .metadata = {{"k", 1}}};
    const auto refused = [&](ErrorCode code, const std::string& part, MetadataUpdate bad) {
        expect_error(backend().update("c", "default", {good, std::move(bad)}, {}), code, part);
    };
    refused(ErrorCode::NotFound, "unknown", {.chunk_id = "unknown"});
    refused(ErrorCode::InvalidArgument, "twice", good);
    refused(ErrorCode::InvalidArgument, "year", {.chunk_id = "b", .metadata = {{"year", "x"}}});
    refused(ErrorCode::InvalidArgument, "secret", {.chunk_id = "b", .sensitivity = "secret"});
    refused(ErrorCode::InvalidArgument, "metadata", {.chunk_id = "b", .metadata = {{"k", "\xff"}}});
    expect_error(backend().update("c", "elsewhere", {good}, {}), ErrorCode::NotFound, "a");
    EXPECT_TRUE(present(get("a")).metadata.empty());
}

TEST_P(BackendConformance, AnUpdateReachesTextThatIsSearched) {
    Schema schema = words_schema();
    schema.text_fields = {{"content", 1}, {"metadata.info.abstract", 1}};
    create(schema);
    put({make_chunk("a", "x"), make_chunk("b", "x")});
    const MetadataUpdate update{.chunk_id = "a",
                                .metadata = {{"info", Object{{"abstract", "needle"}}}}};
    must(backend().update("c", "default", {update}, {}));
    EXPECT_EQ(find_words("needle"), Ids{"a"});
    must(
        backend().update("c", "default", {{.chunk_id = "a", .metadata = {{"info", nullptr}}}}, {}));
    EXPECT_TRUE(find_words("needle").empty());
}

TEST_P(BackendConformance, DeletesByIdDocumentAndFilter) {
    create(vectors_schema(2));
    const auto in_document = [](const std::string& id, const std::string& document, int year) {
        Chunk chunk = make_chunk(id, "word", {1, 1});
        chunk.document_id = document;
        chunk.metadata = {{"year", year}};
        return chunk;
    };
    put({in_document("a", "x", 1), in_document("b", "x", 2), in_document("c", "y", 3),
         in_document("d", "y", 4), in_document("e", "z", 4), in_document("f", "z", 5)});
    put({in_document("a", "x", 1)}, "other");
    EXPECT_EQ(erase(by_ids({"a", "unknown", "a"})).written, 1U);
    EXPECT_EQ(erase(by_ids({"a"})).written, 0U);
    EXPECT_EQ(erase(by_ids({"a"})).version, 0U);
    EXPECT_EQ(erase(by_documents({"y", "unknown", "y"})).written, 2U);
    EXPECT_EQ(erase(by_filter(Filter::compare(Filter::Op::Gte, "year", 5))).written, 1U);
    EXPECT_EQ(all_ids(), (Ids{"b", "e"}));
    EXPECT_EQ(find_words("word"), (Ids{"b", "e"}));
    EXPECT_EQ(find_near({1, 1}), (Ids{"b", "e"}));
    EXPECT_EQ(get("a"), std::nullopt);
    ReadScope other = scope();
    other.namespace_ = "other";
    EXPECT_EQ(all_ids(other), Ids{"a"});

    expect_error(backend().remove(scope(), {}, {}), ErrorCode::InvalidArgument, "delete");
    expect_error(backend().remove(scope(), {.chunk_ids = {"b"}, .document_ids = {"z"}}, {}),
                 ErrorCode::InvalidArgument, "exactly one");
    const ReadScope filtered = scope({}, Filter::compare(Filter::Op::Eq, "year", 99));
    EXPECT_EQ(must(backend().remove(filtered, by_ids({"b"}), {})).written, 1U);
    EXPECT_EQ(erase(by_filter(Filter::all_of({}))).written, 1U);
    EXPECT_TRUE(all_ids().empty());
}

TEST_P(BackendConformance, ADeleteWithABadFilterFailsInEveryNamespace) {
    create(words_schema());
    const Filter bad = Filter::compare(Filter::Op::Eq, "chunk_index", "three");
    ReadScope nowhere = scope();
    nowhere.namespace_ = "nowhere";
    expect_error(backend().remove(nowhere, by_filter(bad), {}), ErrorCode::InvalidArgument,
                 "chunk_index");
    put({make_chunk("a", "x")});
    expect_error(backend().remove(scope(), by_filter(bad), {}), ErrorCode::InvalidArgument,
                 "chunk_index");
}

TEST_P(BackendConformance, NamespacesHaveTheirOwnChunksAndStatistics) {
    create(vectors_schema(2));
    put({make_chunk("a", "rare common", {1, 0}), make_chunk("b", "common", {0, 1})}, "left");
    put({make_chunk("a", "rare rare", {0, 1})}, "right");
    for (int i = 0; i < 20; ++i) {
        put({make_chunk("r" + std::to_string(i), "rare filler filler", {1, 1})}, "right");
    }
    Model both = model_of(vectors_schema(2));
    both.upsert("left", make_chunk("a", "rare common", {1, 0}));
    both.upsert("left", make_chunk("b", "common", {0, 1}));
    both.upsert("right", make_chunk("a", "rare rare", {0, 1}));
    for (int i = 0; i < 20; ++i) {
        both.upsert("right", make_chunk("r" + std::to_string(i), "rare filler filler", {1, 1}));
    }
    ReadScope in_left = scope();
    in_left.namespace_ = "left";
    const Leg leg = words_leg(in_left, {"rare common"});
    expect_list(leg, both);
    EXPECT_EQ(must(now()->stats(in_left)).chunks, 2U);
    EXPECT_EQ(must(now()->stats(in_left)).average_length, 1.5);
    EXPECT_EQ(must(now()->count(scope())), 0U) << "the default namespace is empty";
    EXPECT_EQ(must(backend().describe("c", {})).namespaces, (Ids{"left", "right"}));
    must(backend().remove(in_left, by_ids({"a", "b"}), {}));
    EXPECT_EQ(must(backend().describe("c", {})).namespaces, Ids{"right"});
}

}  // namespace
}  // namespace braid::testing
