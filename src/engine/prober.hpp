#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace braid::engine {

/// Probes namespaces some time after they were last written to, one at a time, on a thread that
/// starts with the first write. Safe for concurrent use.
class Prober {
public:
    /// A collection and a namespace of it.
    using Place = std::pair<std::string, std::string>;
    /// Told to stop, it returns soon.
    using Work = std::function<void(const Place& place, const std::stop_token& stop)>;

    Prober(Work work, std::chrono::milliseconds quiet) : work_(std::move(work)), quiet_(quiet) {}
    Prober(const Prober&) = delete;
    Prober& operator=(const Prober&) = delete;
    Prober(Prober&&) = delete;
    Prober& operator=(Prober&&) = delete;
    ~Prober();

    void written(const std::string& collection, const std::string& namespace_);

private:
    using Clock = std::chrono::steady_clock;

    void run(const std::stop_token& stop);
    /// The place that has been quiet long enough, or when the next one will have been.
    std::optional<Place> take_due(std::optional<Clock::time_point>& next);

    const Work work_;
    const std::chrono::milliseconds quiet_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<Place, Clock::time_point> last_written_;  // of places that wait
    std::jthread thread_;
};

}  // namespace braid::engine
