#include "braid/dense/code_graph.hpp"

#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "braid/dense/graph_builder.hpp"
#include "braid/store/posix_directory.hpp"
#include "core/share.hpp"
#include "core/temporary_folder.hpp"
#include "dense/searched.hpp"

namespace braid::dense {
namespace {

/// An index that walks a graph.
struct GraphIndex : Index {
    store::MemorySections derived;

    GraphIndex(Vectors given, const VectorsOptions& with) : Index(std::move(given), with) {
        const auto built = build_graph(reader, derived);
        EXPECT_TRUE(built) << built.error().message;
        auto graph = CodeGraph::open(derived, reader.meta());
        EXPECT_TRUE(graph) << graph.error().message;
        if (graph) reader.use(*std::move(graph));
    }
};

TEST(CodeGraph, FindsNearlyAllOfTheBest) {
    constexpr std::size_t kCount = sized(6000, 2600);
    for (const Metric metric : {Metric::Cosine, Metric::Euclidean}) {
        std::mt19937 rng(31);
        const GraphIndex index(
            clustered(rng, kCount, 260),
            {.dimension = 260,
             .metric = metric,
             .precision = metric == Metric::Cosine ? Precision::Int8 : Precision::F32});
        double sum = 0;
        for (int i = 0; i < 20; ++i) {
            std::vector<float> query = index.vectors[rng() % kCount];
            for (float& x : query) x += std::normal_distribution<float>(0, 0.2F)(rng);
            const VectorSearch search{.k = 10, .depth = ScanDepth{200, 100}, .beam = 200};
            sum += index.recall(query, search);
            EXPECT_EQ(index.reader.search(query, search)->method, VectorMethod::Graph);
        }
        EXPECT_GE(sum / 20, 0.95);
    }
}

TEST(CodeGraph, WhatStandsBeforeTheAllowedRowsDoesNotHideThem) {
    constexpr std::size_t kCount = sized(6000, 2600);
    std::mt19937 rng(32);
    const GraphIndex index(clustered(rng, kCount, 60), {.dimension = 60});
    // Forbidden: the nearest of each query, from a few to more than the beam.
    for (const std::size_t nearest : {5UL, 50UL, 90UL, 120UL, 400UL}) {
        double walked = 0;
        double scanned = 0;
        for (int i = 0; i < 20; ++i) {
            std::vector<float> query = index.vectors[rng() % kCount];
            for (float& x : query) x += std::normal_distribution<float>(0, 0.2F)(rng);
            std::vector<std::uint64_t> mask((kCount + 63) / 64, ~std::uint64_t{0});
            const auto near = index.reader.search(query, {.k = nearest, .exact = true});
            ASSERT_TRUE(near);
            for (const VectorHit& hit : near->hits) {
                mask[hit.row / 64] &= ~(std::uint64_t{1} << hit.row % 64);
            }
            const ScanDepth depth{300, 60};
            walked += index.recall(query, {.k = 10, .allowed = mask, .depth = depth, .beam = 100});
            scanned += index.recall(query, {.k = 10, .allowed = mask, .depth = depth});
        }
        EXPECT_GE(walked / 20, scanned / 20 - 0.05) << nearest << " nearest are forbidden";
    }
}

TEST(CodeGraph, AnswersWhateverTheSizesAre) {
    unsigned seed = 300;
    for (const std::size_t dimension : {1UL, 3UL, 100UL, 4096UL}) {
        for (const std::size_t count : {1UL, 2UL, 63UL, 64UL, 65UL, 700UL}) {
            if (dimension == 4096 && count > 65) continue;
            SCOPED_TRACE(::testing::Message()
                         << "seed " << ++seed << ", " << count << " x " << dimension);
            std::mt19937 rng(seed);
            const GraphIndex index(uniform_vectors(rng, count, dimension),
                                   {.dimension = dimension,
                                    .metric = static_cast<Metric>(seed % 3),
                                    .precision = kPrecisions[seed / 3 % 3]});
            const auto query = uniform_vectors(rng, 1, dimension)[0];
            const auto mask = random_mask(rng, count, 0.5);
            for (const std::size_t k : {0UL, 1UL, 10UL, 1000UL}) {
                for (const std::size_t beam : {1UL, 20UL, 5000UL}) {
                    index.recall(query, {.k = k, .depth = ScanDepth{20, 10}, .beam = beam});
                    index.recall(
                        query, {.k = k, .allowed = mask, .depth = ScanDepth{20, 10}, .beam = beam});
                }
            }
        }
    }
}

TEST(CodeGraph, OfEqualVectorsAnswersWithK) {
    const GraphIndex index(Vectors(sized(3000, 2200), std::vector<float>{3, 4, 5}),
                           {.dimension = 3});
    const auto answer = index.reader.search(std::vector<float>{1, 1, 1},
                                            {.k = 10, .depth = ScanDepth{100, 20}, .beam = 50});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->hits.size(), 10U);
}

TEST(CodeGraph, IsTheSameEveryTimeAndStopsWhenToldTo) {
    std::mt19937 rng(8);
    const GraphIndex index(clustered(rng, sized(4000, 2400), 60), {.dimension = 60});
    store::MemorySections again;
    ASSERT_TRUE(build_graph(index.reader, again));
    EXPECT_TRUE(std::ranges::equal(*again.section(kGraphSection)->bytes(),
                                   *index.derived.section(kGraphSection)->bytes()));
    std::stop_source source;
    store::MemorySections stopped;
    const auto built = build_graph(
        index.reader, stopped, {},
        {.stop = source.get_token(), .progress = [&](double) { source.request_stop(); }});
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().code, ErrorCode::Cancelled);
    EXPECT_FALSE(stopped.section(kGraphSection)) << "nothing half done is left";
}

TEST(CodeGraph, IsTheSameHoweverLittleMemoryItsMakingHas) {
    std::mt19937 rng(11);
    constexpr std::size_t kCount = sized(4000, 2400);
    const GraphIndex index(clustered(rng, kCount, 60), {.dimension = 60});
    const braid::testing::TemporaryFolder folder;
    const auto directory =
        *store::open_posix_directory(folder / "data", store::OpenMode::CreateIfMissing);
    // Nothing fits; edges do, and rows do not.
    for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{kCount} * 64 * 4}) {
        store::MemorySections again;
        ASSERT_TRUE(
            build_graph(index.reader, again, {.memory_bytes = memory, .scratch = directory.get()}));
        EXPECT_TRUE(std::ranges::equal(*again.section(kGraphSection)->bytes(),
                                       *index.derived.section(kGraphSection)->bytes()));
        EXPECT_TRUE(directory->list_others()->empty());
    }
}

TEST(CodeGraph, OfOtherVectorsIsRefused) {
    std::mt19937 rng(9);
    const GraphIndex index(uniform_vectors(rng, 100, 10), {.dimension = 10});
    VectorsMeta meta = index.reader.meta();
    ++meta.count;
    EXPECT_EQ(CodeGraph::open(index.derived, meta).error().code, ErrorCode::Conflict);
    --meta.count;
    ++meta.transform_id;
    EXPECT_EQ(CodeGraph::open(index.derived, meta).error().code, ErrorCode::Conflict);
    EXPECT_FALSE(CodeGraph::open(store::MemorySections(), meta));
    store::MemorySections plain;
    write_index(uniform_vectors(rng, 10, 3), {.dimension = 3}, plain);
    store::MemorySections none;
    EXPECT_FALSE(build_graph(*VectorsReader::open(plain), none)) << "there are no codes";
}

TEST(CodeGraph, DamagedNeverCrashes) {
    std::mt19937 rng(10);
    GraphIndex index(uniform_vectors(rng, 300, 20), {.dimension = 20});
    const auto whole = *index.derived.section(kGraphSection)->bytes();
    const auto query = uniform_vectors(rng, 1, 20)[0];
    for (unsigned seed = 0; seed < share_of(300); ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        rng.seed(seed);
        std::vector<std::byte> bytes(whole.begin(), whole.end());
        if (seed % 4 == 0) bytes.resize(rng() % bytes.size());
        for (std::size_t i = rng() % 300; i > 0 && !bytes.empty(); --i) {
            bytes[rng() % (seed % 3 == 0 ? std::min<std::size_t>(bytes.size(), 64)
                                         : bytes.size())] = static_cast<std::byte>(rng());
        }
        store::MemorySections damaged;
        ASSERT_TRUE(damaged.begin(kGraphSection) && damaged.write(bytes));
        auto graph = CodeGraph::open(damaged, index.reader.meta());
        if (!graph) continue;
        index.reader.use(*std::move(graph));
        index.recall(query, {.k = 10, .depth = ScanDepth{40, 20}, .beam = 30});
    }
}

TEST(VectorPlan, ChoosesByRowsFilterDepthAndRecall) {
    const PlanInput usual{.rows = 1'000'000,
                          .allowed = 1'000'000,
                          .k = 10,
                          .scan_recall = 0.98,
                          .graph_recall = 0.98,
                          .has_codes = true,
                          .has_graph = true};
    EXPECT_EQ(plan_search(usual).method, VectorMethod::Graph);
    PlanInput input = usual;
    input.has_graph = false;
    EXPECT_EQ(plan_search(input).method, VectorMethod::Scan);
    input.has_codes = false;
    EXPECT_EQ(plan_search(input).method, VectorMethod::Exact);
    input = usual;
    input.allowed = 100'000;
    EXPECT_EQ(plan_search(input).method, VectorMethod::Scan) << "under a filter";
    input.allowed = 500'000;
    EXPECT_EQ(plan_search(input).method, VectorMethod::Graph) << "under a wide filter";
    input.scan_recall = 1;
    EXPECT_EQ(plan_search(input).method, VectorMethod::Graph) << "where scans do not find it";
    input.allowed = 100'000;
    EXPECT_EQ(plan_search(input).method, VectorMethod::Exact) << "nor walks";
    input.scan_recall = usual.scan_recall;
    input.allowed = 100;
    EXPECT_EQ(plan_search(input).method, VectorMethod::Exact) << "under a narrow filter";
    input = usual;
    input.scan_recall = input.graph_recall = 1;
    EXPECT_EQ(plan_search(input).method, VectorMethod::Exact);
    input = usual;
    input.rows = input.allowed = 100'000;
    input.scan_recall = input.graph_recall = 0.99;
    EXPECT_EQ(plan_search(input).method, VectorMethod::Scan) << "a walk would be longer";
    input.scan_recall = input.graph_recall = 0.9;
    EXPECT_EQ(plan_search(input).method, VectorMethod::Graph);
    for (const VectorMethod method :
         {VectorMethod::Exact, VectorMethod::Scan, VectorMethod::Graph}) {
        EXPECT_FALSE(name_of(method).empty());
    }
}

}  // namespace
}  // namespace braid::dense
