#include <chrono>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "engine.hpp"
#include "request_input.hpp"

namespace braid::python {
namespace {

using Seconds = std::chrono::duration<double>;

double now() {
    return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Of this thread, or of all threads of the process.
double processor_time(clockid_t clock) {
    timespec spent{};
    clock_gettime(clock, &spent);
    return Seconds(std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec))
        .count();
}

/// By the clock, and of the processor.
using Spent = std::pair<double, double>;

/// `work()` and the freeing of what it returns, a Result.
template <class Work>
Result<Spent> spent_in(clockid_t clock, Work&& work) {
    const double processor = processor_time(clock);
    const double begun = now();
    BRAID_CHECK(work());
    const double ended = now();
    return Spent{ended - begun, processor_time(clock) - processor};
}

Result<std::vector<Spent>> retrieve_each(const Database& database,
                                         const std::vector<Request>& requests) {
    std::vector<Spent> spent;
    spent.reserve(requests.size());
    for (const Request& request : requests) {
        BRAID_TRY(spent.emplace_back(),
                  spent_in(CLOCK_THREAD_CPUTIME_ID, [&] { return database.retrieve(request); }));
    }
    return spent;
}

/// The requests as a C++ program makes them, all of them in each of `threads` threads: the whole
/// time, and what each call of the first thread took.
std::pair<double, std::vector<Spent>> library_seconds(const Engine& self, nb::list requests,
                                                      unsigned threads) {
    std::vector<Request> read;
    read.reserve(nb::len(requests));
    for (const nb::handle request : requests) read.push_back(read_request(request));
    const OpenPtr open = value_or_raise(self.open());
    double whole = 0;
    auto each = run_call(nullptr, [&](const CallLimits&) {
        const double begun = now();
        std::vector<std::jthread> others;
        others.reserve(threads);
        for (unsigned i = 1; i < threads; ++i) {
            others.emplace_back([&] { (void)retrieve_each(open->database, read); });
        }
        auto first = retrieve_each(open->database, read);
        others.clear();
        whole = now() - begun;
        return first;
    });
    return {whole, value_or_raise(std::move(each))};
}

/// One batch as a C++ program makes it.
Spent library_batch_seconds(const Engine& self, nb::dict shared, nb::list queries,
                            nb::object embeddings) {
    const std::vector<Request> requests = read_batch(shared, queries, embeddings);
    const OpenPtr open = value_or_raise(self.open());
    return value_or_raise(run_call(nullptr, [&](const CallLimits&) {
        return spent_in(CLOCK_PROCESS_CPUTIME_ID, [&]() -> Result<> {
            for (const auto& answer : open->database.retrieve_batch(requests)) {
                if (!answer) return tl::unexpected(answer.error());
            }
            return {};
        });
    }));
}

}  // namespace

void bind_measures(nb::module_& module) {
    module.def("library_seconds", &library_seconds, nb::arg("engine"), nb::arg("requests"),
               nb::arg("threads"));
    module.def("library_batch_seconds", &library_batch_seconds, nb::arg("engine"),
               nb::arg("shared"), nb::arg("queries"), nb::arg("embeddings").none());
}

}  // namespace braid::python
