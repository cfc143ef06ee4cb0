#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "braid/dense/calibrate.hpp"
#include "braid/dense/graph_builder.hpp"
#include "dense/searched.hpp"

namespace braid::dense {
namespace {

/// A graph in sections of its own, which live as long as somebody keeps them.
std::pair<CodeGraph, std::shared_ptr<store::MemorySections>> graph_of(const VectorsReader& reader,
                                                                      std::uint64_t seed) {
    auto sections = std::make_shared<store::MemorySections>();
    EXPECT_TRUE(build_graph(reader, *sections, {.beam = 30, .seed = seed}));
    return {CodeGraph::open(*sections, reader.meta()).value(), sections};
}

TEST(DerivedSwap, SearchesGoOnWhileGraphsAndCalibrationsAreTakenUp) {
    std::mt19937 rng(1);
    const Index index(clustered(rng, 600, 20), {.dimension = 20});
    const Vectors queries = clustered(rng, 8, 20);
    std::vector<std::vector<VectorHit>> truth;
    for (const auto& query : queries) truth.push_back(reference_search(index.rows, query, 5, {}));
    std::atomic<bool> done = false;
    std::atomic<std::size_t> walks = 0;
    std::vector<std::thread> searchers;
    for (std::size_t t = 0; t < 3; ++t) {
        searchers.emplace_back([&, t] {
            for (std::size_t i = t; !done || i < 50; ++i) {
                const auto& query = queries[i % queries.size()];
                const auto answer =
                    index.reader.search(query, {.k = 5, .depth = ScanDepth{600, 600}, .beam = 600});
                ASSERT_TRUE(answer);
                ASSERT_EQ(answer->hits.size(), 5U);
                if (answer->method == VectorMethod::Graph) {
                    ++walks;
                } else {
                    ASSERT_EQ(answer->hits, truth[i % queries.size()]);
                }
            }
        });
    }
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto [graph, sections] = graph_of(index.reader, seed);
        index.reader.use(graph, sections);
        Calibration calibration;
        calibration.rows = seed;
        index.reader.use(calibration);
        ASSERT_EQ(index.reader.calibration()->rows, seed);
    }
    while (walks == 0) std::this_thread::yield();
    done = true;
    for (std::thread& searcher : searchers) searcher.join();
    EXPECT_TRUE(index.reader.has_graph());
}

TEST(DerivedSwap, LetsAGraphGoThatNobodyUses) {
    std::mt19937 rng(2);
    const Index index(clustered(rng, 200, 10), {.dimension = 10});
    const VectorsReader copy = index.reader;
    std::weak_ptr<store::MemorySections> first;
    {
        auto [graph, sections] = graph_of(index.reader, 1);
        first = sections;
        index.reader.use(graph, sections);
    }
    EXPECT_TRUE(copy.has_graph()) << "copies share it";
    EXPECT_FALSE(first.expired());
    auto [graph, sections] = graph_of(index.reader, 2);
    index.reader.use(graph, sections);
    EXPECT_TRUE(first.expired());
    EXPECT_EQ(index.reader.calibration(), nullptr);
}

}  // namespace
}  // namespace braid::dense
