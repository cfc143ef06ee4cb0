// cluster_bench FOLDER URLS PREFIX QUERIES VECTORS SECONDS THREADS all|rate: one collection, "c",
// in a folder and in a cluster, asked the same questions in turn. Prints one JSON object.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "braid/database.hpp"
#include "braid/json/json.hpp"

namespace {

using namespace braid;  // NOLINT(google-build-using-namespace): a program of its own
using Clock = std::chrono::steady_clock;

constexpr std::size_t kDimension = 384;
constexpr std::size_t kHits = 10;
constexpr std::size_t kWarmUp = 200;  // questions; nodes compile their code meanwhile

[[noreturn]] void die(const std::string& message) {
    std::cerr << "cluster_bench: " << message << "\n";
    std::_Exit(1);
}
template <class T>
T must(Result<T> result) {
    if (!result) die(result.error().message);
    return *std::move(result);
}

struct Question {
    std::string text;
    std::vector<float> vector;
};

std::vector<Question> read_questions(const std::string& texts, const std::string& vectors) {
    std::ifstream lines(texts);
    std::ifstream rows(vectors, std::ios::binary);
    std::vector<Question> questions;
    for (Question question; std::getline(lines, question.text);) {
        question.vector.resize(kDimension);
        const auto bytes = static_cast<std::streamsize>(kDimension * sizeof(float));
        if (!rows.read(reinterpret_cast<char*>(question.vector.data()), bytes)) break;
        questions.push_back(question);
    }
    if (questions.empty()) die("no questions in " + texts);
    return questions;
}

Request request_of(const Question& question, Strategy strategy, bool exact = false) {
    Request request;
    request.query = question.text;
    request.query_embedding = question.vector;
    request.collections = {"c"};
    request.strategy = strategy;
    request.top_k = kHits;
    request.exact = exact;
    return request;
}

double percentile(std::vector<double>& values, double share) {
    std::ranges::sort(values);
    return values.at(static_cast<std::size_t>(share * static_cast<double>(values.size() - 1)));
}

double ask(const Database& database, const Request& request) {
    const auto begin = Clock::now();
    (void)must(database.retrieve(request));
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

Object latencies(std::vector<double>& times) {
    return {{"p50_ms", percentile(times, 0.5)}, {"p95_ms", percentile(times, 0.95)}};
}

/// Questions in turn to both, so that whatever else the machine does hits both alike.
Object compare_times(const Database& here, const Database& there,
                     const std::vector<Question>& questions, Strategy strategy, double seconds) {
    std::vector<double> local;
    std::vector<double> remote;
    for (std::size_t i = 0; i < kWarmUp; ++i) {
        const Request request = request_of(questions[i % questions.size()], strategy);
        (void)ask(here, request);
        (void)ask(there, request);
    }
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    for (std::size_t i = kWarmUp; Clock::now() < end || local.size() < 20; ++i) {
        const Request request = request_of(questions[i % questions.size()], strategy);
        local.push_back(ask(here, request));
        remote.push_back(ask(there, request));
    }
    Object out;
    out.set("questions", static_cast<std::int64_t>(local.size()));
    out.set("embedded", latencies(local));
    out.set("cluster", latencies(remote));
    out.set("hop_p50_ms", percentile(remote, 0.5) - percentile(local, 0.5));
    return out;
}

double rate(const Database& database, const std::vector<Question>& questions, Strategy strategy,
            double seconds, std::size_t threads) {
    std::atomic<std::size_t> asked{0};
    const auto begin = Clock::now();
    const auto end = begin + std::chrono::duration<double>(seconds);
    {
        std::vector<std::jthread> clients;
        for (std::size_t t = 0; t < threads; ++t) {
            clients.emplace_back([&] {
                while (Clock::now() < end) {
                    (void)ask(database,
                              request_of(questions[asked++ % questions.size()], strategy));
                }
            });
        }
    }
    return static_cast<double>(asked) / std::chrono::duration<double>(Clock::now() - begin).count();
}

/// How far the answers agree: hits in common, and by how much the scores of common hits differ.
Object agreement(const Database& here, const Database& there,
                 const std::vector<Question>& questions, Strategy strategy, bool exact) {
    double overlap = 0;
    double worst = 0;
    double sum = 0;
    std::size_t compared = 0;
    std::size_t same_order = 0;
    const std::size_t count = std::min<std::size_t>(questions.size(), 60);
    for (std::size_t i = 0; i < count; ++i) {
        // Embedded and exact is what there is to be found.
        const Answer a = must(here.retrieve(request_of(questions[i], strategy, true)));
        const Answer b = must(there.retrieve(request_of(questions[i], strategy, exact)));
        std::map<std::string, double> scores;
        for (const Hit& hit : a.hits) scores[hit.chunk.chunk_id] = hit.score;
        std::size_t common = 0;
        for (const Hit& hit : b.hits) {
            const auto found = scores.find(hit.chunk.chunk_id);
            if (found == scores.end()) continue;
            ++common;
            const double difference =
                std::abs(hit.score - found->second) / std::max(std::abs(found->second), 1e-12);
            worst = std::max(worst, difference);
            sum += difference;
            ++compared;
        }
        overlap +=
            a.hits.empty() ? 1.0 : static_cast<double>(common) / static_cast<double>(a.hits.size());
        const bool same = std::ranges::equal(a.hits, b.hits, [](const Hit& x, const Hit& y) {
            return x.chunk.chunk_id == y.chunk.chunk_id;
        });
        if (same) ++same_order;
    }
    const auto n = static_cast<double>(count);
    Object out;
    out.set("questions", static_cast<std::int64_t>(count));
    out.set("overlap", overlap / n);
    out.set("same_order", static_cast<double>(same_order) / n);
    out.set("score_difference_mean", compared > 0 ? sum / static_cast<double>(compared) : 0.0);
    out.set("score_difference_worst", worst);
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> given(argv + 1, argv + argc);
    if (given.size() != 8) die("FOLDER URLS PREFIX QUERIES VECTORS SECONDS THREADS all|rate");
    ClusterEndpoint endpoint;
    std::istringstream urls(given[1]);
    for (std::string url; std::getline(urls, url, ',');) endpoint.urls.push_back(url);
    endpoint.prefix = given[2];
    const Database here = must(Database::open(given[0], {.create = false, .read_only = true}));
    const Database there = must(Database::cluster(endpoint));
    const auto questions = read_questions(given[3], given[4]);
    const double seconds = std::atof(given[5].c_str());
    const std::size_t threads = std::strtoul(given[6].c_str(), nullptr, 10);
    Object out;
    for (const auto& [name, strategy] :
         {std::pair("words", Strategy::Sparse), std::pair("vectors", Strategy::Dense),
          std::pair("both", Strategy::Hybrid)}) {
        Object one = compare_times(here, there, questions, strategy, seconds);
        one.set("cluster_per_second", rate(there, questions, strategy, seconds, threads));
        if (given[7] == "all") {
            one.set("embedded_per_second", rate(here, questions, strategy, seconds, threads));
            one.set("agreement", agreement(here, there, questions, strategy, false));
            one.set("agreement_exact", agreement(here, there, questions, strategy, true));
        }
        out.set(name, std::move(one));
    }
    std::cout << json::print(out) << "\n";
}
