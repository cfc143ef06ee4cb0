#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "braid/json/json.hpp"

namespace {

using braid::Array;
using braid::Object;
using braid::Value;

/// Chunks as an ingest reads them, one JSON text each: mostly prose, some metadata.
std::vector<std::string> chunk_lines() {
    constexpr std::string_view words[] = {"retrieval", "of", "the",  "naïve", "index", "\"so\"",
                                          "a",         "in", "2024", "query", "dense", "hybrid"};
    std::mt19937 rng(1);  // fixed seed: two runs measure the same input
    std::vector<std::string> lines;
    for (int i = 0; i < 2000; ++i) {
        std::string text;
        while (text.size() < 1000) {
            text += words[rng() % std::size(words)];
            text += rng() % 16 == 0 ? '\n' : ' ';
        }
        const Object metadata{{"artifact_id", "doc-" + std::to_string(i / 8)},
                              {"chunk_index", i % 8},
                              {"score", 1.0 / (i + 1)},
                              {"tags", Array{"alpha", "beta"}}};
        lines.push_back(braid::json::print(Object{{"_id", "chunk-" + std::to_string(i)},
                                                  {"title", "On retrieval"},
                                                  {"text", text},
                                                  {"metadata", metadata}}));
    }
    return lines;
}

std::vector<std::string> vector_lines() {
    std::mt19937 rng(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<std::string> lines;
    for (int i = 0; i < 200; ++i) {
        Array numbers(384);
        for (Value& number : numbers)
            number = static_cast<double>(static_cast<float>(uniform(rng)));
        lines.push_back(braid::json::print(Object{{"_id", i}, {"vector", std::move(numbers)}}));
    }
    return lines;
}

std::int64_t bytes_of(const std::vector<std::string>& lines) {
    std::size_t bytes = 0;
    for (const std::string& line : lines) bytes += line.size();
    return static_cast<std::int64_t>(bytes);
}

void parse_lines(benchmark::State& state, const std::vector<std::string>& lines) {
    braid::json::Parser parser;
    while (state.KeepRunning()) {
        for (const std::string& line : lines) benchmark::DoNotOptimize(parser.parse(line));
    }
    state.SetBytesProcessed(state.iterations() * bytes_of(lines));
}

void print_lines(benchmark::State& state, const std::vector<std::string>& lines) {
    std::vector<Value> values;
    values.reserve(lines.size());
    for (const std::string& line : lines) values.push_back(*braid::json::parse(line));
    while (state.KeepRunning()) {
        for (const Value& value : values) benchmark::DoNotOptimize(braid::json::print(value));
    }
    state.SetBytesProcessed(state.iterations() * bytes_of(lines));
}

void parse_chunks(benchmark::State& state) {
    parse_lines(state, chunk_lines());
}

void parse_vectors(benchmark::State& state) {
    parse_lines(state, vector_lines());
}

void print_chunks(benchmark::State& state) {
    print_lines(state, chunk_lines());
}

void print_vectors(benchmark::State& state) {
    print_lines(state, vector_lines());
}

/// Without keeping a Parser: what one request costs.
void parse_one_request(benchmark::State& state) {
    const std::string text = R"({"query": "red fox", "top_k": 10, "strategy": "hybrid"})";
    while (state.KeepRunning()) benchmark::DoNotOptimize(braid::json::parse(text));
}

BENCHMARK(parse_chunks);
BENCHMARK(parse_vectors);
BENCHMARK(print_chunks);
BENCHMARK(print_vectors);
BENCHMARK(parse_one_request);

}  // namespace
