#include "braid/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <sched.h>

namespace braid::core {
namespace {

/// One call of run_parallel: a counter from which threads take tasks.
struct Batch {
    Batch(std::size_t n, const std::function<void(std::size_t)>& f) : count(n), task(&f) {}

    /// Runs tasks until none is left to take.
    void work() {
        for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
            (*task)(i);
            const std::scoped_lock lock(mutex);
            if (++done == count) finished.notify_all();
        }
    }

    void wait() {
        std::unique_lock lock(mutex);
        finished.wait(lock, [&] { return done == count; });
    }

    const std::size_t count;
    // Only dereferenced for a task that was taken, so the caller is still waiting for it.
    const std::function<void(std::size_t)>* task;
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable finished;
    std::size_t done = 0;
};

/// Threads that are started when there is work and none is idle, and then kept.
class Pool {
public:
    Pool() = default;
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    Pool(Pool&&) = delete;
    Pool& operator=(Pool&&) = delete;
    ~Pool() {
        {
            const std::scoped_lock lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    void help(const std::shared_ptr<Batch>& batch, std::size_t helpers) {
        const std::scoped_lock lock(mutex_);
        for (std::size_t i = 0; i < helpers; ++i) {
            queue_.push_back(batch);
            if (idle_ < queue_.size() && threads_.size() < kMaxThreads && start_thread()) continue;
            wake_.notify_one();
        }
    }

    /// Calls off helpers that have not come yet: left in the queue, they would make the next call
    /// start threads that nobody needs.
    void call_off(const std::shared_ptr<Batch>& batch) {
        const std::scoped_lock lock(mutex_);
        std::erase(queue_, batch);
    }

private:
    static constexpr std::size_t kMaxThreads = 64;

    /// False if the system gives no more threads: the existing ones, and the caller, do the work.
    bool start_thread() {
        try {
            threads_.emplace_back([this] { run(); });
            return true;
        } catch (const std::system_error&) {
            return false;
        }
    }

    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            ++idle_;
            wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
            --idle_;
            if (stopping_) return;
            const std::shared_ptr<Batch> batch = std::move(queue_.front());
            queue_.pop_front();
            lock.unlock();
            batch->work();
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::shared_ptr<Batch>> queue_;
    std::vector<std::thread> threads_;
    std::size_t idle_ = 0;
    bool stopping_ = false;
};

Pool& pool() {
    static Pool instance;
    return instance;
}

void run_with(std::size_t helpers, std::size_t count,
              const std::function<void(std::size_t)>& task) {
    const auto batch = std::make_shared<Batch>(count, task);
    pool().help(batch, helpers);
    batch->work();
    pool().call_off(batch);
    batch->wait();
}

}  // namespace

std::size_t cores() noexcept {
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        return static_cast<std::size_t>(std::max(CPU_COUNT(&allowed), 1));
    }
    return std::max(std::thread::hardware_concurrency(), 1U);  // more than a set has room for
}

void run_parallel(std::size_t count, const std::function<void(std::size_t)>& task) {
    if (count == 0) return;
    if (count == 1) return task(0);
    run_with(count - 1, count, task);
}

void run_computing(std::size_t count, const std::function<void(std::size_t)>& task) {
    static const std::size_t kCores = cores();
    static std::atomic<std::size_t> busy = 0;  // callers, and threads called; about right is enough
    const std::size_t with_caller = busy.fetch_add(1) + 1;
    const std::size_t free = kCores - std::min(with_caller, kCores);
    const std::size_t helpers = std::min(free, count - std::min<std::size_t>(count, 1));
    if (helpers == 0) {
        for (std::size_t i = 0; i < count; ++i) task(i);
    } else {
        busy += helpers;
        run_with(helpers, count, task);
        busy -= helpers;
    }
    --busy;
}

}  // namespace braid::core
