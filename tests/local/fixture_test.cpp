// A collection as the version named by its folder has left it, kept for all later ones to read.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backend/dump.hpp"
#include "backend/helpers.hpp"
#include "braid/local/backend.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

constexpr Timestamp kThen{1'700'000'000'000'000};

/// A collection that some version has left, and how it was made. What is kept is never made anew.
struct Kept {
    std::string folder;
    Schema schema;
    int chunks = 0;
    int batch = 1;
    std::uint64_t flush_rows = 8;
    bool many = false;  // rows enough for lists of every form but one; no vectors
};

void PrintTo(const Kept& kept, std::ostream* out) {
    *out << kept.folder;
}

Schema of_halves() {
    Schema schema = vectors_schema(2);
    schema.vectors.precision = Precision::F16;
    return schema;
}

Schema of_bytes() {
    Schema schema = vectors_schema(2);
    schema.vectors.precision = Precision::Int8;
    return schema;
}

Schema with_positions() {
    Schema schema = vectors_schema(2);
    schema.positions = true;
    return schema;
}

std::vector<Kept> kept_ones() {
    return {
        // Section files of version 1.
        {.folder = "manifest-5", .schema = vectors_schema(2), .chunks = 22},
        // Section files of version 2, words of version 4, a namespace that was dropped.
        {.folder = "manifest-6",
         .schema = words_schema(),
         .chunks = 2300,
         .batch = 50,
         .flush_rows = 2200,
         .many = true},
        {.folder = "manifest-7", .schema = of_halves(), .chunks = 22},
        {.folder = "manifest-7-positions", .schema = with_positions(), .chunks = 22},
        {.folder = "manifest-8", .schema = of_bytes(), .chunks = 22},
    };
}

local::LocalOptions fixture_options(const Kept& kept) {
    local::LocalOptions options;
    options.flush_rows = kept.flush_rows;
    options.flush_on_close_rows = 10'000;
    options.compaction.background = false;
    options.clock = [] { return kThen; };
    return options;
}

Chunk fixture_chunk(const Kept& kept, int i) {
    Chunk chunk = make_chunk("chunk " + std::to_string(i),
                             "red fox number " + std::to_string(i) + (i % 3 == 0 ? " sleeps" : ""),
                             {1, static_cast<float>(i)});
    chunk.document_id = "document " + std::to_string(i / 3);
    chunk.chunk_index = i % 3;
    if (i % 4 == 0) chunk.title = "Überschrift";
    if (i % 5 == 0) chunk.expires_at = Timestamp{kThen.micros + i - 10};
    if (i % 7 == 0) chunk.sensitivity = "restricted";
    if (i % 6 == 0) chunk.visibility_scope = {"blue"};
    chunk.metadata = {{"year", 2000 + i}, {"tags", Array{"x", i % 2 == 0 ? "even" : "odd"}}};
    if (!kept.many) return chunk;
    if (i % 17 == 5) chunk.content += " owl owl";
    chunk.vector.clear();
    chunk.metadata = {{"tags", Array{"x", i % 2 == 0 ? "even" : "odd"}}};
    if (i % 100 == 0) chunk.metadata.set("year", 2000 + i);
    return chunk;
}

/// What the fixture was made by.
void fill(Backend& backend, const Kept& kept) {
    auto& local = dynamic_cast<local::LocalBackend&>(backend);
    must(backend.create_collection("c", kept.schema));
    if (kept.many) {
        must(backend.upsert("c", "dropped", {make_chunk("gone", "red fox")}, {}));
    }
    std::vector<Chunk> batch;
    for (int i = 0; i < kept.chunks; ++i) {
        const bool tenants = i % 8 == 7 && !kept.many;
        batch.push_back(fixture_chunk(kept, i));
        if (static_cast<int>(batch.size()) == kept.batch || i + 1 == kept.chunks) {
            must(backend.upsert("c", tenants ? "tenant" : "default", std::exchange(batch, {}), {}));
        }
        if (i == 12 && !kept.many) must(backend.remove(scope_of("c"), by_ids({"chunk 3"}), {}));
        if (i == 14 && !kept.many) {
            must(backend.update("c", "default",
                                {{.chunk_id = "chunk 12", .metadata = {{"year", 1999}}}}, {}));
        }
        local.run_due_compactions();
    }
    if (!kept.many) return;
    must(backend.remove(scope_of("c"), by_ids({"chunk 1000", "chunk 2250"}), {}));
    ReadScope dropped = scope_of("c");
    dropped.namespace_ = "dropped";
    must(backend.remove(dropped, by_filter({}), {}));
}

std::string all_of(const Backend& backend, bool vectors) {
    DumpPlan plan;
    plan.collection = "c";
    plan.namespaces = {"default", "tenant", "dropped"};
    plan.queries = {"red fox", "sleeps überschrift", "owl number"};
    if (vectors) plan.vectors = {{1, 4}};
    plan.facet_fields = {"tags", "year"};
    plan.chunk_ids = {"chunk 12", "chunk 3", "chunk 5"};
    plan.documents = {"document 2"};
    plan.versions = DumpPlan::Versions::Named;
    std::string text;
    for (const Principal& principal :
         {Principal(), Principal{"low", "normal", {}}, Principal{"blue", "restricted", {"blue"}}}) {
        text += dump(snapshot_of(backend, "c"), principal, plan);
    }
    return text;
}

class Fixture : public ::testing::TestWithParam<Kept> {};

TEST_P(Fixture, IsReadAsTheCollectionThatItWas) {
    const Kept& kept = GetParam();
    const DatabaseInMemory database;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(BRAID_FIXTURES) / kept.folder)) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        must(database.collection("c")->create(entry.path().filename().string(),
                                              std::as_bytes(std::span(bytes))));
    }
    const auto backend = database.open(fixture_options(kept));
    EXPECT_TRUE(must(backend->check({})).clean());

    const DatabaseInMemory fresh;
    const auto expected = fresh.open(fixture_options(kept));
    fill(*expected, kept);
    EXPECT_EQ(all_of(*backend, !kept.many), all_of(*expected, !kept.many));
    must(backend->upsert("c", "default", {fixture_chunk(kept, 3000)}, {}));
    EXPECT_EQ(ids_in(*backend, "c").size(), ids_in(*expected, "c").size() + 1);
    // What it is written anew as.
    compact_whole(*backend, "c");
    must(expected->upsert("c", "default", {fixture_chunk(kept, 3000)}, {}));
    EXPECT_EQ(all_of(*backend, !kept.many), all_of(*expected, !kept.many));
    EXPECT_TRUE(must(backend->check({})).clean());
}

/// Writes a fixture of this version, into a folder below the one that BRAID_WRITE_FIXTURE names.
TEST_P(Fixture, IsWrittenIfTheEnvironmentSaysWhere) {
    const char* const place = std::getenv("BRAID_WRITE_FIXTURE");  // NOLINT(concurrency-mt-unsafe)
    if (place == nullptr) GTEST_SKIP() << "BRAID_WRITE_FIXTURE is not set";
    const auto folder = std::filesystem::path(place) / GetParam().folder;
    const DatabaseInMemory database;
    {
        const auto backend = database.open(fixture_options(GetParam()));
        fill(*backend, GetParam());
    }
    std::filesystem::create_directories(folder);
    for (const auto& entry : must(database.collection("c")->list())) {
        const auto bytes = DatabaseInMemory::read(*database.collection("c"), entry.name);
        std::ofstream(folder / entry.name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }
}

INSTANTIATE_TEST_SUITE_P(EveryKept, Fixture, ::testing::ValuesIn(kept_ones()));

}  // namespace
}  // namespace braid::testing
