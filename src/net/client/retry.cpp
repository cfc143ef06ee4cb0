#include "braid/net/client/retry.hpp"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <random>
#include <string>
#include <utility>

#include <curl/curl.h>

#include "braid/core/waiting.hpp"
#include "braid/net/client/url.hpp"

namespace braid::net {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kMostSeconds = std::numeric_limits<std::int32_t>::max();

milliseconds backoff(const RetryPolicy& policy, std::size_t repetition) {
    auto wait = std::min(policy.first_backoff, policy.max_backoff);
    for (std::size_t i = 1; i < repetition && wait < policy.max_backoff; ++i) {
        wait = std::min(2 * wait, policy.max_backoff);
    }
    thread_local std::minstd_rand random{std::random_device{}()};
    return milliseconds(
        std::uniform_int_distribution<milliseconds::rep>(wait.count() / 2, wait.count())(random));
}

/// Sleeps, but not past a request to stop.
Result<> sleep_for(milliseconds wait, const CallLimits& limits) {
    if (limits.deadline && std::chrono::steady_clock::now() + wait >= *limits.deadline) {
        return fail(ErrorCode::DeadlineExceeded, "no time left for another attempt");
    }
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    const core::Waiting waiting;
    never.wait_for(lock, limits.stop, wait, [] { return false; });
    if (limits.stopped()) return fail(ErrorCode::Cancelled, "cancelled");
    return {};
}

}  // namespace

bool may_pass(int status) noexcept {
    return status == 408 || status == 429 || (status >= 500 && status != 501 && status != 505);
}

Result<> pause(const RetryPolicy& policy, std::size_t repetition, const CallLimits& limits) {
    return sleep_for(backoff(policy, repetition), limits);
}

std::optional<milliseconds> parse_retry_after(std::string_view value,
                                              std::chrono::system_clock::time_point now) {
    std::int64_t seconds = 0;
    const char* const end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, seconds);
    if (error == std::errc() && rest == end && seconds >= 0) {
        return milliseconds(1000 * std::min(seconds, kMostSeconds));
    }
    const std::time_t date = curl_getdate(std::string(value).c_str(), nullptr);
    if (date < 0) return std::nullopt;
    const auto wait = std::chrono::system_clock::from_time_t(date) - now;
    return std::max(std::chrono::ceil<milliseconds>(wait), milliseconds(0));
}

Result<HttpResponse> send_with_retries(const HttpClient& client, const HttpRequest& request,
                                       const RetryPolicy& policy, const CallLimits& limits) {
    for (std::size_t attempt = 1;; ++attempt) {
        auto response = client.send(request, limits);
        std::string reason;
        auto wait = backoff(policy, attempt);
        if (response) {
            if (!may_pass(response->status)) return response;
            BRAID_TRY(const Url url, parse_url(request.url));
            reason = request.method + " " + url.without_secrets() + ": status " +
                     std::to_string(response->status);
            const auto asked = response->header("Retry-After");
            const auto told =
                asked ? parse_retry_after(*asked, std::chrono::system_clock::now()) : std::nullopt;
            if (told && *told > policy.max_retry_after) {
                return fail(ErrorCode::Unavailable, reason + ", asking to wait " +
                                                        std::to_string(told->count() / 1000) +
                                                        " seconds");
            }
            if (told) wait = *told;
        } else {
            if (response.error().code != ErrorCode::Unavailable) return response;
            reason = response.error().message;
        }
        if (attempt >= policy.max_attempts) {
            return fail(ErrorCode::Unavailable,
                        reason + " (attempt " + std::to_string(attempt) + ")");
        }
        if (auto paused = sleep_for(wait, limits); !paused) {
            return fail(reason, std::move(paused).error());
        }
    }
}

}  // namespace braid::net
