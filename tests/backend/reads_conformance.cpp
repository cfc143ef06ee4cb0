#include <algorithm>
#include <chrono>
#include <limits>
#include <stop_token>

#include "backend/conformance.hpp"
#include "backend/random_data.hpp"

namespace braid::testing {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

Chunk part(const std::string& id, const std::string& document, std::optional<std::int64_t> index) {
    Chunk chunk = make_chunk(id, "x");
    chunk.document_id = document;
    chunk.chunk_index = index;
    return chunk;
}

TEST_P(BackendConformance, FetchAnswersInTheOrderAsked) {
    create(words_schema());
    Chunk hidden = make_chunk("hidden", "x");
    hidden.sensitivity = "restricted";
    put({make_chunk("a", "one"), make_chunk("b", "two"), hidden});
    const Ids ids{"b", "missing", "a", "b", "hidden", ""};
    const auto found = must(now()->fetch(scope(reader("normal")), ids, false));
    ASSERT_EQ(found.size(), 6U);
    EXPECT_EQ(present(found[0]).content, "two");
    EXPECT_EQ(found[1], std::nullopt);
    EXPECT_EQ(present(found[2]).content, "one");
    EXPECT_EQ(found[3], found[0]);
    EXPECT_EQ(found[4], std::nullopt);
    EXPECT_EQ(found[5], std::nullopt);
    const Filter only_a = Filter::compare(Filter::Op::Eq, "chunk_id", "a");
    const auto filtered = must(now()->fetch(scope({}, only_a), ids, false));
    EXPECT_EQ(filtered[0], std::nullopt);
    EXPECT_TRUE(filtered[2].has_value());
    EXPECT_TRUE(must(now()->fetch(scope(), {}, false)).empty());
}

TEST_P(BackendConformance, NeighborsAreTheIndicesAround) {
    create(words_schema());
    Chunk hidden = part("hidden", "d", 4);
    hidden.sensitivity = "restricted";
    put({part("z", "d", 3), part("a", "d", 5), part("b", "d", 1), part("c", "d", 2),
         part("twin", "d", 3), part("none", "d", std::nullopt), part("other", "e", 3), hidden,
         part("low", "d", kLowest), part("high", "d", kHighest)});
    const auto around = [&](std::int64_t index, std::size_t before, std::size_t after) {
        return ids_of(
            must(neighbors_of(*now(), scope(reader("normal")), "d", index, before, after)));
    };
    EXPECT_EQ(around(3, 1, 2), (Ids{"c", "twin", "z", "a"}));
    EXPECT_EQ(around(3, 0, 0), (Ids{"twin", "z"}));
    EXPECT_EQ(around(4, 1, 1), (Ids{"twin", "z", "a"})) << "the hidden one is as if it were not";
    EXPECT_EQ(around(100, 1, 1), Ids{});
    EXPECT_EQ(around(kLowest, 10, 10), Ids{"low"});
    EXPECT_EQ(around(kHighest, 10, 10), Ids{"high"});
    EXPECT_EQ(around(kLowest, kAll, kAll), (Ids{"low", "b", "c", "twin", "z", "a", "high"}));
    EXPECT_EQ(around(kHighest, kAll, 0), (Ids{"low", "b", "c", "twin", "z", "a", "high"}));
    EXPECT_EQ(around(0, kAll, kAll), (Ids{"low", "b", "c", "twin", "z", "a", "high"}));
    EXPECT_EQ(around(-1, 0, static_cast<std::size_t>(kHighest)), (Ids{"b", "c", "twin", "z", "a"}));
    EXPECT_TRUE(must(neighbors_of(*now(), scope(), "unknown", 3, 9, 9)).empty());
    const Filter only_a = Filter::compare(Filter::Op::Eq, "chunk_id", "a");
    EXPECT_EQ(ids_of(must(neighbors_of(*now(), scope({}, only_a), "d", 3, 9, 9))), Ids{"a"});
}

TEST_P(BackendConformance, NeighborsFollowAChunkToItsNewDocument) {
    create(words_schema());
    put({part("a", "d", 1), part("b", "d", 2)});
    put({part("a", "e", 7)});
    EXPECT_EQ(ids_of(must(neighbors_of(*now(), scope(), "d", 1, 5, 5))), Ids{"b"});
    EXPECT_EQ(ids_of(must(neighbors_of(*now(), scope(), "e", 7, 5, 5))), Ids{"a"});
}

TEST_P(BackendConformance, FacetsCountValues) {
    create(words_schema());
    const auto with = [](const std::string& id, Value value) {
        Chunk chunk = make_chunk(id, "x");
        chunk.metadata = {{"f", std::move(value)}};
        return chunk;
    };
    put({with("a", "red"), with("b", Array{"red", "red", "blue"}), with("c", 2), with("d", 2.0),
         with("e", true), with("f", nullptr), with("g", Object{{"k", 1}}),
         with("h", Array{nullptr, Array{"red"}, 3}), with("i", "blue"), with("j", "azure"),
         make_chunk("missing", "x")});
    const auto facets = must(now()->facets(scope(), "f", 100));
    const std::vector<FacetCount> expected{{2, 2},    {"blue", 2}, {"red", 2},
                                           {true, 1}, {3, 1},      {"azure", 1}};
    EXPECT_EQ(facets, expected);
    EXPECT_EQ(must(now()->facets(scope(), "metadata.f", 2)),
              std::vector<FacetCount>(expected.begin(), expected.begin() + 2));
    EXPECT_TRUE(must(now()->facets(scope(), "f", 0)).empty());
    EXPECT_TRUE(must(now()->facets(scope(), "absent", 10)).empty());
    const Filter some = Filter::compare(Filter::Op::In, "chunk_id", Array{"a", "c"});
    EXPECT_EQ(must(now()->facets(scope({}, some), "f", 10)),
              (std::vector<FacetCount>{{2, 1}, {"red", 1}}));
    EXPECT_EQ(must(now()->facets(scope({}, some), "sensitivity", 10)),
              (std::vector<FacetCount>{{"normal", 2}}));
}

TEST_P(BackendConformance, FacetsOfNoFieldAreTheFields) {
    create(words_schema());
    const auto with = [](const std::string& id, Object metadata) {
        Chunk chunk = make_chunk(id, "x");
        chunk.metadata = std::move(metadata);
        return chunk;
    };
    put({with("a", {{"kind", "note"}, {"author", Object{{"name", "Ada"}, {"born", nullptr}}}}),
         with("b", {{"kind", Array{"note", "guide"}}, {"author", Object{{"name", "Bob"}}}}),
         with("c", {{"kind", false}, {"tags", Array{}}, {"__proto__", 1}, {"$or", "x"}}),
         with("d", {{"title", "own"}, {"a.b", 2}, {"tags", Array{Array{1}}}}),
         with("e", {{"", 0}, {"metadata", Object{{"kind", 1}}}})});
    const std::vector<FacetCount> expected{{"kind", 3},
                                           {"author.name", 2},
                                           {"__proto__", 1},
                                           {"a.b", 1},
                                           {"metadata.", 1},
                                           {"metadata.$or", 1},
                                           {"metadata.metadata.kind", 1},
                                           {"metadata.title", 1}};
    EXPECT_EQ(must(now()->facets(scope(), "", 100)), expected);
    for (const FacetCount& field : expected) {
        const std::string name = field.value.as_string();
        EXPECT_FALSE(must(now()->facets(scope(), name, 10)).empty()) << name;
        const Filter has = Filter::compare(Filter::Op::Exists, name, true);
        EXPECT_EQ(must(now()->count(scope({}, has))), field.count) << name;
    }
    const Filter some = Filter::compare(Filter::Op::Eq, "kind", "guide");
    EXPECT_EQ(must(now()->facets(scope({}, some), "", 1)),
              (std::vector<FacetCount>{{"author.name", 1}}));
}

TEST_P(BackendConformance, FacetsKeepLargeNumbersApart) {
    create(words_schema());
    const std::int64_t large = std::int64_t{1} << 53;
    std::vector<Chunk> chunks;
    for (int i = 0; i < 3; ++i) {
        Chunk chunk = make_chunk("i" + std::to_string(i), "x");
        chunk.metadata = {{"f", large + i}};
        chunks.push_back(chunk);
    }
    Chunk as_double = make_chunk("d", "x");
    as_double.metadata = {{"f", static_cast<double>(large)}};
    chunks.push_back(as_double);
    put(chunks);
    EXPECT_EQ(must(now()->facets(scope(), "f", 10)),
              (std::vector<FacetCount>{{large, 2}, {large + 1, 1}, {large + 2, 1}}));
}

TEST_P(BackendConformance, ScanPagesThroughEverythingInIdOrder) {
    create(vectors_schema(2));
    std::vector<Chunk> chunks;
    Ids expected;
    for (int i = 0; i < 100; ++i) {
        chunks.push_back(make_chunk("c" + std::to_string(i), "x", {1, static_cast<float>(i)}));
        expected.push_back(chunks.back().chunk_id);
    }
    std::ranges::sort(expected);
    put(chunks);
    const ReaderPtr snapshot = now();
    Ids seen;
    for (std::string after; true;) {
        const auto page = must(snapshot->scan(scope(), after, 7, true));
        if (page.empty()) break;
        EXPECT_LE(page.size(), 7U);
        for (const Chunk& chunk : page) {
            seen.push_back(chunk.chunk_id);
            EXPECT_EQ(chunk.vector.size(), 2U);
        }
        after = page.back().chunk_id;
        put({make_chunk(after + "x", "added meanwhile", {1, 1})});
    }
    if (promised().snapshots) {
        EXPECT_EQ(seen, expected);
    }
    EXPECT_TRUE(must(snapshot->scan(scope(), "", 0, false)).empty());
    EXPECT_TRUE(must(snapshot->scan(scope(), "zzz", 10, false)).empty());
    EXPECT_TRUE(must(snapshot->scan(scope(), "", 1, false)).at(0).vector.empty());
}

TEST_P(BackendConformance, StatsDescribeWhatIsThere) {
    Schema schema = vectors_schema(2);
    schema.text_fields = {{"content", 1.0}, {"title", 0.1}};
    create(schema);
    EXPECT_EQ(must(now()->stats(scope())).chunks, 0U);
    Model model(schema);
    RandomData random(3);
    std::vector<Chunk> chunks;
    for (int i = 0; i < 50; ++i) {
        chunks.push_back(random.chunk(2));
        chunks.back().chunk_id = "c" + std::to_string(i);
        model.upsert("default", chunks.back());
    }
    put(chunks);
    for (const auto& filter : {std::optional<Filter>(), std::optional(random.filter())}) {
        const ReadScope of = scope(reader("sensitive", {"red"}), filter);
        const CollectionStats stats = must(now()->stats(of));
        const CollectionStats expected = model.stats(of);
        EXPECT_EQ(stats.chunks, expected.chunks);
        EXPECT_EQ(stats.documents, expected.documents);
        EXPECT_EQ(stats.vectors, expected.vectors);
        if (promised().live_df) {
            EXPECT_EQ(stats.terms, expected.terms);
        }
        if (promised().exact_lengths) {
            EXPECT_EQ(stats.average_length, expected.average_length);
        } else {  // summed in another order
            EXPECT_DOUBLE_EQ(stats.average_length, expected.average_length);
        }
    }
}

TEST_P(BackendConformance, AnUnknownNamespaceIsAnEmptyOne) {
    create(vectors_schema(2));
    put({make_chunk("a", "word", {1, 0})});
    ReadScope nowhere = scope();
    nowhere.namespace_ = "nowhere";
    const Ids ids{"a"};
    EXPECT_EQ(must(now()->count(nowhere)), 0U);
    expect_matched(search(words_leg(nowhere, {"word"})), 0);
    expect_matched(search(vector_leg(nowhere, {1, 0})), 0);
    EXPECT_EQ(must(now()->fetch(nowhere, ids, true)).at(0), std::nullopt);
    EXPECT_EQ(must(now()->score(words_leg(nowhere, {"word"}), ids)).at(0), std::nullopt);
    if (promised().whole_ranking) {
        EXPECT_EQ(must(now()->rank_of(words_leg(nowhere, {"word"}), ids)).at(0), std::nullopt);
    }
    EXPECT_TRUE(must(now()->scan(nowhere, "", 9, true)).empty());
    EXPECT_EQ(must(backend().remove(nowhere, by_ids({"a"}), {})).written, 0U);
    EXPECT_EQ(all_ids(), Ids{"a"});
}

TEST_P(BackendConformance, ReadsGiveUpWhenToldTo) {
    create(vectors_schema(2));
    Chunk chunk = make_chunk("a", "word", {1, 0});
    chunk.document_id = "d";
    chunk.chunk_index = 0;
    put({chunk});
    const CallLimits late = late_call();
    const CallLimits stopped = stopped_call();
    const CallLimits patient = patient_call();
    const Ids ids{"a"};
    const auto expect_limits = [&](const auto& read) {
        expect_error(read(late), ErrorCode::DeadlineExceeded);
        expect_error(read(stopped), ErrorCode::Cancelled);
        must(read(patient));
    };
    using Limits = CallLimits;
    expect_limits([&](const Limits& l) { return now()->with(l)->fetch(scope(), ids, true); });
    expect_limits(
        [&](const Limits& l) { return neighbors_of(*now()->with(l), scope(), "d", 0, 1, 1); });
    expect_limits([&](const Limits& l) { return now()->with(l)->count(scope()); });
    expect_limits([&](const Limits& l) { return now()->with(l)->facets(scope(), "chunk_id", 9); });
    expect_limits([&](const Limits& l) { return now()->with(l)->stats(scope()); });
    expect_limits([&](const Limits& l) { return now()->with(l)->scan(scope(), "", 9, true); });
    for (const Leg& leg : {words_leg(scope(), {"word"}), vector_leg(scope(), {1, 0})}) {
        expect_limits([&](const Limits& l) { return now()->with(l)->score(leg, ids); });
        if (!promised().whole_ranking) continue;
        expect_limits([&](const Limits& l) { return now()->with(l)->rank_of(leg, ids); });
    }
}

}  // namespace
}  // namespace braid::testing
