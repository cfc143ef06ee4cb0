// The speed that the product's founding documents ask for, each figure beside its bar, measured
// from outside: `braid serve`, one request at a time or sixteen, the query's embedding included.
//
//   the retrieval service     an answer in less than 100 ms; over the sample articles, as ingested
//   the retrieval component   95 of 100 answers in less than 100 ms, 100 answers a second; over
//                             generated chunks
//   the search for agents     all collections in less than 500 ms; over generated chunks
//
// Every query is asked once, so that no remembered vector helps. Input is generated from a fixed
// seed; nothing is fetched.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX

#include "bench_kit.hpp"

namespace {

// NOLINTBEGIN(google-build-using-namespace): a program of its own
using namespace braid;
using namespace braid::bench;
// NOLINTEND(google-build-using-namespace)

constexpr const char* kModel = "bge-small-en-v1.5";
constexpr std::size_t kWords = 60;       // of a chunk
constexpr std::size_t kQueryWords = 5;   //
constexpr std::size_t kAlone = 500;      // queries, one after the other
constexpr std::size_t kTogether = 1600;  // over all connections
constexpr std::size_t kConnections = 16;
constexpr std::size_t kBatch = 1000;

struct Subject {
    Corpus corpus;
    std::string folder;
    bool model = true;  // the built-in model is here
};

std::string post(std::string_view target, const Value& body) {
    const std::string text = json::print(body);
    return "POST " + std::string(target) +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(text.size()) + "\r\n\r\n" + text;
}

void print_row(const char* application, const std::string& what, double value, const char* unit,
               const std::string& bar, bool met) {
    std::printf("%-9s %-58s %9.1f %-4s bar %-8s %s\n", application, what.c_str(), value, unit,
                bar.c_str(), verdict(met));
    std::fflush(stdout);
}

/// Milliseconds of each request, one after the other.
std::vector<double> ask_alone(const Server& server, const std::vector<std::string>& requests) {
    Connection connection(server.port());
    std::vector<double> times;
    times.reserve(requests.size());
    for (const std::string& request : requests) {
        const auto start = Clock::now();
        connection.ask(request);
        times.push_back(micros_since(start) / 1000);
    }
    return times;
}

/// Answers a second over several connections, each with its share of the requests.
double ask_together(const Server& server, const std::vector<std::string>& requests) {
    std::vector<Connection> open;
    open.reserve(kConnections);
    for (std::size_t i = 0; i < kConnections; ++i) open.emplace_back(server.port());
    const auto begin = Clock::now();
    std::vector<std::thread> threads;
    threads.reserve(kConnections);
    for (std::size_t i = 0; i < kConnections; ++i) {
        threads.emplace_back([&, i] {
            for (std::size_t q = i; q < requests.size(); q += kConnections)
                open[i].ask(requests[q]);
        });
    }
    for (std::thread& thread : threads) thread.join();
    return static_cast<double>(requests.size()) / (micros_since(begin) / 1e6);
}

/// Chunks of five to a document, with vectors, into a collection of its own.
void fill(Database& database, Subject& subject, const std::string& collection, std::size_t count) {
    Schema schema;
    schema.vectors.embedder = subject.model ? kModel : "external";
    schema.vectors.dimension = kDimension;
    if (const auto made = database.create_collection(collection, schema); !made) {
        die(made.error().message);
    }
    for (std::size_t at = 0; at < count; at += kBatch) {
        std::vector<Chunk> chunks(std::min(kBatch, count - at));
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            Chunk& chunk = chunks[i];
            chunk.chunk_id = collection + "-" + std::to_string(at + i);
            chunk.document_id = collection + "-doc-" + std::to_string((at + i) / 5);
            chunk.chunk_index = static_cast<std::int64_t>((at + i) % 5);
            chunk.content = subject.corpus.text(kWords);
            chunk.vector = subject.corpus.vector();
        }
        must(database.add(collection, std::move(chunks)));
    }
}

/// Requests of one kind, every query another.
std::vector<std::string> requests(Subject& subject, std::size_t count, std::string_view target,
                                  const Object& rest, bool takes_vectors) {
    std::vector<std::string> texts;
    texts.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        Object body = rest;
        body.set("query", subject.corpus.text(kQueryWords));
        if (!subject.model && takes_vectors) {
            Array vector;
            for (const float x : subject.corpus.vector()) vector.emplace_back(x);
            body.set("query_embedding", std::move(vector));
        }
        texts.push_back(post(target, Value(std::move(body))));
    }
    return texts;
}

bool has_model() {
    auto database = must(Database::in_memory());
    Schema schema;
    schema.vectors.embedder = kModel;
    return database.create_collection("probe", schema).has_value();
}

void measure_service(Subject& subject) {
    const std::string data = subject.folder + "/service";
    const std::string examples = BRAID_EXAMPLES;
    const std::string command = std::string(BRAID_PROGRAM) + " --quiet --data '" + data +
                                "' ingest '" + examples + "/wiki' --embedder " +
                                (subject.model ? kModel : "none");
    // NOLINTNEXTLINE(concurrency-mt-unsafe,cert-env33-c): the only thread, and no input
    if (std::system(command.c_str()) != 0) die("cannot ingest the sample articles");
    std::vector<std::string> asked;
    std::ifstream lines(examples + "/queries/wiki.jsonl");
    for (std::string line; std::getline(lines, line);) {
        const Value query = must(json::parse(line));
        asked.push_back(
            post("/v1/retrieve", Object{{"query", *query.find("text")}, {"profile", "service"}}));
    }
    if (asked.empty()) die("no sample questions");
    const Server server(data, {});
    const std::vector<std::string> first{
        post("/v1/retrieve", Object{{"query", "a first question"}})};
    ask_alone(server, first);  // the model is loaded
    const std::vector<double> times = ask_alone(server, asked);
    print_row("service",
              "hybrid, 80 articles, " + std::to_string(asked.size()) + " questions: slowest",
              percentile(times, 1), "ms", "< 100", percentile(times, 1) < 100);
}

void measure_component(Subject& subject, std::size_t chunks) {
    const std::string data = subject.folder + "/component-" + std::to_string(chunks);
    {
        auto database = must(Database::open(data));
        fill(database, subject, "default", chunks);
    }
    const Object rest{{"top_k", 10}};
    const auto warm = requests(subject, 20, "/v1/retrieve", rest, true);
    const auto alone = requests(subject, kAlone, "/v1/retrieve", rest, true);
    const auto together = requests(subject, kTogether, "/v1/retrieve", rest, true);
    const Server server(data, {});
    ask_alone(server, warm);
    const std::vector<double> times = ask_alone(server, alone);
    const std::string what = "hybrid top 10, " + std::to_string(chunks) + " chunks";
    print_row("component", what + ": p95", percentile(times, 0.95), "ms", "< 100",
              percentile(times, 0.95) < 100);
    const double rate = ask_together(server, together);
    print_row("component", what + ": 16 connections", rate, "/s", ">= 100", rate >= 100);
}

void measure_agents(Subject& subject, std::size_t chunks) {
    const std::string data = subject.folder + "/agents";
    {
        auto database = must(Database::open(data));
        fill(database, subject, "artifact_chunks", chunks);
        for (const char* const name : {"artifacts", "memory", "history"}) {
            fill(database, subject, name, std::max<std::size_t>(chunks / 5, 1));
        }
    }
    const Object rest{{"limit", 5},
                      {"include_memory", true},
                      {"include_history", true},
                      {"expand_neighbors", true}};
    const auto warm = requests(subject, 20, "/v1/hybrid_search", rest, false);
    const auto asked = requests(subject, kAlone, "/v1/hybrid_search", rest, false);
    const Server server(data, {});
    ask_alone(server, warm);
    const std::vector<double> times = ask_alone(server, asked);
    print_row("agents",
              "hybrid_search, 4 collections, " + std::to_string(chunks + 3 * (chunks / 5)) +
                  " chunks: slowest",
              percentile(times, 1), "ms", "< 500", percentile(times, 1) < 500);
}

}  // namespace

/// `--quick`: a tenth of the input, to see that it works.
int main(int argc, char** argv) {
    const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
    const std::size_t unit = quick ? 1000 : 10'000;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the only thread
    ::setenv("BRAID_MODELS", BRAID_BUILT_MODELS, 0);  // this program is not beside them
    std::string folder = (std::filesystem::temp_directory_path() / "braid-seeds-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) die("no folder for temporary files");
    try {
        Subject subject;
        subject.folder = folder;
        subject.model = has_model();
        std::printf("%s\n\n",
                    subject.model
                        ? "The time of every query holds its embedding by the built-in model."
                        : "The built-in model is not here (make models): the service and the "
                          "agents search by words alone, the component brings its vectors.");
        measure_service(subject);
        measure_component(subject, unit);
        measure_component(subject, 10 * unit);
        measure_agents(subject, 5 * unit);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "seeds_bench: %s\n", error.what());
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    return 0;
}
