#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "braid/core/waiting.hpp"

namespace braid::net {

struct WorkerOptions {
    std::size_t computing = 1;       // tasks at work at the same time, without those that wait
    std::size_t spare = 0;           // threads more, for the places of tasks that wait
    std::size_t max_waiting = 1024;  // tasks that nobody has begun
    /// A task that has waited so long gets a spare thread, if there is one, whoever computes.
    std::chrono::milliseconds patience{100};
};

/// Threads that run tasks in the order they came. Of several idle ones, the one that worked last
/// takes the next task: its caches are warm. No more tasks compute at once than it is told, so that
/// they do not take each other's time slices; one that waits for a disk or another machine
/// (core::Waiting) makes place for the next. Tasks must not throw. Safe for concurrent use.
class WorkerPool final : private core::WaitObserver {
public:
    explicit WorkerPool(const WorkerOptions& options);
    ~WorkerPool() override { finish(); }
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;
    WorkerPool(WorkerPool&&) = delete;
    WorkerPool& operator=(WorkerPool&&) = delete;

    /// False, and the task is dropped, if `max_waiting` wait already.
    bool post(std::function<void()> task);
    /// Returns when every task has run; nothing may be posted afterwards.
    void finish();

private:
    using Clock = std::chrono::steady_clock;
    struct Worker {
        std::condition_variable wake;
        bool called = false;  // it has a place
    };
    struct Task {
        std::function<void()> run;
        Clock::time_point posted;
    };

    void wait_begins() noexcept override;
    void wait_ends() noexcept override;

    // All require the lock.
    void give_place(Worker& worker);
    void call_one();
    /// False if there is nothing more to do, ever.
    bool wait_for_a_place(Worker& self, std::unique_lock<std::mutex>& lock);
    void run_front(std::unique_lock<std::mutex>& lock);
    bool overdue() const { return Clock::now() - waiting_.front().posted >= options_.patience; }

    void work();

    const WorkerOptions options_;
    std::mutex mutex_;
    std::deque<Task> waiting_;
    std::vector<Worker*> idle_;  // the last is the next to be called
    std::size_t taken_ = 0;      // places: of workers that compute, or were called
    std::size_t coming_ = 0;     // workers that were called and are not there yet
    bool finishing_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace braid::net
