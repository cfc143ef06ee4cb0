#include "braid/cli/interrupt.hpp"

#include <csignal>
#include <thread>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace braid::cli {
namespace {

constexpr int kInterrupted = 130;

[[noreturn]] void end(pid_t pager) {
    if (pager > 0) {
        ::close(STDOUT_FILENO);
        ::close(STDERR_FILENO);
        ::waitpid(pager, nullptr, 0);
    }
    ::_exit(kInterrupted);
}

}  // namespace

Interrupts::Interrupts() {
    std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): cannot fail for a known signal
    // A file that may not grow further is an error of that write, not the end of the program.
    std::signal(SIGXFSZ, SIG_IGN);  // NOLINT(cert-err33-c): cannot fail for a known signal
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGINT);
    ::sigaddset(&signals, SIGTERM);
    // Every thread inherits the mask, so that only the one below sees the signals.
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([state = state_, signals] {
        while (true) {
            int signal = 0;
            if (::sigwait(&signals, &signal) != 0) continue;
            if (!state->held.load() || state->stop.stop_requested()) {
                end(state->pager.load());
            }
            state->stop.request_stop();
        }
    }).detach();
}

}  // namespace braid::cli
