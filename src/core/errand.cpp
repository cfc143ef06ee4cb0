#include "braid/core/errand.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace braid::core {
namespace {

std::atomic<bool>& left_behind() noexcept {
    static std::atomic<bool> flag = false;
    return flag;
}

std::atomic<std::size_t>& running_everywhere() noexcept {
    static std::atomic<std::size_t> count = 0;
    return count;
}

}  // namespace

void ErrandState::run(const std::function<void()>& work) {
    WaitObserver* const before = observe_waits(this);
    work();
    observe_waits(before);
    const std::scoped_lock lock(mutex_);
    done_ = true;
    changed_.notify_all();
}

void ErrandState::set_waiting(bool waiting) noexcept {
    const std::scoped_lock lock(mutex_);
    waiting_ = waiting;
    changed_.notify_all();
}

Result<> ErrandState::await(const CallLimits& limits) {
    std::unique_lock lock(mutex_);
    while (!done_) {
        // Waiting for somebody who waits does not count as computing either.
        const bool both_wait = waiting_;
        std::optional<Waiting> waiting;
        if (both_wait) waiting.emplace();
        const auto news = [&] { return done_ || waiting_ != both_wait; };
        const bool told = limits.deadline
                              ? changed_.wait_until(lock, limits.stop, *limits.deadline, news)
                              : changed_.wait(lock, limits.stop, news);
        if (told) continue;
        if (limits.stopped()) return fail(ErrorCode::Cancelled, "the caller cancelled the call");
        return fail(ErrorCode::DeadlineExceeded, "the deadline passed");
    }
    return {};
}

bool ErrandState::done() const {
    const std::scoped_lock lock(mutex_);
    return done_;
}

/// The errands in progress. Each thread holds it, so it outlives the crew if necessary.
struct Crew::Members {
    std::mutex mutex;
    std::condition_variable all_back;
    std::vector<std::shared_ptr<ErrandState>> running;

    void leave(const std::shared_ptr<ErrandState>& errand) {
        const std::scoped_lock lock(mutex);
        running.push_back(errand);
        ++running_everywhere();
    }
    void come_back(const std::shared_ptr<ErrandState>& errand) {
        const std::scoped_lock lock(mutex);
        std::erase(running, errand);
        --running_everywhere();
        if (running.empty()) all_back.notify_all();
    }
};

Crew::Crew() : members_(std::make_shared<Members>()) {}

Crew::~Crew() {
    std::unique_lock lock(members_->mutex);
    const auto running = members_->running;
    lock.unlock();
    for (const auto& errand : running) errand->stop.request_stop();
    if (left_behind()) return;
    lock.lock();
    members_->all_back.wait(lock, [&] { return members_->running.empty(); });
}

void Crew::start(std::shared_ptr<ErrandState> errand, std::function<void()> work) {
    members_->leave(errand);
    const auto kept = std::make_shared<std::function<void()>>(std::move(work));
    const auto run = [members = members_, errand = std::move(errand), kept] {
        errand->run(*kept);
        *kept = nullptr;  // release what it holds before the crew is complete again
        members->come_back(errand);
    };
    try {
        std::thread(run).detach();
    } catch (const std::system_error&) {  // no thread available: the caller does it
        run();
    }
}

void leave_errands_behind() noexcept {
    left_behind() = true;
}

bool errands_left() noexcept {
    return running_everywhere() != 0;
}

}  // namespace braid::core
