#include "braid/cli/interrupt.hpp"

#include <csignal>
#include <thread>

#include <pthread.h>
#include <unistd.h>

namespace braid::cli {
namespace {

constexpr int kInterrupted = 130;

}  // namespace

Interrupts::Interrupts() {
    std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): cannot fail for a known signal
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGINT);
    ::sigaddset(&signals, SIGTERM);
    // Every thread inherits the mask, so that only the one below sees the signals.
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([this, signals] {
        while (true) {
            int signal = 0;
            if (::sigwait(&signals, &signal) != 0) continue;
            if (!held_.load() || stop_.stop_requested()) ::_exit(kInterrupted);
            stop_.request_stop();
        }
    }).detach();
}

}  // namespace braid::cli
