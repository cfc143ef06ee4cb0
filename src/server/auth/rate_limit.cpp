#include "braid/server/auth/rate_limit.hpp"

namespace braid::server {

std::optional<std::chrono::duration<double>> RateLimiter::take(std::string_view name, double rate,
                                                               Clock::time_point now,
                                                               double count) {
    if (rate <= 0) return std::nullopt;
    const double most = at_once(rate);
    const std::lock_guard lock(mutex_);
    auto found = buckets_.find(name);
    if (found == buckets_.end()) {
        found = buckets_.emplace(std::string(name), Bucket{most, now}).first;
    }
    Bucket& bucket = found->second;
    const std::chrono::duration<double> passed = now - bucket.filled;
    bucket.tokens = std::min(most, bucket.tokens + std::max(passed.count(), 0.0) * rate);
    bucket.filled = now;
    if (bucket.tokens < count) {
        return std::chrono::duration<double>((count - bucket.tokens) / rate);
    }
    bucket.tokens -= count;
    return std::nullopt;
}

}  // namespace braid::server
