#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "braid/cli/session.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::cli {

/// All queries searched once.
struct BenchRound {
    double qps = 0;
    double p50_us = 0;
    double p95_us = 0;
    double p99_us = 0;
};

/// For the output: "qps", "p50_us", "p95_us", "p99_us".
Object bench_figures(const BenchRound& round);

/// Answers query `index` with row numbers, best first.
using BenchSearch = std::function<Result<std::vector<std::uint64_t>>(std::size_t index)>;

/// Runs queries 0 ... `queries` - 1 on `threads` threads. `rows`, if given, takes the answers.
Result<BenchRound> bench_round(std::size_t queries, std::size_t threads, const BenchSearch& search,
                               std::vector<std::vector<std::uint64_t>>* rows = nullptr);

/// What is measured, once it is built.
struct BenchSubject {
    std::size_t queries = 0;
    std::size_t threads = 1;
    BenchSearch search;
    Object built;           // seconds and bytes, for the output
    BenchSearch dense_leg;  // hybrid: what that leg hands to fusion
};

/// One warm-up and `rounds` measured rounds, of which the median by queries per second counts.
Result<BenchRound> bench_median(const BenchSubject& subject, std::size_t rounds);

/// Lets another program say when a round is due: prints `{"ready": true, ...}`, then answers each
/// line of standard input: "round" with the figures of one round, "ids" with the rows found, and
/// `ids {"leg": "dense"}` with those of that leg.
Result<> bench_wait(Session& session, const BenchSubject& subject);

/// A folder for what is built: a new one that is removed with the object, or one that stays.
class ScratchFolder {
public:
    /// Below `parent`, or below the system's folder for temporary files if that is empty.
    static Result<ScratchFolder> create(const std::string& parent);
    /// One of the caller's, made if it is not there.
    static Result<ScratchFolder> keep(const std::string& path);
    ScratchFolder(ScratchFolder&& other) noexcept
        : path_(std::exchange(other.path_, {})), stays_(other.stays_) {}
    ScratchFolder& operator=(ScratchFolder&&) = delete;
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder();

    const std::filesystem::path& path() const noexcept { return path_; }
    /// Of all files in it.
    std::uint64_t bytes() const;

private:
    ScratchFolder(std::filesystem::path path, bool stays) : path_(std::move(path)), stays_(stays) {}
    std::filesystem::path path_;
    bool stays_;
};

}  // namespace braid::cli
