#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "braid/dense/graph_builder.hpp"
#include "dense/searched.hpp"

namespace braid::dense {
namespace {

/// Rows by falling estimates, which are the scores and some noise.
struct Estimated {
    std::vector<std::uint32_t> rows;
    std::vector<float> estimates;

    Estimated(const Index& index, const std::vector<float>& query, double noise,
              std::mt19937& rng) {
        std::vector<std::uint32_t> all(index.vectors.size());
        std::iota(all.begin(), all.end(), 0U);
        const auto scores = index.reader.score(query, all);
        std::vector<std::pair<float, std::uint32_t>> pairs;
        const double unit = index.options.metric == Metric::Dot ? norm(query) : 1;
        for (const std::uint32_t row : all) {
            const double off = std::normal_distribution<double>(0.3, noise)(rng);
            pairs.emplace_back(static_cast<float>((*scores)[row] / unit + off), row);
        }
        std::ranges::sort(pairs, std::greater<>());
        for (const auto& [estimate, row] : pairs) {
            rows.push_back(row);
            estimates.push_back(estimate);
        }
    }
};

TEST(Candidates, AreAllScoredWhereNothingIsLeftOut) {
    for (const Metric metric : {Metric::Cosine, Metric::Dot, Metric::Euclidean}) {
        for (const Precision precision : kPrecisions) {
            std::mt19937 rng(5);
            const Index index(clustered(rng, 300, 50),
                              {.dimension = 50, .metric = metric, .precision = precision});
            const std::vector<float> query = index.vectors[17];
            const Estimated of(index, query, 0.1, rng);
            const auto exact = index.reader.vectors().query(query);
            for (const std::size_t k : {0UL, 1UL, 10UL, 299UL, 300UL, 500UL}) {
                const auto best = index.reader.vectors().best(
                    *exact, of.rows, of.estimates, k, std::numeric_limits<double>::infinity());
                ASSERT_TRUE(best) << best.error().message;
                EXPECT_EQ(*best, reference_search(index.rows, query, k, {})) << "k " << k;
            }
        }
    }
}

TEST(Candidates, LeftOutByTheirEstimatesAreHardlyEverAmongTheBest) {
    for (const Metric metric : {Metric::Cosine, Metric::Dot}) {
        std::mt19937 rng(6);
        const Index index(clustered(rng, 1000, 50), {.dimension = 50, .metric = metric});
        std::size_t found = 0;
        for (int i = 0; i < 50; ++i) {
            const std::vector<float> query = index.vectors[rng() % 1000];
            const Estimated of(index, query, 0.02, rng);
            const auto exact = index.reader.vectors().query(query);
            const auto best = index.reader.vectors().best(*exact, of.rows, of.estimates, 10, 3);
            ASSERT_TRUE(best);
            ASSERT_EQ(best->size(), 10U);
            const auto truth = reference_search(index.rows, query, 10, {});
            for (const VectorHit& hit : *best) {
                found += static_cast<std::size_t>(std::ranges::count(truth, hit));
            }
        }
        EXPECT_GE(found, 495U);
    }
}

TEST(Candidates, WithEqualEstimatesAndScoresAreAnswered) {
    const Index index(Vectors(100, std::vector<float>(8, 1.0F)), {.dimension = 8});
    std::vector<std::uint32_t> rows(100);
    std::iota(rows.begin(), rows.end(), 0U);
    const std::vector<float> estimates(100, 0.5F);
    const std::vector<float> query(8, 2.0F);
    const auto exact = index.reader.vectors().query(query);
    const auto best = index.reader.vectors().best(*exact, rows, estimates, 10, 3);
    ASSERT_TRUE(best);
    EXPECT_EQ(best->size(), 10U);
}

TEST(ProjectedQuery, IsNearlyThatOfFloats) {
    for (const std::size_t dimension : {1UL, 3UL, 64UL, 100UL, 384UL, 700UL}) {
        std::mt19937 rng(7);
        const Index index(clustered(rng, 400, dimension), {.dimension = dimension});
        const Transform& transform = *index.reader.transform();
        ASSERT_TRUE(transform.load());
        const std::size_t m = transform.code_dimensions();
        std::vector<float> exact(m);
        std::vector<float> rounded(m);
        for (const bool centred : {false, true}) {
            const std::vector<float>& query = index.vectors[rng() % 400];
            transform.project(query.data(), 0.5F, centred, exact.data());
            transform.project_by_bytes(query.data(), 0.5F, centred, rounded.data());
            double square = 0;
            double error = 0;
            for (std::size_t i = 0; i < m; ++i) {
                square += double{exact[i]} * double{exact[i]};
                error += std::pow(double{exact[i]} - double{rounded[i]}, 2);
            }
            EXPECT_LE(std::sqrt(error), 0.02 * std::sqrt(square) + 1e-6)
                << dimension << (centred ? " centred" : "");
        }
    }
}

TEST(ProjectedQuery, OfZerosIsZero) {
    std::mt19937 rng(8);
    const Index index(clustered(rng, 100, 30), {.dimension = 30, .metric = Metric::Dot});
    std::vector<float> out(index.reader.transform()->code_dimensions(), 1.0F);
    ASSERT_TRUE(index.reader.transform()->load());
    const std::vector<float> zeros(30);
    index.reader.transform()->project_by_bytes(zeros.data(), 1, false, out.data());
    EXPECT_EQ(std::ranges::count(out, 0.0F), std::ssize(out));
}

TEST(Walk, WithAMarginKeepsWhatIsNearAndNothingElse) {
    std::mt19937 rng(9);
    constexpr std::size_t kCount = sized(5000, 2600);
    const Index index(clustered(rng, kCount, 60), {.dimension = 60});
    store::MemorySections derived;
    ASSERT_TRUE(build_graph(index.reader, derived));
    const auto graph = CodeGraph::open(derived, index.reader.meta());
    ASSERT_TRUE(graph);
    const auto view = graph->view();
    const auto codes = index.reader.codes();
    ASSERT_TRUE(view && codes);
    GraphScratch scratch;
    for (int i = 0; i < 20; ++i) {
        const std::vector<float>& query = index.vectors[rng() % kCount];
        const auto prepared = prepare_query(*index.reader.transform(), query, norm(query));
        ASSERT_TRUE(prepared);
        const auto all = walk(*view, *codes, *prepared, {.beam = 200}, scratch);
        const std::vector<std::uint32_t> whole(all.begin(), all.end());
        const auto estimates = estimates_of_walk(scratch);
        EXPECT_TRUE(std::ranges::is_sorted(estimates, std::greater<>()));
        const float tenth = estimates[9];
        const auto wide =
            walk(*view, *codes, *prepared, {.beam = 200, .near = 10, .margin = 1000}, scratch);
        EXPECT_TRUE(std::ranges::equal(wide, whole)) << "a margin that excludes nothing";
        const auto narrow =
            walk(*view, *codes, *prepared, {.beam = 200, .near = 10, .margin = 0.02F}, scratch);
        EXPECT_LE(narrow.size(), whole.size());
        EXPECT_GE(narrow.size(), 10U);
        EXPECT_GE(estimates_of_walk(scratch)[9], tenth - 0.05F);
    }
}

}  // namespace
}  // namespace braid::dense
