#include "calls.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>
#include <semaphore.h>

namespace braid::python {
namespace {

std::atomic<unsigned> g_forks = 0;
unsigned long g_main_thread = 0;

/// A handler may only post the semaphore: a thread of ours does what takes locks.
struct Interrupts {
    sem_t wake{};
    struct sigaction before {};
    std::mutex mutex;
    std::vector<std::stop_source> active;  // nested where a callable of a call makes another
    std::thread::id watcher;
};

Interrupts& interrupts() {
    static Interrupts* const kOnly = [] {
        auto* const made = new Interrupts;  // NOLINT(cppcoreguidelines-owning-memory): never freed,
        sem_init(&made->wake, 0, 0);        // because its thread waits on it to the very end
        return made;
    }();
    return *kOnly;
}

void on_interrupt(int signal, siginfo_t* info, void* context) {
    Interrupts& shared = interrupts();
    sem_post(&shared.wake);
    if ((shared.before.sa_flags & SA_SIGINFO) != 0) {
        shared.before.sa_sigaction(signal, info, context);
    } else {
        shared.before.sa_handler(signal);
    }
}

void watch() {
    Interrupts& shared = interrupts();
    for (;;) {
        if (sem_wait(&shared.wake) != 0) continue;
        const std::scoped_lock lock(shared.mutex);
        for (const std::stop_source& stop : shared.active) stop.request_stop();
    }
}

void start_watching(Interrupts& shared) {
    if (shared.watcher != std::thread::id()) return;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread watcher(watch);
    shared.watcher = watcher.get_id();
    watcher.detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool has_handler(const struct sigaction& action) {
    if ((action.sa_flags & SA_SIGINFO) != 0) return action.sa_sigaction != nullptr;
    return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

}  // namespace

unsigned fork_generation() noexcept {
    return g_forks.load(std::memory_order_relaxed);
}

InterruptGuard::InterruptGuard(const std::stop_source& stop) {
    if (PyThread_get_thread_ident() != g_main_thread) return;
    Interrupts& shared = interrupts();
    const std::scoped_lock lock(shared.mutex);
    if (shared.active.empty()) {
        if (sigaction(SIGINT, nullptr, &shared.before) != 0 || !has_handler(shared.before)) return;
        start_watching(shared);
        struct sigaction ours = shared.before;
        ours.sa_sigaction = on_interrupt;
        ours.sa_flags |= SA_SIGINFO;
        sigaction(SIGINT, &ours, nullptr);
    }
    shared.active.push_back(stop);
    active_ = true;
}

InterruptGuard::~InterruptGuard() {
    if (!active_) return;
    Interrupts& shared = interrupts();
    const std::scoped_lock lock(shared.mutex);
    shared.active.pop_back();
    if (shared.active.empty()) sigaction(SIGINT, &shared.before, nullptr);
}

void set_up_calls() {
    const nb::object threading = nb::module_::import_("threading");
    g_main_thread = nb::cast<unsigned long>(threading.attr("main_thread")().attr("ident"));
    (void)interrupts();
    pthread_atfork([] { interrupts().mutex.lock(); }, [] { interrupts().mutex.unlock(); },
                   [] {
                       Interrupts& shared = interrupts();
                       shared.mutex.unlock();
                       shared.watcher = {};
                       g_forks.fetch_add(1, std::memory_order_relaxed);
                       // The thread that forked is the child's main thread.
                       g_main_thread = PyThread_get_thread_ident();
                   });
}

}  // namespace braid::python
