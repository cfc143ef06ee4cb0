// A collection as the version named by its folder has left it, kept for all later ones to read.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/dump.hpp"
#include "backend/helpers.hpp"
#include "braid/local/backend.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

const std::filesystem::path kFixture = std::filesystem::path(BRAID_FIXTURES) / "manifest-5";
constexpr Timestamp kThen{1'700'000'000'000'000};

local::LocalOptions fixture_options() {
    local::LocalOptions options;
    options.flush_rows = 8;
    options.flush_on_close_rows = 1000;
    options.compaction.background = false;
    options.clock = [] { return kThen; };
    return options;
}

Chunk fixture_chunk(int i) {
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
    return chunk;
}

/// What the fixture was made by.
void fill(Backend& backend) {
    auto& local = dynamic_cast<local::LocalBackend&>(backend);
    must(backend.create_collection("c", vectors_schema(2)));
    for (int i = 0; i < 22; ++i) {
        must(backend.upsert("c", i % 8 == 7 ? "tenant" : "default", {fixture_chunk(i)}, {}));
        if (i == 12) must(backend.remove(scope_of("c"), by_ids({"chunk 3"}), {}));
        if (i == 14) {
            must(backend.update("c", "default",
                                {{.chunk_id = "chunk 12", .metadata = {{"year", 1999}}}}, {}));
        }
        local.run_due_compactions();
    }
}

std::string all_of(const Backend& backend) {
    DumpPlan plan;
    plan.collection = "c";
    plan.namespaces = {"default", "tenant"};
    plan.queries = {"red fox", "sleeps überschrift"};
    plan.vectors = {{1, 4}};
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

TEST(Fixture, IsReadAsTheCollectionThatItWas) {
    const DatabaseInMemory database;
    for (const auto& entry : std::filesystem::directory_iterator(kFixture)) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        must(database.collection("c")->create(entry.path().filename().string(),
                                              std::as_bytes(std::span(bytes))));
    }
    const auto backend = database.open(fixture_options());
    EXPECT_TRUE(must(backend->check({})).clean());

    const DatabaseInMemory fresh;
    const auto expected = fresh.open(fixture_options());
    fill(*expected);
    EXPECT_EQ(all_of(*backend), all_of(*expected));
    must(backend->upsert("c", "default", {fixture_chunk(40)}, {}));
    EXPECT_EQ(ids_in(*backend, "c").size(), ids_in(*expected, "c").size() + 1);
}

/// Writes the fixture of this version, into the folder that BRAID_WRITE_FIXTURE names.
TEST(Fixture, IsWrittenIfTheEnvironmentSaysWhere) {
    const char* const folder = std::getenv("BRAID_WRITE_FIXTURE");  // NOLINT(concurrency-mt-unsafe)
    if (folder == nullptr) GTEST_SKIP() << "BRAID_WRITE_FIXTURE is not set";
    const DatabaseInMemory database;
    {
        const auto backend = database.open(fixture_options());
        fill(*backend);
    }
    std::filesystem::create_directories(folder);
    for (const auto& entry : must(database.collection("c")->list())) {
        const auto bytes = DatabaseInMemory::read(*database.collection("c"), entry.name);
        std::ofstream(std::filesystem::path(folder) / entry.name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }
}

}  // namespace
}  // namespace braid::testing
