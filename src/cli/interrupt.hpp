#pragma once

#include <atomic>
#include <memory>
#include <stop_token>

#include <sys/types.h>

namespace braid::cli {

/// Turns SIGINT and SIGTERM into an exit with 130. Until hold() is called they end the program at
/// once; afterwards the first one only requests a stop, so that a write can be finished, and the
/// second ends the program. SIGPIPE is ignored: writing fails with EPIPE instead.
///
/// One per program, made before any other thread.
class Interrupts {
public:
    Interrupts();

    void hold() noexcept { state_->held.store(true); }
    std::stop_token token() const noexcept { return state_->stop.get_token(); }
    /// When a signal ends the program, this process, which has the terminal, ends first.
    void wait_for(pid_t pager) noexcept { state_->pager.store(pager); }
    bool requested() const noexcept { return state_->stop.stop_requested(); }

private:
    struct State {
        std::stop_source stop;
        std::atomic<bool> held{false};
        std::atomic<pid_t> pager{-1};
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();  // outlived by the waiting thread
};

}  // namespace braid::cli
