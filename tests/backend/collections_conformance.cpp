#include "backend/conformance.hpp"

namespace braid::testing {
namespace {

TEST_P(BackendConformance, KeepsItsPromises) {
    const Capabilities capabilities = backend().capabilities();
    EXPECT_EQ(capabilities, promised());
}

TEST_P(BackendConformance, ANewBackendHasNoCollections) {
    EXPECT_TRUE(must(backend().collections({})).empty());
    expect_error(backend().describe("c", {}), ErrorCode::NotFound, "\"c\"");
    expect_error(backend().drop_collection("c"), ErrorCode::NotFound, "\"c\"");
    expect_error(backend().upsert("c", "default", {make_chunk("a", "x")}, {}), ErrorCode::NotFound,
                 "\"c\"");
    expect_error(backend().update("c", "default", {{.chunk_id = "a"}}, {}), ErrorCode::NotFound);
    expect_error(backend().remove(scope_of("c"), by_ids({"a"}), {}), ErrorCode::NotFound);
    const Ids names{"c"};
    expect_error(backend().snapshot(names, {}), ErrorCode::NotFound, "\"c\"");
}

TEST_P(BackendConformance, DescribesACollectionAsItWasCreated) {
    Schema schema = vectors_schema(3, Metric::Dot);
    schema.text_fields = {{"content", 1.0}, {"metadata.abstract", 2.5}};
    schema.language = "german";
    schema.bm25 = {.k1 = 1.5, .b = 0.5, .epsilon = 0.1};
    if (GetParam().okapi) schema.bm25.variant = Bm25Variant::Okapi;
    schema.vectors.fingerprint =
        EmbedderFingerprint{.model = "m", .dimension = 3, .runtime = "none"};
    schema.metadata = {{"year", MetadataType::Number}, {"a.b", MetadataType::Date}};
    schema.levels = {.names = {"low", "high"}, .default_level = "low"};
    create(schema, "first");
    const CollectionInfo info = must(backend().describe("first", {}));
    EXPECT_EQ(info.name, "first");
    EXPECT_EQ(info.schema, schema);
    EXPECT_EQ(this->schema(), schema);
    EXPECT_EQ(info.chunks, 0U);
    EXPECT_TRUE(info.namespaces.empty());
    EXPECT_TRUE(info.damage.empty());
}

TEST_P(BackendConformance, RefusesAVariantThatItCannotScore) {
    Schema schema = words_schema();
    schema.bm25.variant = Bm25Variant::Okapi;
    if (GetParam().okapi) {
        must(backend().create_collection("okapi", schema));
    } else {
        expect_error(backend().create_collection("okapi", schema), ErrorCode::Unsupported, "okapi");
    }
}

TEST_P(BackendConformance, ListsCollectionsByName) {
    create(words_schema(), "b");
    create(words_schema(), "a");
    create(words_schema(), "c");
    put({make_chunk("x", "one"), make_chunk("y", "two")}, "beta");
    put({make_chunk("x", "one")}, "alpha");
    const auto infos = must(backend().collections({}));
    ASSERT_EQ(infos.size(), 3U);
    EXPECT_EQ(infos[0].name, "a");
    EXPECT_EQ(infos[1].name, "b");
    EXPECT_EQ(infos[2].name, "c");
    EXPECT_EQ(infos[0].chunks, 0U);
    EXPECT_EQ(infos[2].chunks, 3U);
    EXPECT_EQ(infos[2].documents, 3U);
    EXPECT_EQ(infos[2].namespaces, (Ids{"alpha", "beta"}));
}

TEST_P(BackendConformance, RefusesATakenName) {
    create(words_schema());
    put({make_chunk("a", "kept")});
    expect_error(backend().create_collection("c", words_schema()), ErrorCode::AlreadyExists, "c");
    EXPECT_EQ(find_words("kept"), Ids{"a"});
}

TEST_P(BackendConformance, RefusesNamesThatAreNoFileNames) {
    for (const std::string& name :
         {std::string(), std::string("a/b"), std::string(".."), std::string("a b"),
          std::string("ä"), std::string("a\0b", 3), std::string(101, 'x')}) {
        SCOPED_TRACE(name);
        expect_error(backend().create_collection(name, words_schema()), ErrorCode::InvalidArgument);
    }
    must(backend().create_collection(std::string(100, 'x'), words_schema()));
    EXPECT_EQ(must(backend().collections({})).size(), 1U);
}

TEST_P(BackendConformance, RefusesSchemasThatMakeNoSense) {
    const auto refused = [&](const std::string& part, auto change) {
        Schema schema = vectors_schema(2);
        change(schema);
        expect_error(backend().create_collection("bad", schema), ErrorCode::InvalidArgument, part);
    };
    refused("text field", [](Schema& s) { s.text_fields.clear(); });
    refused("body", [](Schema& s) { s.text_fields = {{"body", 1}}; });
    refused("weight", [](Schema& s) { s.text_fields = {{"content", 0}}; });
    refused("twice", [](Schema& s) { s.text_fields = {{"content", 1}, {"content", 2}}; });
    refused("b", [](Schema& s) { s.bm25.b = 1.5; });
    refused("k1", [](Schema& s) { s.bm25.k1 = -1; });
    refused("level", [](Schema& s) { s.levels.default_level = "secret"; });
    refused("level", [](Schema& s) { s.levels.names.emplace_back("normal"); });
    refused("dimension", [](Schema& s) { s.vectors.dimension = 1'000'000; });
    refused("year", [](Schema& s) {
        s.metadata = {{"year", MetadataType::Number}, {"year", MetadataType::Date}};
    });
    refused("analyzer", [](Schema& s) { s.analyzer = "magic"; });
    refused("klingon", [](Schema& s) {
        s.analyzer = "standard";
        s.language = "klingon";
    });
    EXPECT_TRUE(must(backend().collections({})).empty());
}

TEST_P(BackendConformance, ForgetsADroppedCollection) {
    create(words_schema());
    put({make_chunk("a", "old")});
    const ReaderPtr before = now();
    must(backend().drop_collection("c"));
    EXPECT_TRUE(must(backend().collections({})).empty());
    const Ids names{"c"};
    expect_error(backend().snapshot(names, {}), ErrorCode::NotFound);
    if (promised().snapshots) {
        const Leg leg = words_leg(scope(), {"old"});
        EXPECT_EQ(ids_of(must(before->search_leg(leg))), Ids{"a"});
    }
    create(vectors_schema(2));
    put({make_chunk("b", "new", {1, 0})});
    EXPECT_EQ(all_ids(), Ids{"b"});
    EXPECT_EQ(must(backend().describe("c", {})).schema, vectors_schema(2));
}

TEST_P(BackendConformance, ASnapshotHoldsOnlyTheCollectionsItNames) {
    create(words_schema(), "other");
    create(words_schema());
    const ReaderPtr snapshot = now();
    const ReadScope elsewhere = scope_of("other");
    expect_error(snapshot->count(elsewhere), ErrorCode::NotFound, "other");
    expect_error(snapshot->search_leg(words_leg(elsewhere, {"x"})), ErrorCode::NotFound, "other");
    expect_error(snapshot->schema("other"), ErrorCode::NotFound, "other");
    const Ids names{"c", "missing", "other"};
    expect_error(backend().snapshot(names, {}), ErrorCode::NotFound, "missing");
}

}  // namespace
}  // namespace braid::testing
