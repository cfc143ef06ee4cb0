#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/store/memory_directory.hpp"

namespace braid::testing {
namespace {

constexpr std::size_t kVectors = 4400;

std::vector<float> some_vector(std::mt19937& rng) {
    std::vector<float> vector(8);
    for (float& x : vector) x = std::normal_distribution<float>()(rng);
    return vector;
}

std::vector<Chunk> some_chunks(std::mt19937& rng, std::size_t first, std::size_t count) {
    std::vector<Chunk> chunks;
    for (std::size_t i = first; i < first + count; ++i) {
        chunks.push_back(make_chunk(std::to_string(i), "text", some_vector(rng)));
    }
    return chunks;
}

TEST(DerivedWhileOthersWork, GraphsComeAndGoUnderSearchesAndWrites) {
    const auto root = store::make_memory_directory();
    local::LocalOptions options;
    options.flush_rows = 1000;
    options.graph_vectors = 4096;
    auto opened = must(local::open_local_backend(must(root->subdirectory("db")), options));
    Backend& backend = *opened.backend;
    must(backend.create_collection("c", vectors_schema(8)));
    std::mt19937 first(1);
    for (std::size_t i = 0; i < kVectors; i += 400) {
        must(backend.upsert("c", "default", some_chunks(first, i, 400), {}));
    }
    std::atomic<bool> done = false;
    std::atomic<std::size_t> answers = 0;
    const auto search = [&](unsigned seed) {
        std::mt19937 rng(seed);
        const std::vector<std::string> names{"c"};
        while (!done) {
            Leg leg = vector_leg(scope_of("c"), some_vector(rng), 10);
            leg.recall = 0.9;
            const auto found = must(must(backend.snapshot(names, {}))->search_leg(leg));
            EXPECT_EQ(found.hits.size(), 10U);
            ++answers;
        }
    };
    {
        std::vector<std::jthread> threads;
        threads.emplace_back(search, 2);
        threads.emplace_back(search, 3);
        std::mt19937 rng(4);
        for (int round = 0; round < 3; ++round) {
            for (std::size_t i = 0; i < 600; i += 60) {
                must(backend.upsert("c", "default", some_chunks(rng, i * 7 % 3800, 60), {}));
            }
            must(must(backend.compaction("c"))->finish());
        }
        while (answers < 600) std::this_thread::yield();  // enough for a calibration by queries
        done = true;
    }
    const std::vector<std::string> names{"c"};
    const auto stats = must(must(backend.snapshot(names, {}))->stats(scope_of("c")));
    EXPECT_EQ(stats.vectors, kVectors);
    ASSERT_TRUE(stats.dense.has_value());
    EXPECT_EQ(stats.dense->in_graphs, kVectors);
    const CheckReport report = must(backend.check({}));
    EXPECT_TRUE(report.clean());
    EXPECT_EQ(report.notes, std::vector<std::string>());
}

}  // namespace
}  // namespace braid::testing
