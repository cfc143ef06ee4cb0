#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "braid/kernels/kernels.hpp"

namespace {

using braid::kernels::CpuLevel;
using braid::kernels::Kernels;

std::vector<float> random_floats(std::size_t count) {
    std::mt19937 rng(1);  // fixed seed: two runs measure the same input
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    std::vector<float> floats(count);
    for (float& x : floats) x = uniform(rng);
    return floats;
}

void count_bytes(benchmark::State& state, std::size_t floats_read) {
    state.SetBytesProcessed(state.iterations() *
                            static_cast<std::int64_t>(floats_read * sizeof(float)));
}

const Kernels* kernels_of(benchmark::State& state) {
    const Kernels* kernels = kernels_for(static_cast<CpuLevel>(state.range(0)));
    if (kernels == nullptr) {
        state.SkipWithError("this machine lacks the level");
        return nullptr;
    }
    state.SetLabel(std::string(name_of(kernels->level)));
    return kernels;
}

/// One query against `rows` x `dimension` floats in order, as an exact dense search scans them.
void scan_rows(benchmark::State& state, decltype(Kernels::dot_rows) Kernels::*function) {
    const Kernels* kernels = kernels_of(state);
    if (kernels == nullptr) return;
    const auto rows = static_cast<std::size_t>(state.range(1));
    const auto dimension = static_cast<std::size_t>(state.range(2));
    const std::vector<float> matrix = random_floats(rows * dimension);
    const std::vector<float> query = random_floats(dimension);
    std::vector<double> out(rows);
    while (state.KeepRunning()) {
        (kernels->*function)(query.data(), matrix.data(), dimension, rows, dimension, out.data());
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
    }
    count_bytes(state, rows * dimension);
}

void scan_dot(benchmark::State& state) {
    scan_rows(state, &Kernels::dot_rows);
}

void scan_squared_distance(benchmark::State& state) {
    scan_rows(state, &Kernels::squared_distance_rows);
}

/// The bound of a scan: the same bytes, added up as 64-bit words.
void read_memory(benchmark::State& state) {
    const std::vector<std::uint64_t> words(100'000UL * 384 / 2, 1);
    while (state.KeepRunning()) {
        std::uint64_t sums[8] = {};
        for (std::size_t i = 0; i + 8 <= words.size(); i += 8) {
            for (std::size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
        }
        benchmark::DoNotOptimize(sums);
    }
    count_bytes(state, words.size() * 2);
}

/// Vectors that lie in the cache, as a graph search meets them after its prefetches.
void one_dot(benchmark::State& state) {
    const Kernels* kernels = kernels_of(state);
    if (kernels == nullptr) return;
    const auto dimension = static_cast<std::size_t>(state.range(1));
    const std::vector<float> a = random_floats(dimension);
    const std::vector<float> b = random_floats(dimension + 1);
    while (state.KeepRunning()) {
        benchmark::DoNotOptimize(kernels->dot(a.data(), b.data() + 1, dimension));
    }
    count_bytes(state, dimension);
}

void every_level(benchmark::internal::Benchmark* bench) {
    for (const std::int64_t level : {0, 1, 2}) {
        bench->Args({level, 100'000, 384})->Args({level, 1'000, 384});
    }
    bench->Unit(benchmark::kMicrosecond);
}

BENCHMARK(read_memory)->Unit(benchmark::kMicrosecond);
BENCHMARK(scan_dot)->Apply(every_level);
BENCHMARK(scan_squared_distance)->Apply(every_level);
BENCHMARK(one_dot)->ArgsProduct({{0, 1, 2}, {384, 769}});

}  // namespace
