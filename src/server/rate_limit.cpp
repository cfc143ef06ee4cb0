#include "braid/server/rate_limit.hpp"

#include <algorithm>

namespace braid::server {

std::optional<std::chrono::duration<double>> RateLimiter::take(std::string_view name, double rate,
                                                               Clock::time_point now) {
    if (rate <= 0) return std::nullopt;
    const double most = std::max(rate, 1.0);
    const std::lock_guard lock(mutex_);
    auto found = buckets_.find(name);
    if (found == buckets_.end()) {
        found = buckets_.emplace(std::string(name), Bucket{most, now}).first;
    }
    Bucket& bucket = found->second;
    const std::chrono::duration<double> passed = now - bucket.filled;
    bucket.tokens = std::min(most, bucket.tokens + std::max(passed.count(), 0.0) * rate);
    bucket.filled = now;
    if (bucket.tokens < 1) return std::chrono::duration<double>((1 - bucket.tokens) / rate);
    bucket.tokens -= 1;
    return std::nullopt;
}

}  // namespace braid::server
