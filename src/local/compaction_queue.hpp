#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

namespace braid::local {

/// Collections that wait to be compacted, and the thread that compacts them, one at a time. The
/// thread starts with the first of them. Safe for concurrent use.
class CompactionQueue {
public:
    /// When told to stop, it decides itself what is still worth finishing.
    using Work = std::function<void(const std::string& collection, const std::stop_token& stop)>;

    /// Without a thread, only run_here() works.
    CompactionQueue(Work work, bool background) : work_(std::move(work)), background_(background) {}
    CompactionQueue(const CompactionQueue&) = delete;
    CompactionQueue& operator=(const CompactionQueue&) = delete;
    CompactionQueue(CompactionQueue&&) = delete;
    CompactionQueue& operator=(CompactionQueue&&) = delete;
    ~CompactionQueue() { stop(); }

    /// Does nothing if it is waiting already, or after stop().
    void add(const std::string& collection);
    /// Compacts what is waiting, on the caller's thread.
    void run_here();
    /// Accepts no more; returns when the thread has ended.
    void stop();

private:
    void run(const std::stop_token& stop);
    std::optional<std::string> take();

    const Work work_;
    const bool background_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::set<std::string> waiting_;
    bool stopped_ = false;
    std::jthread thread_;
};

}  // namespace braid::local
