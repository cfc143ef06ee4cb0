// What HTTP costs: hybrid top-10 over 10,000 chunks of 384 dimensions with given vectors, through
// `braid serve` and through the library, in turns, on the same machine and the same files.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX
#include <sys/resource.h>

#include "bench_kit.hpp"
#include "braid/database.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/request_json.hpp"

namespace {

// NOLINTBEGIN(google-build-using-namespace): a program of its own
using namespace braid;
using namespace braid::bench;
// NOLINTEND(google-build-using-namespace)

constexpr std::size_t kChunks = 10'000;
constexpr std::size_t kWords = 60;
constexpr std::size_t kQueries = 500;
constexpr std::size_t kConnections = 16;
constexpr std::size_t kIdle = 1000;
constexpr int kRounds = 5;

/// One way of asking, over all rounds.
struct Figures {
    std::vector<double> p50, p99, cpu, qps;
    void add(const std::vector<double>& micros, double cpu_seconds, double seconds) {
        const auto count = static_cast<double>(micros.size());
        p50.push_back(percentile(micros, 0.5));
        p99.push_back(percentile(micros, 0.99));
        cpu.push_back(cpu_seconds * 1e6 / count);
        qps.push_back(count / seconds);
    }
    void print(const char* name) const {
        std::printf("%-28s %9.0f %9.0f %9.0f %11.0f\n", name, percentile(p50, 0.5),
                    percentile(p99, 0.5), percentile(qps, 0.5), percentile(cpu, 0.5));
    }
};

/// Lets `callers` threads ask all queries at once, each from another one on.
void ask_all(std::size_t queries, std::size_t callers, const std::function<double()>& cpu_seconds,
             const std::function<void(std::size_t caller, std::size_t query)>& ask,
             Figures* figures) {
    std::vector<std::vector<double>> micros(callers);
    const double cpu = cpu_seconds();
    const auto begin = Clock::now();
    std::vector<std::thread> threads;
    threads.reserve(callers);
    for (std::size_t i = 0; i < callers; ++i) {
        threads.emplace_back([&, i] {
            for (std::size_t q = 0; q < queries; ++q) {
                const auto start = Clock::now();
                ask(i, (q + i * 31) % queries);
                micros[i].push_back(micros_since(start));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    const double seconds = micros_since(begin) / 1e6;
    std::vector<double> all;
    for (const auto& list : micros) all.insert(all.end(), list.begin(), list.end());
    if (figures != nullptr) figures->add(all, cpu_seconds() - cpu, seconds);
}

void ask_library(const Database& database, const std::vector<Request>& requests,
                 std::size_t callers, Figures* figures) {
    ask_all(
        requests.size(), callers, own_cpu_seconds,
        [&](std::size_t, std::size_t query) {
            if (must(database.retrieve(requests[query])).hits.size() != 10) die("not ten hits");
        },
        figures);
}

void ask_server(const Server& server, const std::vector<std::string>& requests,
                std::size_t connections, Figures* figures) {
    std::vector<Connection> open;
    open.reserve(connections);
    for (std::size_t i = 0; i < connections; ++i) open.emplace_back(server.port());
    ask_all(
        requests.size(), connections, [&] { return server.cpu_seconds(); },
        [&](std::size_t caller, std::size_t query) { open[caller].ask(requests[query]); }, figures);
}

std::string http_request(const Request& request) {
    const std::string body = json::print(wire::request_to_value(request));
    return "POST /v1/retrieve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Content-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

void fill(const std::string& data, Corpus& corpus) {
    auto database = must(Database::open(data));
    Schema schema;
    schema.vectors.embedder = "external";
    schema.vectors.dimension = kDimension;
    if (const auto made = database.create_collection("default", schema); !made) {
        die(made.error().message);
    }
    for (std::size_t at = 0; at < kChunks; at += 1000) {
        std::vector<Chunk> chunks(1000);
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            chunks[i].chunk_id = chunks[i].document_id = "chunk-" + std::to_string(at + i);
            chunks[i].content = corpus.text(kWords);
            chunks[i].vector = corpus.vector();
        }
        must(database.add("default", std::move(chunks)));
    }
}

double idle_connections_mb(const Server& server) {
    const std::string request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const double before = server.resident_mb();
    std::vector<Connection> idle;
    idle.reserve(kIdle);
    for (std::size_t i = 0; i < kIdle; ++i) {
        idle.emplace_back(server.port());
        idle.back().ask(request);
    }
    return server.resident_mb() - before;
}

void measure(std::span<char* const> flags) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    std::string folder = (std::filesystem::temp_directory_path() / "braid-http-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) die("no folder for temporary files");
    const std::string data = folder + "/data";
    Corpus corpus;
    fill(data, corpus);
    std::vector<Request> requests(kQueries);
    std::vector<std::string> texts;
    texts.reserve(kQueries);
    for (Request& request : requests) {
        request.query = corpus.text(4);
        request.query_embedding = corpus.vector();
        request.top_k = 10;
        texts.push_back(http_request(request));
    }
    Figures library;
    Figures library_many;
    Figures alone;
    Figures many;
    double idle_mb = 0;
    {
        const Server server(data, flags);
        OpenOptions reading;
        reading.read_only = true;
        const auto database = must(Database::open(data, reading));
        ask_library(database, requests, 1, nullptr);
        ask_server(server, texts, 1, nullptr);
        for (int round = 0; round < kRounds; ++round) {
            ask_library(database, requests, 1, &library);
            ask_library(database, requests, kConnections, &library_many);
            ask_server(server, texts, 1, &alone);
            ask_server(server, texts, kConnections, &many);
        }
        idle_mb = idle_connections_mb(server);
    }
    std::filesystem::remove_all(folder);
    std::printf("Hybrid top-10, %zu chunks x %zu, given vectors; medians of %d rounds\n\n", kChunks,
                kDimension, kRounds);
    std::printf("%-28s %9s %9s %9s %11s\n", "", "p50 us", "p99 us", "per s", "CPU us each");
    library.print("library");
    library_many.print("library, 16 callers");
    alone.print("HTTP, 1 connection");
    many.print("HTTP, 16 connections");
    const double more = percentile(alone.cpu, 0.5) - percentile(library.cpu, 0.5);
    const double more_many = percentile(many.cpu, 0.5) - percentile(library.cpu, 0.5);
    const double ratio = percentile(many.p99, 0.5) / percentile(library.p50, 0.5);
    std::printf("\nserver CPU above the library's  %6.0f us (16 connections: %.0f)   bar 150: %s\n",
                more, more_many, verdict(std::max(more, more_many) <= 150));
    std::printf("p99 of 16 / p50 of the library  %6.1f                         bar 20: %s\n", ratio,
                verdict(ratio <= 20));
    const double share = percentile(many.qps, 0.5) / percentile(library_many.qps, 0.5);
    std::printf("rate of 16 / the library's 16   %6.2f                         bar 0.7: %s\n",
                share, verdict(share >= 0.7));
    std::printf("1,000 idle connections          %6.1f MB                      bar 50: %s\n",
                idle_mb, verdict(idle_mb < 50));
}

}  // namespace

/// Arguments are further flags of `braid serve`.
int main(int argc, char** argv) {
    try {
        measure(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "http_bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
