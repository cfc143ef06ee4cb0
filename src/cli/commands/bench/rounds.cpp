#include "braid/cli/commands/bench/rounds.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <unistd.h>

#include "braid/json/json.hpp"

namespace braid::cli {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
}

/// For another program: one line at a time, flushed, whatever standard output is.
void say(const Object& object) {
    std::cout << json::print(Value(object)) << std::endl;  // NOLINT(performance-avoid-endl): flush
}

Result<Object> answer_line(const BenchSubject& subject, const std::string& line) {
    const std::string word = line.substr(0, line.find(' '));
    if (word == "round") {
        BRAID_TRY(const BenchRound round,
                  bench_round(subject.queries, subject.threads, subject.search));
        return bench_figures(round);
    }
    if (word == "ids") {
        const std::string rest = line.substr(word.size());
        BRAID_TRY(const Value params, json::parse(rest.empty() ? "{}" : rest));
        const bool leg = subject.dense_leg && params.find("leg") != nullptr;
        std::vector<std::vector<std::uint64_t>> rows;
        BRAID_CHECK(bench_round(subject.queries, subject.threads,
                                leg ? subject.dense_leg : subject.search, &rows));
        Array lists;
        lists.reserve(rows.size());
        for (const auto& row : rows) lists.emplace_back(Array(row.begin(), row.end()));
        return Object{{"ids", std::move(lists)}};
    }
    return invalid_argument("expected \"round\" or \"ids\", got \"" + word + "\"");
}

}  // namespace

Object bench_figures(const BenchRound& round) {
    return Object{{"qps", round.qps},
                  {"p50_us", round.p50_us},
                  {"p95_us", round.p95_us},
                  {"p99_us", round.p99_us}};
}

Result<BenchRound> bench_round(std::size_t queries, std::size_t threads, const BenchSearch& search,
                               std::vector<std::vector<std::uint64_t>>* rows) {
    std::vector<double> times(queries);
    if (rows != nullptr) rows->assign(queries, {});
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::optional<Error> error;
    const auto work = [&] {
        for (std::size_t i = next++; i < queries; i = next++) {
            const auto start = Clock::now();
            auto found = search(i);
            times[i] = microseconds(Clock::now() - start);
            if (!found) {
                const std::lock_guard lock(mutex);
                if (!error) error = std::move(found).error();
                next = queries;
            } else if (rows != nullptr) {
                (*rows)[i] = *std::move(found);
            }
        }
    };
    const auto start = Clock::now();
    {
        std::vector<std::jthread> workers;
        for (std::size_t i = 1; i < threads; ++i) workers.emplace_back(work);
        work();
    }
    const double seconds = microseconds(Clock::now() - start) / 1e6;
    if (error) return tl::unexpected(*std::move(error));
    std::ranges::sort(times);
    const auto at = [&](double share) {
        return times[static_cast<std::size_t>(share * static_cast<double>(queries - 1))];
    };
    return BenchRound{static_cast<double>(queries) / seconds, at(0.5), at(0.95), at(0.99)};
}

Result<BenchRound> bench_median(const BenchSubject& subject, std::size_t rounds) {
    BRAID_CHECK(bench_round(subject.queries, subject.threads, subject.search));
    std::vector<BenchRound> all;
    all.reserve(rounds);
    for (std::size_t i = 0; i < rounds; ++i) {
        BRAID_TRY(const BenchRound round,
                  bench_round(subject.queries, subject.threads, subject.search));
        all.push_back(round);
    }
    std::ranges::sort(all, {}, &BenchRound::qps);
    return all[all.size() / 2];
}

Result<> bench_wait(Session& session, const BenchSubject& subject) {
    session.out.flush();
    Object ready{{"ready", true}, {"version", BRAID_VERSION}};
    for (const auto& [key, value] : subject.built) ready.set(key, value);
    say(ready);
    std::string line;
    while (std::getline(std::cin, line)) {
        const auto answer = answer_line(subject, line);
        say(answer ? *answer : Object{{"error", Value(answer.error().message)}});
    }
    return {};
}

Result<ScratchFolder> ScratchFolder::create(const std::string& parent) {
    std::error_code error;
    const std::filesystem::path base = parent.empty() ? std::filesystem::temp_directory_path(error)
                                                      : std::filesystem::path(parent);
    std::string name = (base / "braid-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        return fail(ErrorCode::IoError, "cannot create a scratch folder in \"" + base.string() +
                                            "\": " + std::generic_category().message(errno));
    }
    return ScratchFolder(name, false);
}

Result<ScratchFolder> ScratchFolder::keep(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
        return fail(ErrorCode::IoError,
                    "cannot create the folder \"" + path + "\": " + error.message());
    }
    return ScratchFolder(path, true);
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty() && !stays_) std::filesystem::remove_all(path_, ignored);
}

std::uint64_t ScratchFolder::bytes() const {
    std::uint64_t total = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_, ignored)) {
        if (entry.is_regular_file(ignored)) total += entry.file_size(ignored);
    }
    return total;
}

}  // namespace braid::cli
