#include "braid/net/worker_pool.hpp"

#include <utility>

namespace braid::net {

WorkerPool::WorkerPool(std::size_t threads, std::size_t max_waiting) : max_waiting_(max_waiting) {
    threads_.reserve(threads);
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

bool WorkerPool::post(std::function<void()> task) {
    {
        const std::scoped_lock lock(mutex_);
        if (waiting_.size() >= idle_ + max_waiting_) return false;
        waiting_.push_back(std::move(task));
    }
    changed_.notify_one();
    return true;
}

void WorkerPool::finish() {
    {
        const std::scoped_lock lock(mutex_);
        finishing_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void WorkerPool::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        ++idle_;
        changed_.wait(lock, [this] { return finishing_ || !waiting_.empty(); });
        --idle_;
        if (waiting_.empty()) return;
        std::function<void()> task = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        task();
        task = nullptr;  // what it holds is let go of before the lock is taken
        lock.lock();
    }
}

}  // namespace braid::net
