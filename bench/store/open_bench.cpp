// Opens a database anew for each round, and searches: JSON with the medians, in microseconds of
// CPU, which other work on the machine changes little.
//
//   open_bench DATA COLLECTION ROUNDS < questions, one per line

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <time.h>  // NOLINT(modernize-deprecated-headers): the clock is POSIX's

#include "braid/database.hpp"

namespace braid::bench {
namespace {

[[noreturn]] void die(const std::string& message) {
    std::cerr << "open_bench: " << message << "\n";
    std::_Exit(1);
}

template <class T>
T must(Result<T> result) {
    if (!result) die(result.error().message);
    return *std::move(result);
}

/// Of all threads of this process.
double cpu_micros() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

int run(const std::string& path, const std::string& collection, int rounds) {
    std::vector<std::string> questions;
    for (std::string line; std::getline(std::cin, line);) questions.push_back(line);
    if (questions.size() < 2) die("two questions or more are needed");
    std::vector<double> opening;
    std::vector<double> first;
    std::vector<double> following;
    for (int round = 0; round < rounds; ++round) {
        double start = cpu_micros();
        OpenOptions options;
        options.create = false;
        options.read_only = true;
        Database database = must(Database::open(path, options));
        opening.push_back(cpu_micros() - start);
        for (std::size_t i = 0; i < questions.size(); ++i) {
            Request request;
            // Another one comes first each time.
            request.query = questions[(i + static_cast<std::size_t>(round)) % questions.size()];
            request.collections = {collection};
            request.strategy = Strategy::Sparse;
            start = cpu_micros();
            (void)must(database.retrieve(request));
            (i == 0 ? first : following).push_back(cpu_micros() - start);
        }
    }
    std::printf(R"({"open_us": %.0f, "first_us": %.0f, "following_us": %.0f})"
                "\n",
                median(opening), median(first), median(following));
    return 0;
}

}  // namespace
}  // namespace braid::bench

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "usage: open_bench DATA COLLECTION ROUNDS < QUESTIONS\n";
        return 2;
    }
    return braid::bench::run(argv[1], argv[2], std::max(1, std::atoi(argv[3])));
}
