// What ranking costs beside the search: a learned model over 100 candidates, its features, and the
// fusion "auto" over the union of two lists of 200. Each beside a plain way to do the same, for the
// ratio.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "braid/fusion/auto_weights.hpp"
#include "braid/fusion/fuse.hpp"
#include "braid/rank/features.hpp"
#include "braid/rank/model.hpp"

namespace {

using braid::rank::kFeatures;
using braid::rank::Model;
using braid::rank::Tree;
using braid::rank::Vector;

constexpr std::size_t kCandidates = 100;

/// Trees as deep as boosting makes them: each split takes a leaf at random.
Tree random_tree(std::mt19937_64& rng, std::size_t leaves) {
    std::uniform_real_distribution<double> unit(-1, 1);
    Tree tree;
    tree.nodes.reserve(leaves);
    tree.leaves.push_back(unit(rng));
    std::vector<std::int32_t*> hangs{nullptr};
    while (tree.leaves.size() < leaves) {
        const std::size_t split = rng() % tree.leaves.size();
        const auto node = static_cast<std::int32_t>(tree.nodes.size());
        tree.nodes.push_back({static_cast<std::uint16_t>(rng() % kFeatures), unit(rng),
                              ~static_cast<std::int32_t>(split),
                              ~static_cast<std::int32_t>(tree.leaves.size()), unit(rng)});
        if (hangs[split] != nullptr) *hangs[split] = node;
        hangs[split] = &tree.nodes.back().left;
        hangs.push_back(&tree.nodes.back().right);
        tree.leaves.push_back(unit(rng));
    }
    return tree;
}

struct Learned {
    Model model;
    std::vector<Vector> rows;
};

Learned learned(std::size_t trees, std::size_t leaves) {
    std::mt19937_64 rng(7);
    Model::Parts parts;
    parts.prior = 6;
    for (std::size_t f = 0; f < kFeatures; ++f) {
        if (braid::rank::features()[f].unit) parts.linear[f] = 1;
    }
    for (std::size_t i = 0; i < trees; ++i) parts.trees.push_back(random_tree(rng, leaves));
    std::vector<Vector> rows(kCandidates);
    std::uniform_real_distribution<double> unit(-1, 1);
    for (Vector& row : rows) std::ranges::generate(row, [&] { return unit(rng); });
    return {Model::create(std::move(parts)).value(), std::move(rows)};
}

void BM_Rank_scores(benchmark::State& state) {
    const Learned data =
        learned(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
    for (auto _ : state) benchmark::DoNotOptimize(data.model.scores(data.rows));
}
BENCHMARK(BM_Rank_scores)->Args({100, 8})->Args({100, 16})->Args({200, 12});

/// From analysed texts of 150 terms and receipts.
void BM_Rank_features(benchmark::State& state) {
    std::mt19937_64 rng(7);
    const auto word = [&rng] { return "w" + std::to_string(rng() % 40 * (rng() % 40)); };
    braid::Receipt receipt;
    for (const char* const name : {"dense", "sparse"}) {
        receipt.sources.emplace_back().source = name;
        receipt.sources.back().score = 0.5;
    }
    const braid::Chunk chunk;
    braid::rank::QueryTerms query;
    while (query.weight.size() < 8) query.weight.emplace(query.words.emplace_back(word()), 2.0);
    std::vector<braid::rank::Candidate> candidates(kCandidates);
    for (braid::rank::Candidate& candidate : candidates) {
        candidate.receipt = &receipt;
        candidate.chunk = &chunk;
        for (int i = 0; i < 150; ++i) candidate.content.push_back(word());
        for (int i = 0; i < 3; ++i) candidate.title.push_back(word());
        candidate.name = candidate.title;
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(braid::rank::feature_vectors(query, candidates));
    }
}
BENCHMARK(BM_Rank_features);

void BM_Rank_walked(benchmark::State& state) {
    const Learned data =
        learned(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
    for (auto _ : state) {
        for (const Vector& row : data.rows) {
            double sum = 0;
            for (const Tree& tree : data.model.trees()) {
                std::int32_t at = 0;
                while (at >= 0) {
                    const Tree::Node& node = tree.nodes[static_cast<std::size_t>(at)];
                    at = row[node.feature] <= node.threshold ? node.left : node.right;
                }
                sum += tree.leaves[static_cast<std::size_t>(~at)];
            }
            benchmark::DoNotOptimize(sum);
        }
    }
}
BENCHMARK(BM_Rank_walked)->Args({100, 8})->Args({100, 16})->Args({200, 12});

void BM_Rank_explained(benchmark::State& state) {
    const Learned data = learned(100, 8);
    for (auto _ : state) {
        for (const Vector& row : data.rows) {
            benchmark::DoNotOptimize(data.model.contributions(row));
        }
    }
}
BENCHMARK(BM_Rank_explained);

/// Two lists of 200 that share half, each chunk with both scores.
struct Union {
    std::vector<std::string> ids;
    std::vector<braid::fusion::Entry> dense;
    std::vector<braid::fusion::Entry> sparse;
};

Union legs() {
    Union out;
    constexpr std::size_t kUnion = 300;
    constexpr std::size_t kListed = 200;
    std::mt19937_64 rng(3);
    for (std::size_t i = 0; i < kUnion; ++i) out.ids.push_back("chunk-" + std::to_string(rng()));
    std::uniform_real_distribution<double> unit(0, 1);
    for (std::size_t i = 0; i < kUnion; ++i) {
        const bool by_vector = i < kListed;
        const bool by_words = i >= kUnion - kListed;
        const auto place = [](bool listed, std::size_t at) {
            return listed ? at : braid::fusion::Entry::kUnranked;
        };
        out.dense.push_back({out.ids[i], unit(rng), place(by_vector, i)});
        out.sparse.push_back({out.ids[i], 10 * unit(rng), place(by_words, i - (kUnion - kListed))});
    }
    return out;
}

void BM_Auto_choose_and_fuse(benchmark::State& state) {
    const Union data = legs();
    for (auto _ : state) {
        const auto choice = braid::fusion::choose_weights(data.dense, data.sparse);
        const std::vector<braid::fusion::RankedList> lists{
            {"dense", choice.dense_weight, data.dense},
            {"sparse", 1 - choice.dense_weight, data.sparse}};
        benchmark::DoNotOptimize(
            braid::fusion::fuse(lists, {.method = braid::FusionMethod::WeightedSum}));
    }
}
BENCHMARK(BM_Auto_choose_and_fuse);

void BM_Auto_plain_sum(benchmark::State& state) {
    const Union data = legs();
    for (auto _ : state) {
        const std::vector<braid::fusion::RankedList> lists{{"dense", 0.7, data.dense},
                                                           {"sparse", 0.3, data.sparse}};
        benchmark::DoNotOptimize(
            braid::fusion::fuse(lists, {.method = braid::FusionMethod::WeightedSum}));
    }
}
BENCHMARK(BM_Auto_plain_sum);

}  // namespace
