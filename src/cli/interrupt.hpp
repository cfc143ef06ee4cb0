#pragma once

#include <atomic>
#include <stop_token>

namespace braid::cli {

/// Turns SIGINT and SIGTERM into an exit with 130. Until hold() is called they end the program at
/// once; afterwards the first one only requests a stop, so that a write can be finished, and the
/// second ends the program. SIGPIPE is ignored: writing fails with EPIPE instead.
///
/// One per program, made before any other thread.
class Interrupts {
public:
    Interrupts();

    void hold() noexcept { held_.store(true); }
    std::stop_token token() const noexcept { return stop_.get_token(); }
    bool requested() const noexcept { return stop_.stop_requested(); }

private:
    std::stop_source stop_;
    std::atomic<bool> held_{false};
};

}  // namespace braid::cli
