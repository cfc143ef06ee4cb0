#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace braid::net {

/// Threads that run tasks in the order they came. Of several idle ones, the one that worked last
/// takes the next task: its caches are warm. Tasks must not throw. Safe for concurrent use.
class WorkerPool {
public:
    WorkerPool(std::size_t threads, std::size_t max_waiting);
    ~WorkerPool() { finish(); }
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;
    WorkerPool(WorkerPool&&) = delete;
    WorkerPool& operator=(WorkerPool&&) = delete;

    /// False, and the task is dropped, if `max_waiting` wait already.
    bool post(std::function<void()> task);
    /// Returns when every task has run; nothing may be posted afterwards.
    void finish();

private:
    struct Worker {
        std::condition_variable wake;
        bool called = false;
    };

    void work();

    const std::size_t max_waiting_;
    std::mutex mutex_;
    std::deque<std::function<void()>> waiting_;
    std::vector<Worker*> idle_;  // the last is the next to be called
    std::size_t free_ = 0;       // idle ones, and those that were called but are not there yet
    bool finishing_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace braid::net
