#include "braid/local/compaction_queue.hpp"

#include <system_error>
#include <utility>

namespace braid::local {

void CompactionQueue::add(const std::string& collection) {
    const std::scoped_lock lock(mutex_);
    if (stopped_ || !waiting_.insert(collection).second) return;
    if (background_ && !thread_.joinable()) {
        try {
            thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
        } catch (const std::system_error&) {
            return;  // retried with the next one
        }
    }
    changed_.notify_all();
}

std::optional<std::string> CompactionQueue::take() {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    return std::move(waiting_.extract(waiting_.begin()).value());
}

void CompactionQueue::run_here() {
    while (const auto next = take()) work_(*next, {});
}

void CompactionQueue::run(const std::stop_token& stop) {
    while (true) {
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, stop, [&] { return !waiting_.empty(); });
        }
        const auto next = take();
        if (!next) return;  // stopped, and nothing is left
        work_(*next, stop);
    }
}

void CompactionQueue::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopped_ = true;
    }
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
}

}  // namespace braid::local
