#include <algorithm>

#include "backend/conformance.hpp"
#include "backend/dump.hpp"
#include "backend/random_data.hpp"

namespace braid::testing {
namespace {

Chunk labelled(const std::string& id, std::optional<std::string> sensitivity,
               std::vector<std::string> scopes) {
    Chunk chunk = make_chunk(id, "word " + id, {1, 1});
    chunk.sensitivity = std::move(sensitivity);
    chunk.visibility_scope = std::move(scopes);
    return chunk;
}

TEST_P(BackendConformance, APrincipalSeesItsLevelAndItsScopes) {
    create(vectors_schema(2));
    put({labelled("public", "public", {}), labelled("default", std::nullopt, {}),
         labelled("sensitive", "sensitive", {}), labelled("restricted", "restricted", {}),
         labelled("red", "public", {"red"}), labelled("red_blue", "public", {"red", "blue"}),
         labelled("secret_red", "restricted", {"red"})});
    const auto seen = [&](const Principal& principal) { return all_ids(scope(principal)); };
    EXPECT_EQ(seen({}).size(), 7U) << "without configured principals the caller sees everything";
    EXPECT_EQ(seen(reader("public")), Ids{"public"});
    EXPECT_EQ(seen(reader("normal")), (Ids{"default", "public"}));
    EXPECT_EQ(seen(reader("sensitive")), (Ids{"default", "public", "sensitive"}));
    EXPECT_EQ(seen(reader("restricted")), (Ids{"default", "public", "restricted", "sensitive"}));
    EXPECT_EQ(seen(reader("public", {"red"})), (Ids{"public", "red", "red_blue"}));
    EXPECT_EQ(seen(reader("public", {"green", "blue"})), (Ids{"public", "red_blue"}));
    EXPECT_EQ(seen(reader("restricted", {"red"})), (Ids{"default", "public", "red", "red_blue",
                                                        "restricted", "secret_red", "sensitive"}));
    for (const Principal& principal : {reader("public", {"blue"}), reader("normal")}) {
        const ReadScope of = scope(principal);
        const Ids expected = seen(principal);
        EXPECT_EQ(ids_of(search(words_leg(of, {"word"}))), expected);
        EXPECT_EQ(ids_of(search(vector_leg(of, {1, 1}))), expected);
        EXPECT_EQ(must(now()->count(of)), expected.size());
        EXPECT_EQ(must(backend().describe("c", principal)).chunks, expected.size());
    }
}

TEST_P(BackendConformance, LevelsAreThoseOfTheSchema) {
    Schema schema = words_schema();
    schema.levels = {.names = {"low", "high"}, .default_level = "high"};
    create(schema);
    Chunk low = make_chunk("low", "x");
    low.sensitivity = "low";
    put({low, make_chunk("default", "x")});
    EXPECT_EQ(all_ids(scope(reader("low"))), Ids{"low"});
    EXPECT_EQ(all_ids(scope(reader("high"))), (Ids{"default", "low"}));
    expect_error(now()->count(scope(reader("normal"))), ErrorCode::InvalidArgument, "normal");
    ReadScope nowhere = scope(reader("normal"));
    nowhere.namespace_ = "nowhere";
    expect_error(now()->count(nowhere), ErrorCode::InvalidArgument, "normal");
    expect_error(backend().remove(nowhere, by_ids({"low"}), {}), ErrorCode::InvalidArgument,
                 "normal");
    // Someone from elsewhere sees nothing here, and still gets a list of the collections.
    create(words_schema(), "d");
    put({make_chunk("a", "x")});
    const auto infos = must(backend().collections(reader("normal")));
    ASSERT_EQ(infos.size(), 2U);
    EXPECT_EQ(infos[0].chunks, 0U);
    EXPECT_EQ(infos[1].chunks, 1U);
}

TEST_P(BackendConformance, AWriterNeitherReplacesNorLearnsWhatItMayNotSee) {
    create(vectors_schema(2));
    put({labelled("secret", "restricted", {}), labelled("open", "public", {})});
    const WriteOptions by_reader{.principal = reader("normal")};
    const auto write = [&](const std::string& id, const WriteOptions& options) {
        return backend().upsert("c", "default", {labelled(id, "public", {})}, options);
    };
    EXPECT_EQ(must(write("open", by_reader)).replaced, 1U);
    EXPECT_EQ(must(write("new", by_reader)).replaced, 0U);
    const std::string content =
        must(now()->fetch(scope({}), Ids{"secret"}, false))[0].value_or(Chunk()).content;
    // The same words whatever version was expected: they tell nothing but that the id is in use.
    for (const std::optional<Version> version :
         {std::optional<Version>(), std::optional<Version>(0), std::optional<Version>(1)}) {
        WriteOptions options = by_reader;
        options.if_version = version;
        expect_error(write("secret", options), ErrorCode::Conflict, "\"secret\" is taken");
        expect_error(backend().update("c", "default", {{.chunk_id = "secret"}}, options),
                     ErrorCode::NotFound, "secret");
    }
    // All or none.
    expect_error(
        backend().upsert("c", "default",
                         {labelled("other", "public", {}), labelled("secret", "public", {})},
                         by_reader),
        ErrorCode::Conflict, "secret");
    EXPECT_EQ(all_ids(scope({})), (Ids{"new", "open", "secret"}));
    EXPECT_EQ(must(now()->fetch(scope({}), Ids{"secret"}, false))[0].value_or(Chunk()).content,
              content);
    EXPECT_EQ(must(write("secret", {.principal = reader("restricted")})).replaced, 1U);
}

TEST_P(BackendConformance, ALabelChangesWithAnUpdate) {
    create(words_schema());
    put({make_chunk("a", "word")});
    const Principal principal = reader("normal", {"red"});
    MetadataUpdate update{.chunk_id = "a", .sensitivity = "restricted"};
    must(backend().update("c", "default", {update}, {}));
    EXPECT_EQ(all_ids(scope(principal)), Ids{});
    update = {.chunk_id = "a",
              .sensitivity = "public",
              .visibility_scope = std::vector<std::string>{"red"}};
    must(backend().update("c", "default", {update}, {}));
    EXPECT_EQ(all_ids(scope(principal)), Ids{"a"});
    EXPECT_EQ(all_ids(scope(reader("normal"))), Ids{});
    update = {.chunk_id = "a", .visibility_scope = std::vector<std::string>{}};
    must(backend().update("c", "default", {update}, {}));
    EXPECT_EQ(all_ids(scope(reader("normal"))), Ids{"a"});
}

TEST_P(BackendConformance, APrincipalDeletesOnlyWhatItSees) {
    create(words_schema());
    Chunk hidden = make_chunk("hidden", "x");
    hidden.sensitivity = "restricted";
    hidden.document_id = "d";
    Chunk shown = make_chunk("shown", "x");
    shown.document_id = "d";
    put({hidden, shown});
    const Principal principal = reader("normal");
    EXPECT_EQ(erase(by_ids({"hidden"}), principal).written, 0U);
    EXPECT_EQ(erase(by_documents({"d"}), principal).written, 1U);
    EXPECT_EQ(erase(by_filter(Filter::all_of({})), principal).written, 0U);
    EXPECT_EQ(all_ids(), Ids{"hidden"});
    // An error must not tell that there is something, nor its version.
    const WriteOptions if_version{.if_version = 77};
    const auto of_hidden = backend().remove(scope(principal), by_ids({"hidden"}), if_version);
    EXPECT_EQ(erase(by_ids({"hidden"})).written, 1U);
    const auto of_nothing = backend().remove(scope(principal), by_ids({"hidden"}), if_version);
    ASSERT_FALSE(of_hidden.has_value());
    ASSERT_FALSE(of_nothing.has_value());
    EXPECT_EQ(of_hidden.error(), of_nothing.error());
}

TEST_P(BackendConformance, VersionsTellNothingButThatAChunkChanged) {
    create(words_schema());
    std::vector<Version> versions;
    for (int i = 0; i < 64; ++i) versions.push_back(put({make_chunk("a", "word")}).version);
    constexpr Version most = (Version{1} << 53U) - 1;  // what JSON can carry
    EXPECT_TRUE(std::ranges::all_of(versions, [](Version v) { return 0 < v && v <= most; }));
    // Counting up would give away how much was written in between.
    EXPECT_FALSE(std::ranges::is_sorted(versions));
    EXPECT_GT(*std::ranges::max_element(versions), 1'000'000U);
    std::ranges::sort(versions);
    EXPECT_EQ(std::ranges::adjacent_find(versions), versions.end());
    // The same text under the same id, after a delete, is another chunk.
    const Version before = present(get("a")).version;
    erase(by_ids({"a"}));
    put({make_chunk("a", "word")});
    expect_error(try_put({make_chunk("a", "new")}, {.if_version = before}), ErrorCode::Conflict);
}

TEST_P(BackendConformance, AHiddenVectorDoesNotGiveTheDimensionAway) {
    create(vectors_schema(0));
    Chunk hidden = make_chunk("h", "word", {1, 2, 3, 4, 5, 6, 7});
    hidden.sensitivity = "restricted";
    const Principal principal = reader("normal");
    const auto shown = [&](const Principal& to) {
        return must(backend().describe("c", to)).schema.vectors.dimension;
    };
    const std::string before = dump_collections(backend(), principal, "c");
    put({hidden});
    EXPECT_EQ(dump_collections(backend(), principal, "c"), before);
    EXPECT_EQ(shown(principal), 0U);
    EXPECT_EQ(shown({}), 7U);
    EXPECT_EQ(must(backend().collections(principal)).at(0).schema.vectors.dimension, 0U);
    EXPECT_EQ(ids_of(search(vector_leg(scope(principal), {1, 2}))), Ids{});
    // Refused all the same, because a collection has one dimension; which one is not said.
    const auto refused = try_put({make_chunk("v", "word", {1, 2})}, {.principal = principal});
    expect_error(refused, ErrorCode::InvalidArgument, "a vector of 2 dimensions cannot be stored");
    const std::string message = refused ? "" : refused.error().message;
    EXPECT_EQ(message.find('7'), std::string::npos) << message;
    expect_error(try_put({make_chunk("v", "word", {1, 2})}), ErrorCode::InvalidArgument, "7");

    put({make_chunk("v", "word", {1, 2, 3, 4, 5, 6, 7})});
    EXPECT_EQ(shown(principal), 7U);
    expect_error(try_put({make_chunk("w", "word", {1, 2})}, {.principal = principal}),
                 ErrorCode::InvalidArgument, "7");
}

/// What hidden chunks come from, and what is asked while they come and go.
class HiddenTraffic {
public:
    HiddenTraffic(unsigned seed, std::size_t dimension) : random_(seed), dimension_(dimension) {
        plan_.collection = "c";
        plan_.namespaces = {"default", "shared", "hidden", "nowhere"};
        plan_.queries = {"w0 w1 w2", random_.words(4)};
        plan_.vectors = {random_.vector(dimension), random_.real_vector(dimension),
                         random_.vector(dimension + 1)};
        plan_.filters = {random_.filter(), random_.filter(),
                         Filter::compare(Filter::Op::Gt, "chunk_index", "a string")};
        plan_.facet_fields = {"kind",       "year", "tags", "sensitivity", "visibility_scope",
                              "document_id"};
        for (int i = 0; i < 60; i += 3) plan_.chunk_ids.push_back("c" + std::to_string(i));
        for (int i = 0; i < 12; ++i) plan_.chunk_ids.push_back("h" + std::to_string(i));
        for (int i = 0; i < 15; ++i) plan_.documents.push_back("d" + std::to_string(i));
    }

    RandomData& random() { return random_; }
    DumpPlan& plan() { return plan_; }

    /// Visible to nobody below "restricted", or outside the scope "secret".
    Chunk hidden_chunk() {
        Chunk chunk = random_.chunk(dimension_);
        chunk.chunk_id = "h" + std::to_string(random_.below(12));
        if (random_.chance(50)) {
            chunk.sensitivity = "restricted";
        } else {
            chunk.sensitivity = "public";
            chunk.visibility_scope = {"secret"};
        }
        return chunk;
    }
    Chunk visible_chunk() {
        Chunk chunk = random_.chunk(dimension_);
        if (random_.chance(50)) chunk.sensitivity = "public";
        if (chunk.sensitivity == "restricted") chunk.sensitivity = "sensitive";
        chunk.visibility_scope.clear();
        if (random_.chance(30)) chunk.visibility_scope = {"red", "secret"};
        return chunk;
    }

    void change(Backend& backend) {
        const std::string space =
            random_.pick(std::vector<std::string>{"default", "shared", "hidden"});
        const ReadScope scope{.collection = "c", .namespace_ = space};
        if (random_.chance(60)) {
            must(backend.upsert("c", space, {hidden_chunk()}, {}));
            return;
        }
        const std::string id = "h" + std::to_string(random_.below(12));
        if (random_.chance(50)) {
            must(backend.remove(scope, by_ids({id}), {}));
            return;
        }
        MetadataUpdate update = random_.update();
        update.chunk_id = id;
        update.sensitivity = "restricted";
        const auto updated = backend.update("c", space, {update}, {});
        if (!updated) expect_error(updated, ErrorCode::NotFound);
    }

private:
    RandomData random_;
    std::size_t dimension_;
    DumpPlan plan_;
};

TEST_P(BackendConformance, HiddenChunksChangeNothingThatCanBeSeen) {
    if (!promised().scoped_statistics) GTEST_SKIP() << "no scoped_statistics promised";
    for (unsigned seed = 0; seed < 4; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        HiddenTraffic traffic(seed, 3);
        Schema schema = vectors_schema(3, static_cast<Metric>(seed % 3));
        if (seed % 2 == 1) schema.bm25.variant = Bm25Variant::Okapi;
        schema.text_fields = {{"content", 1.0}, {"title", 0.1}, {"metadata.kind", 0.3}};
        create(schema);
        for (int i = 0; i < 30; ++i) {
            put({traffic.visible_chunk()});
            if (i % 3 == 0) put({traffic.visible_chunk()}, "shared");
        }
        const std::vector<Principal> principals{reader("sensitive", {"red"}), reader("public")};
        const auto seen = [&](const Principal& principal) {
            return dump(now(), principal, traffic.plan()) +
                   dump_collections(backend(), principal, "c");
        };
        std::vector<std::string> before;
        before.reserve(principals.size());
        for (const Principal& principal : principals) before.push_back(seen(principal));
        for (int step = 0; step < 25; ++step) {
            traffic.change(backend());
            for (std::size_t i = 0; i < principals.size(); ++i) {
                ASSERT_EQ(seen(principals[i]), before[i]) << "step " << step;
            }
        }
        EXPECT_GT(must(now()->count(scope())), 0U);
        must(backend().drop_collection("c"));
    }
}

TEST_P(BackendConformance, AnswersAreThoseOfADatabaseWithoutTheHiddenChunks) {
    if (!promised().scoped_statistics) GTEST_SKIP() << "no scoped_statistics promised";
    for (unsigned seed = 20; seed < 23; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        HiddenTraffic traffic(seed, 3);
        const std::unique_ptr<Backend> clean = GetParam().make();
        const Schema schema = vectors_schema(0);
        create(schema);
        must(clean->create_collection("c", schema));
        traffic.plan().versions = DumpPlan::Versions::Named;
        for (int i = 0; i < 40; ++i) {
            const Chunk chunk = traffic.visible_chunk();
            put({chunk});
            must(clean->upsert("c", "default", {chunk}, {}));
            traffic.change(backend());
            if (i % 5 == 0) {
                const ReadScope of = scope_of("c", reader("sensitive", {"red"}));
                const DeleteSelector some = by_filter(traffic.random().filter());
                EXPECT_EQ(must(backend().remove(of, some, {})).written,
                          must(clean->remove(of, some, {})).written);
            }
        }
        const Principal principal = reader("sensitive", {"red"});
        const Ids names{"c"};
        EXPECT_EQ(dump(now(), principal, traffic.plan()),
                  dump(must(clean->snapshot(names, {})), principal, traffic.plan()));
        EXPECT_EQ(dump_collections(backend(), principal, "c"),
                  dump_collections(*clean, principal, "c"));
        must(backend().drop_collection("c"));
    }
}

}  // namespace
}  // namespace braid::testing
