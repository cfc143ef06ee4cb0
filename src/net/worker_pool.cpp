#include "braid/net/worker_pool.hpp"

#include <utility>

namespace braid::net {

WorkerPool::WorkerPool(std::size_t threads, std::size_t max_waiting)
    : max_waiting_(max_waiting), free_(threads) {
    threads_.reserve(threads);
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

bool WorkerPool::post(std::function<void()> task) {
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() >= free_ + max_waiting_) return false;
    waiting_.push_back(std::move(task));
    if (!idle_.empty()) {
        Worker& worker = *idle_.back();
        idle_.pop_back();
        worker.called = true;
        worker.wake.notify_one();
    }
    return true;
}

void WorkerPool::finish() {
    {
        const std::scoped_lock lock(mutex_);
        finishing_ = true;
        for (Worker* const worker : idle_) {
            worker->called = true;
            worker->wake.notify_one();
        }
        idle_.clear();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void WorkerPool::work() {
    Worker self;
    std::unique_lock lock(mutex_);
    while (true) {
        while (waiting_.empty() && !finishing_) {
            self.called = false;
            idle_.push_back(&self);
            self.wake.wait(lock, [&] { return self.called; });
        }
        if (waiting_.empty()) return;
        std::function<void()> task = std::move(waiting_.front());
        waiting_.pop_front();
        --free_;
        lock.unlock();
        task();
        task = nullptr;  // what it holds is let go of before the lock is taken
        lock.lock();
        ++free_;
    }
}

}  // namespace braid::net
