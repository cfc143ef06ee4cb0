#pragma once

#include <stop_token>
#include <utility>

#include "braid/result.hpp"
#include "braid/types.hpp"
#include "values.hpp"

namespace braid::python {

/// Counts the forks this process came from: what was made under another number belongs to an
/// ancestor, whose threads are not here.
unsigned fork_generation() noexcept;

/// While it lives in the main thread, SIGINT also stops `stop`; the handler that was there is
/// called as before. In other threads, and where SIGINT is ignored or at its default, it does
/// nothing. Needs the GIL at both ends.
class InterruptGuard {
public:
    explicit InterruptGuard(const std::stop_source& stop);
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    InterruptGuard(InterruptGuard&&) = delete;
    InterruptGuard& operator=(InterruptGuard&&) = delete;

private:
    bool active_ = false;
};

/// To be called once, while the module is made.
void set_up_calls();

/// Runs `work(limits)`, a Result, without the GIL. Ctrl-C stops it and raises KeyboardInterrupt.
template <class Work>
auto run_call(const std::stop_source* given, Work&& work) {
    const std::stop_source stop = given != nullptr ? *given : std::stop_source();
    CallLimits limits;
    limits.stop = stop.get_token();
    auto result = [&] {
        const InterruptGuard guard(stop);
        const nb::gil_scoped_release release;
        return std::forward<Work>(work)(std::as_const(limits));
    }();
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return result;
}

}  // namespace braid::python
