#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace braid::server {

/// Token buckets, one per name: `rate` requests a second, and as many at once (at least one). Safe
/// for concurrent use.
class RateLimiter {
public:
    using Clock = std::chrono::steady_clock;

    /// None if the request may proceed, otherwise how long to wait. A rate of 0 limits nothing.
    /// `count` requests proceed together or not at all; more than at_once() never do.
    std::optional<std::chrono::duration<double>> take(std::string_view name, double rate,
                                                      Clock::time_point now = Clock::now(),
                                                      double count = 1);
    /// How many of a second's requests may come at the same time.
    static double at_once(double rate) noexcept { return std::max(rate, 1.0); }

private:
    struct Bucket {
        double tokens = 0;
        Clock::time_point filled;
    };

    std::mutex mutex_;
    std::map<std::string, Bucket, std::less<>> buckets_;  // names are those of keys: few
};

}  // namespace braid::server
