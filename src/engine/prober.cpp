#include "braid/engine/prober.hpp"

#include <algorithm>

namespace braid::engine {

Prober::~Prober() {
    std::jthread ending;
    {
        const std::scoped_lock lock(mutex_);
        ending = std::move(thread_);
    }
    ending.request_stop();  // joined here, before the members go
}

void Prober::written(const std::string& collection, const std::string& namespace_) {
    const std::scoped_lock lock(mutex_);
    last_written_[{collection, namespace_}] = Clock::now();
    if (!thread_.joinable()) {
        thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    changed_.notify_all();
}

std::optional<Prober::Place> Prober::take_due(std::optional<Clock::time_point>& next) {
    const auto oldest = std::ranges::min_element(
        last_written_, {}, [](const auto& waiting) { return waiting.second; });
    next.reset();
    if (oldest == last_written_.end()) return std::nullopt;
    if (oldest->second + quiet_ > Clock::now()) {
        next = oldest->second + quiet_;
        return std::nullopt;
    }
    Place due = oldest->first;
    last_written_.erase(oldest);
    return due;
}

void Prober::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        std::optional<Clock::time_point> next;
        if (const auto due = take_due(next)) {
            lock.unlock();
            work_(*due, stop);
            lock.lock();
        } else if (next) {
            changed_.wait_until(lock, stop, *next, [] { return false; });
        } else {
            changed_.wait(lock, stop, [this] { return !last_written_.empty(); });
        }
    }
}

}  // namespace braid::engine
