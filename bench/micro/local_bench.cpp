#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "braid/local/local_backend.hpp"
#include "braid/store/memory_directory.hpp"

namespace {

using namespace braid;  // NOLINT(google-build-using-namespace): a program of its own

constexpr std::size_t kChunks = 100'000;
constexpr std::size_t kDimension = 384;
constexpr std::size_t kWordsPerChunk = 80;
constexpr std::size_t kVocabulary = 50'000;

template <class T>
T must(Result<T> result) {
    if (result) return *std::move(result);
    std::cerr << result.error().message << "\n";
    std::exit(1);  // NOLINT(concurrency-mt-unsafe): nothing else runs yet
}

/// Words by Zipf's law, vectors on the unit sphere. Fixed seed: two runs measure the same input.
class Corpus {
public:
    Corpus() {
        double sum = 0;
        for (std::size_t rank = 1; rank <= kVocabulary; ++rank) {
            cumulative_.push_back(sum += 1.0 / static_cast<double>(rank));
        }
    }

    /// The word of a rank: letters that no stemmer touches.
    static std::string word(std::size_t rank) {
        std::string text = "x";
        for (; rank > 0; rank /= 20) text += "bcdfghjklmnpqrtvwxzq"[rank % 20];
        return text;
    }
    std::string text() {
        std::uniform_real_distribution<double> uniform(0, cumulative_.back());
        std::string words;
        for (std::size_t i = 0; i < kWordsPerChunk; ++i) {
            const auto found = std::ranges::lower_bound(cumulative_, uniform(rng_));
            words += word(static_cast<std::size_t>(found - cumulative_.begin())) + " ";
        }
        return words;
    }
    std::vector<float> vector() {
        std::normal_distribution<float> normal;
        std::vector<float> vector(kDimension);
        double norm = 0;
        for (float& x : vector) {
            x = normal(rng_);
            norm += static_cast<double>(x) * x;
        }
        for (float& x : vector) x = static_cast<float>(x / std::sqrt(norm));
        return vector;
    }

private:
    std::mt19937_64 rng_{1};
    std::vector<double> cumulative_;
};

/// A database of 100,000 chunks, made once.
struct Database {
    std::unique_ptr<Backend> backend;
    ReaderPtr snapshot;
    std::vector<float> query_vector;

    Database() {
        backend = must(local::open_local_backend(store::make_memory_directory(), {})).backend;
        Schema schema;
        schema.vectors = {.embedder = "external", .dimension = kDimension};
        const auto created = backend->create_collection("c", schema);
        if (!created) std::cerr << created.error().message << "\n";
        Corpus corpus;
        for (std::size_t done = 0; done < kChunks;) {
            std::vector<Chunk> batch;
            for (; batch.size() < 1000; ++done) {
                Chunk& chunk = batch.emplace_back();
                chunk.chunk_id = "chunk-" + std::to_string(done);
                chunk.content = corpus.text();
                chunk.vector = corpus.vector();
                chunk.metadata = {{"year", static_cast<std::int64_t>(2000 + done % 25)},
                                  {"batch", static_cast<std::int64_t>(done % 100)},
                                  {"kind", "kind-" + std::to_string(done * 7 % 100)}};
            }
            must(backend->upsert("c", "default", std::move(batch), {}));
        }
        const std::vector<std::string> names{"c"};
        snapshot = must(backend->snapshot(names, {}));
        query_vector = corpus.vector();
    }
};

const Database& database() {
    static const Database kInstance;
    return kInstance;
}

Leg dense_leg() {
    return {.kind = LegKind::Dense,
            .scope = {.collection = "c"},
            .vector = database().query_vector,
            .depth = 50};
}

/// One very frequent word, one common one, two rarer ones.
Leg sparse_leg() {
    const std::string query = Corpus::word(1) + " " + Corpus::word(40) + " " + Corpus::word(700) +
                              " " + Corpus::word(9000);
    Leg leg{.kind = LegKind::Sparse, .scope = {.collection = "c"}, .depth = 50};
    leg.phrasings.push_back(must(database().snapshot->analyze("c", query)));
    return leg;
}

void search(benchmark::State& state, const std::vector<Leg>& legs) {
    for ([[maybe_unused]] const auto _ : state) {
        const auto results = database().snapshot->search(legs);
        for (const auto& result : results) {
            if (!result || result->hits.empty()) state.SkipWithError("a leg found nothing");
        }
        benchmark::DoNotOptimize(results.data());
    }
}

void BM_dense_leg(benchmark::State& state) {
    search(state, {dense_leg()});
}

void BM_sparse_leg(benchmark::State& state) {
    search(state, {sparse_leg()});
}

void BM_hybrid_legs(benchmark::State& state) {
    search(state, {dense_leg(), sparse_leg()});
}

void BM_hybrid_legs_filtered(benchmark::State& state) {
    std::vector<Leg> legs{dense_leg(), sparse_leg()};
    for (Leg& leg : legs) leg.scope.filter = Filter::compare(Filter::Op::Gte, "year", 2020);
    search(state, legs);
}

/// What is left of the search if one chunk of a hundred is admitted.
void BM_dense_leg_one_percent(benchmark::State& state) {
    Leg leg = dense_leg();
    leg.scope.filter = Filter::compare(Filter::Op::Eq, "kind", "kind-3");
    search(state, {leg});
}

Leg exact_leg() {
    Leg leg = dense_leg();
    leg.exact = true;
    return leg;
}

double seconds_of(const Leg& leg, int times) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) {
        benchmark::DoNotOptimize(must(database().snapshot->search_leg(leg)).hits.data());
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return taken.count() / times;
}

void BM_exact_dense_leg(benchmark::State& state) {
    search(state, {exact_leg()});
}

/// Exact search of one vector in a hundred, each time by a filter that nobody asked for before.
/// `times_faster`: than without a filter, in the same run.
void BM_exact_dense_leg_one_percent(benchmark::State& state) {
    const double unfiltered = seconds_of(exact_leg(), 5);
    Leg leg = exact_leg();
    double filtered = 0;
    std::int64_t count = 0;
    for ([[maybe_unused]] const auto _ : state) {
        Value wanted(Array{"kind-3", "none-" + std::to_string(count++)});
        leg.scope.filter = Filter::compare(Filter::Op::In, "kind", std::move(wanted));
        filtered += seconds_of(leg, 1);
    }
    state.counters["times_faster"] = unfiltered * static_cast<double>(count) / filtered;
}

void BM_sparse_leg_one_percent(benchmark::State& state) {
    Leg leg = sparse_leg();
    leg.scope.filter = Filter::compare(Filter::Op::Lt, "batch", 1);
    search(state, {leg});
}

BENCHMARK(BM_dense_leg)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_sparse_leg)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_hybrid_legs)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_dense_leg_one_percent)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_exact_dense_leg)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_exact_dense_leg_one_percent)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_sparse_leg_one_percent)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_hybrid_legs_filtered)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
