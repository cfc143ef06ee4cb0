#include "braid/net/http/worker_pool.hpp"

#include <algorithm>
#include <utility>

namespace braid::net {

WorkerPool::WorkerPool(const WorkerOptions& options) : options_(options) {
    const std::size_t threads = options.computing + options.spare;
    threads_.reserve(threads);
    idle_.reserve(threads);
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

bool WorkerPool::post(std::function<void()> task) {
    const std::scoped_lock lock(mutex_);
    const std::size_t places = options_.computing - std::min(taken_, options_.computing);
    if (waiting_.size() >= coming_ + places + options_.max_waiting) return false;
    waiting_.push_back({std::move(task), Clock::now()});
    if (taken_ < options_.computing) {
        call_one();
    } else if (!idle_.empty()) {
        idle_.front()->wake.notify_one();  // it looks whether somebody waits for too long
    }
    return true;
}

void WorkerPool::finish() {
    {
        const std::scoped_lock lock(mutex_);
        finishing_ = true;
        for (Worker* const worker : idle_) worker->wake.notify_one();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void WorkerPool::wait_begins() noexcept {
    const std::scoped_lock lock(mutex_);
    --taken_;
    if (waiting_.size() > coming_ && taken_ < options_.computing) call_one();
}

void WorkerPool::wait_ends() noexcept {
    const std::scoped_lock lock(mutex_);
    ++taken_;  // for a moment more compute than should; nobody new begins
}

void WorkerPool::give_place(Worker& worker) {
    std::erase(idle_, &worker);
    worker.called = true;
    ++taken_;
    ++coming_;
}

void WorkerPool::call_one() {
    if (idle_.empty()) return;
    Worker& worker = *idle_.back();
    give_place(worker);
    worker.wake.notify_one();
}

/// The worker that has been idle for longest keeps an eye on tasks that wait.
bool WorkerPool::wait_for_a_place(Worker& self, std::unique_lock<std::mutex>& lock) {
    idle_.push_back(&self);
    while (!self.called) {
        if (finishing_ && waiting_.size() <= coming_) {
            std::erase(idle_, &self);
            return false;
        }
        const bool watches = waiting_.size() > coming_ && idle_.front() == &self;
        const bool place = waiting_.size() > coming_ && taken_ < options_.computing;
        if (place || (watches && overdue())) {
            give_place(self);
            if (!idle_.empty())
                idle_.front()->wake.notify_one();  // the next to keep an eye on them
        } else if (watches) {
            self.wake.wait_until(lock, waiting_.front().posted + options_.patience);
        } else {
            self.wake.wait(lock);
        }
    }
    self.called = false;
    --coming_;
    return true;
}

void WorkerPool::run_front(std::unique_lock<std::mutex>& lock) {
    std::function<void()> task = std::move(waiting_.front().run);
    waiting_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds is let go of before the lock is taken
    lock.lock();
}

void WorkerPool::work() {
    core::observe_waits(this);
    Worker self;
    std::unique_lock lock(mutex_);
    while (wait_for_a_place(self, lock)) {
        if (!waiting_.empty()) run_front(lock);
        while (!waiting_.empty() && taken_ <= options_.computing) run_front(lock);
        --taken_;
        if (!finishing_) continue;
        for (Worker* const worker : idle_) worker->wake.notify_one();
    }
}

}  // namespace braid::net
