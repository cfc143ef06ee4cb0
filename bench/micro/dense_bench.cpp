/// Recall and speed of the index of vectors on real ones:
///
///     dense_bench DIRECTORY [vectors] [dimension] [queries]
///
/// DIRECTORY holds vectors.i8.npy, vectors.scale.npy and query-vectors.f16.npy. A dimension above
/// that of the files is reached by a fixed random rotation and a little noise; more vectors than
/// there are, by moving each along differences of others, as far as its nearest neighbour is on
/// average: new vectors vary as the real ones do, and crowd no more about them. Times are of the
/// thread's CPU, so that a busy machine does not change them much.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX

#include "braid/dense/calibrate.hpp"
#include "braid/dense/exact_rows.hpp"
#include "braid/dense/graph_builder.hpp"
#include "braid/dense/subspace.hpp"
#include "braid/dense/vectors_builder.hpp"
#include "braid/dense/vectors_reader.hpp"
#include "braid/kernels/dense.hpp"
#include "braid/store/memory_sections.hpp"

namespace {

using namespace braid;
using namespace braid::dense;

double seconds_of(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double cpu_seconds() {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

/// What follows the header of a .npy file.
std::vector<char> npy_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.size() < 10) {
        std::fprintf(stderr, "cannot read %s\n", path.c_str());
        std::exit(1);
    }
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    bytes.erase(bytes.begin(), bytes.begin() + 10 + at(8) + 256 * at(9));
    return bytes;
}

void normalise(float* vector, std::size_t dimension) {
    const double length = norm(std::span(vector, dimension));
    for (std::size_t i = 0; i < dimension; ++i) {
        vector[i] = static_cast<float>(static_cast<double>(vector[i]) / length);
    }
}

struct Data {
    std::size_t dimension = 384;
    std::vector<float> base;
    std::vector<float> queries;
    std::size_t base_count() const { return base.size() / dimension; }
    std::size_t query_count() const { return queries.size() / dimension; }
    std::span<const float> query(std::size_t i) const {
        return {queries.data() + i * dimension, dimension};
    }
};

/// The mean cosine of a vector and its nearest neighbour.
double nearest_cosine(const Data& data) {
    constexpr std::size_t kSample = 200;
    double sum = 0;
    std::vector<float> products(data.base_count());
    for (std::size_t i = 0; i < kSample; ++i) {
        const std::size_t row = i * data.base_count() / kSample;
        kernels::dense_kernels().dot_f32(data.base.data() + row * data.dimension, data.base.data(),
                                         data.dimension, products.size(), data.dimension,
                                         products.data());
        products[row] = -1;
        sum += double{*std::ranges::max_element(products)} / kSample;
    }
    return sum;
}

void extend(Data& data, std::size_t wanted) {
    const std::size_t real = data.base_count();
    const std::size_t d = data.dimension;
    if (wanted <= real) return;
    const double cosine = nearest_cosine(data);
    const auto step = static_cast<float>(std::sqrt(1 / (cosine * cosine) - 1));
    std::printf("%zu real vectors, the nearest at a cosine of %.3f; the rest is made from them\n",
                real, cosine);
    data.base.resize(wanted * d);
    SeededNumbers numbers(9);
    std::vector<float> difference(d);
    for (std::size_t r = real; r < wanted; ++r) {
        const float* from = data.base.data() + r % real * d;
        const float* a = data.base.data() + numbers.next() % real * d;
        const float* b = data.base.data() + numbers.next() % real * d;
        float along = 0;
        for (std::size_t i = 0; i < d; ++i) along += from[i] * (a[i] - b[i]);
        for (std::size_t i = 0; i < d; ++i) difference[i] = a[i] - b[i] - along * from[i];
        const double length = norm(difference);
        const float scale = length > 0 ? step / static_cast<float>(length) : 0;
        float* to = data.base.data() + r * d;
        for (std::size_t i = 0; i < d; ++i) to[i] = from[i] + scale * difference[i];
        normalise(to, d);
    }
}

Data load(const std::string& folder, std::size_t count, std::size_t queries) {
    Data data;
    const std::size_t d = data.dimension;
    const auto codes = npy_bytes(folder + "/vectors.i8.npy");
    const auto halves = npy_bytes(folder + "/query-vectors.f16.npy");
    const std::size_t wanted = count;
    count = std::min(count, codes.size() / d);
    queries = std::min(queries, halves.size() / 2 / d);
    data.base.resize(count * d);
    for (std::size_t i = 0; i < data.base.size(); ++i) {
        data.base[i] = static_cast<float>(static_cast<signed char>(codes[i]));
    }
    for (std::size_t r = 0; r < count; ++r) normalise(data.base.data() + r * d, d);
    extend(data, wanted);
    data.queries.resize(queries * d);
    kernels::dense_kernels().widen(reinterpret_cast<const std::uint16_t*>(halves.data()),
                                   data.queries.size(), data.queries.data());
    for (std::size_t r = 0; r < queries; ++r) normalise(data.queries.data() + r * d, d);
    return data;
}

/// The same neighbours in more dimensions: a rotation, and noise of a tenth of the length.
void widen_to(Data& data, std::size_t dimension) {
    SeededNumbers numbers(7);
    const std::size_t d = data.dimension;
    const std::vector<float> directions = random_directions(d, dimension, numbers);
    std::vector<float> columns(directions.size());
    for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t j = 0; j < dimension; ++j)
            columns[j * d + i] = directions[i * dimension + j];
    }
    const float noise = 0.1F / std::sqrt(static_cast<float>(dimension));
    for (std::vector<float>* vectors : {&data.base, &data.queries}) {
        std::vector<float> wide(vectors->size() / d * dimension);
        for (std::size_t r = 0; r < vectors->size() / d; ++r) {
            float* row = wide.data() + r * dimension;
            kernels::dense_kernels().dot_f32(vectors->data() + r * d, columns.data(), d, dimension,
                                             d, row);
            for (std::size_t i = 0; i < dimension; ++i) row[i] += noise * numbers.normal();
            normalise(row, dimension);
        }
        *vectors = std::move(wide);
    }
    data.dimension = dimension;
}

struct Bench {
    const Data& data;
    const VectorsReader& reader;
    std::vector<std::vector<std::uint32_t>> truth;  // of the last call of find_truth
    std::size_t k = 10;
    std::vector<std::uint64_t> allowed;

    VectorAnswer search(std::size_t query, const VectorSearch& search) const {
        auto answer = reader.search(data.query(query), search);
        if (!answer) {
            std::fprintf(stderr, "%s\n", answer.error().message.c_str());
            std::exit(1);
        }
        return *std::move(answer);
    }

    void find_truth(std::size_t depth, std::vector<std::uint64_t> mask = {}) {
        k = depth;
        allowed = std::move(mask);
        VectorSearch exact;
        exact.k = k;
        exact.exact = true;
        exact.allowed = allowed;
        truth.assign(data.query_count(), {});
        const double start = cpu_seconds();
        for (std::size_t q = 0; q < data.query_count(); ++q) {
            for (const VectorHit& hit : search(q, exact).hits) truth[q].push_back(hit.row);
        }
        const double rate = static_cast<double>(data.query_count()) / (cpu_seconds() - start);
        std::printf("k %3zu  exact                          recall 1.0000  %9.0f q/s\n", k, rate);
    }

    void measure(const std::string& name, VectorSearch settings) const {
        settings.k = k;
        settings.allowed = allowed;
        std::size_t found = 0;
        std::size_t wanted = 0;
        std::string method;
        for (std::size_t q = 0; q < data.query_count(); ++q) {
            const VectorAnswer answer = search(q, settings);
            method = name_of(answer.method);
            wanted += truth[q].size();
            for (const VectorHit& hit : answer.hits) {
                found += std::ranges::count(truth[q], hit.row) > 0 ? 1 : 0;
            }
        }
        double best = 1e9;
        for (int round = 0; round < 3; ++round) {
            const double start = cpu_seconds();
            for (std::size_t q = 0; q < data.query_count(); ++q) {
                [[maybe_unused]] const auto answer = reader.search(data.query(q), settings);
            }
            best = std::min(best, cpu_seconds() - start);
        }
        std::printf(
            "k %3zu  %-6s %-22s  recall %.4f  %9.0f q/s\n", k, method.c_str(), name.c_str(),
            static_cast<double>(found) / static_cast<double>(std::max<std::size_t>(wanted, 1)),
            static_cast<double>(data.query_count()) / best);
        std::fflush(stdout);
    }
};

#if defined(__x86_64__)
#define BRAID_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BRAID_WIDE
#endif

BRAID_WIDE std::uint64_t sum_of(const std::uint64_t* words, std::size_t count) {
    std::uint64_t sums[32] = {};
    for (std::size_t i = 0; i + 32 <= count; i += 32) {
        for (std::size_t j = 0; j < 32; ++j) sums[j] += words[i + j];
    }
    std::uint64_t total = 0;
    for (const std::uint64_t sum : sums) total += sum;
    return total;
}

/// Bytes a second, reading as much memory as the vectors take, in the widest words there are.
double read_bandwidth(const std::vector<float>& floats) {
    double best = 1e9;
    std::vector<std::uint64_t> words(floats.size() / 2, 1);
    for (int round = 0; round < 5; ++round) {
        const double start = cpu_seconds();
        if (sum_of(words.data(), words.size()) == 0) std::printf("nothing read\n");
        best = std::min(best, cpu_seconds() - start);
    }
    return static_cast<double>(words.size() * 8) / best;
}

void scans(const Bench& bench) {
    for (const double recall : {0.9, 0.95, 0.98, 0.99, 0.995}) {
        const ScanDepth depth = usual_depth(bench.k, recall);
        VectorSearch settings;
        settings.depth = depth;
        settings.spread = kUsualSpread;
        bench.measure(std::to_string(depth.survivors) + "/" + std::to_string(depth.rescored),
                      settings);
    }
}

void walks(const Bench& bench) {
    for (const double recall : {0.9, 0.95, 0.97, 0.98, 0.99}) {
        VectorSearch settings;
        const VectorPlan walk = usual_walk(bench.data.base_count(), bench.k, recall);
        settings.depth = walk.depth;
        settings.beam = walk.beam;
        settings.margin = walk.margin;
        settings.spread = walk.spread;
        bench.measure("margin " + std::to_string(walk.margin).substr(0, 4) + ", beam " +
                          std::to_string(walk.beam) + ", " + std::to_string(walk.depth.rescored),
                      settings);
    }
}

/// Calibrates, and searches as deep as that says.
void calibrated(const Bench& bench, const std::string& by,
                std::span<const std::vector<float>> queries) {
    const double cpu = cpu_seconds();
    const auto calibration = calibrate(bench.reader, queries, {.own_vectors = 200});
    if (!calibration) std::exit(1);
    std::printf("calibrated by %s in %.2f s of CPU\n", by.c_str(), cpu_seconds() - cpu);
    bench.reader.use(*calibration);
    for (const double recall : {0.9, 0.95, 0.98, 0.99}) {
        VectorSearch settings;
        settings.recall = recall;
        bench.measure("asked " + std::to_string(recall).substr(0, 4), settings);
    }
}

void filters(Bench& bench) {
    std::mt19937 rng(1);
    for (const double share : {0.1, 0.01, 0.001, 0.0001}) {
        std::vector<std::uint64_t> mask(bench.data.base_count() / 64 + 1);
        std::bernoulli_distribution chosen(share);
        for (std::size_t row = 0; row < bench.data.base_count(); ++row) {
            mask[row / 64] |= std::uint64_t{chosen(rng)} << row % 64;
        }
        std::printf("allowed %g\n", share);
        bench.find_truth(10, mask);
        bench.measure("asked 0.98", {});
    }
    bench.allowed.clear();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: dense_bench DIRECTORY [vectors] [dimension] [queries]\n");
        return 2;
    }
    const auto argument = [&](int i, std::size_t otherwise) {
        return argc > i ? static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)) : otherwise;
    };
    constexpr std::size_t kRecent = 200;  // queries for calibration, which measure nothing
    Data data = load(argv[1], argument(2, 100'000), argument(4, 1000) + kRecent);
    if (argument(3, 384) > 384) widen_to(data, argument(3, 384));
    std::vector<std::vector<float>> recent;
    for (std::size_t i = 0; i < kRecent; ++i) {
        const auto query = data.query(data.query_count() - 1 - i);
        recent.emplace_back(query.begin(), query.end());
    }
    data.queries.resize(data.queries.size() - kRecent * data.dimension);
    std::printf("%zu x %zu, %zu queries, kernels %s\n", data.base_count(), data.dimension,
                data.query_count(),
                std::string(kernels::name_of(kernels::dense_kernels().level)).c_str());

    store::MemorySections sections;
    {
        auto builder = VectorsBuilder::create({.dimension = data.dimension});
        for (std::size_t r = 0; r < data.base_count(); ++r) {
            const auto added =
                builder->add({data.base.data() + r * data.dimension, data.dimension});
            if (!added) return 1;
        }
        const double wall = seconds_of(CLOCK_MONOTONIC);
        const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        if (!builder->write(sections)) return 1;
        std::printf(
            "build %.2f s, %.2f s of CPU; %.1f MB, %.3f of the vectors\n",
            seconds_of(CLOCK_MONOTONIC) - wall, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu,
            static_cast<double>(sections.size_bytes()) * 1e-6,
            static_cast<double>(sections.size_bytes()) / static_cast<double>(data.base.size() * 4));
    }
    const double bandwidth = read_bandwidth(data.base);
    std::printf("read bandwidth %.1f GB/s = %.1f scans of the vectors a second\n", bandwidth * 1e-9,
                bandwidth / static_cast<double>(data.base.size() * 4));
    auto reader = VectorsReader::open(sections);
    if (!reader) return 1;
    store::MemorySections derived;
    {
        const double wall = seconds_of(CLOCK_MONOTONIC);
        const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        if (!build_graph(*reader, derived)) return 1;
        auto graph = CodeGraph::open(derived, reader->meta());
        if (!graph) return 1;
        reader->use(*std::move(graph));
        std::printf("graph %.2f s, %.2f s of CPU; %.1f MB\n", seconds_of(CLOCK_MONOTONIC) - wall,
                    seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu,
                    static_cast<double>(derived.size_bytes()) * 1e-6);
    }
    Bench bench{.data = data, .reader = *reader, .truth = {}, .allowed = {}};
    for (const std::size_t k : {10UL, 50UL}) {
        bench.find_truth(k);
        scans(bench);
        walks(bench);
        bench.measure("asked 0.98", {});
    }
    filters(bench);
    bench.find_truth(10);
    for (const double recall : {0.9, 0.95, 0.99}) {
        VectorSearch settings;
        settings.recall = recall;
        bench.measure("asked " + std::to_string(recall).substr(0, 4), settings);
    }
    calibrated(bench, "own vectors", {});
    calibrated(bench, "recent queries", recent);
    return 0;
}
