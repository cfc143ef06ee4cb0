#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "braid/answer.hpp"

namespace braid::server {

/// Seconds, in buckets that fit searches. Safe for concurrent use.
class Histogram {
public:
    static constexpr std::array<double, 14> kBounds{
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5};

    void observe(double seconds) noexcept;
    /// In Prometheus' text form. `labels` is "" or `stage="dense"`.
    void write(std::string& out, std::string_view name, std::string_view labels) const;

private:
    std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> counts_{};
    std::atomic<std::uint64_t> nanoseconds_{0};
};

/// What the server counts. Labels are bounded: routes, statuses, stages, reasons. Safe for
/// concurrent use.
class Metrics {
public:
    /// `routes`: the ids of the routes; whatever else is asked for counts as "none".
    explicit Metrics(std::span<const std::string_view> routes);

    void request(std::string_view route, int status, std::chrono::nanoseconds took);
    void answered(const Answer& answer);
    void packed(const Context& context);
    /// A request was refused: "rate_limited".
    void refused(std::string_view code);

    void started() noexcept { ++running_; }
    void ended() noexcept { --running_; }
    std::int64_t running() const noexcept { return running_; }

    void write(std::string& out) const;

private:
    void stages(const Timings& timings);

    struct PerRoute {
        Histogram duration;
        std::map<int, std::uint64_t> statuses;  // under mutex_
    };

    std::map<std::string, PerRoute, std::less<>> routes_;
    std::array<Histogram, 8> stages_;
    std::atomic<std::int64_t> running_{0};
    std::atomic<std::uint64_t> embedding_hits_{0};
    std::atomic<std::uint64_t> embedding_misses_{0};
    std::atomic<std::uint64_t> complete_{0};
    std::atomic<std::uint64_t> incomplete_{0};
    std::atomic<std::uint64_t> chunks_returned_{0};
    std::atomic<std::uint64_t> candidates_{0};
    mutable std::mutex mutex_;
    std::map<std::string, std::uint64_t, std::less<>> refused_;
};

/// "# HELP ...", "# TYPE ..." and one sample of a metric without labels.
void write_metric(std::string& out, std::string_view name, std::string_view type,
                  std::string_view help, double value);
void write_header(std::string& out, std::string_view name, std::string_view type,
                  std::string_view help);
/// Escaped for use in a label's value.
std::string label_value(std::string_view text);
/// Memory, processor time, descriptors and start time of this process, as far as the system tells.
void write_process_metrics(std::string& out);

}  // namespace braid::server
