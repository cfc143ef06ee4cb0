#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include "braid/net/client/http_client.hpp"

namespace braid::net {

struct RetryPolicy {
    std::size_t max_attempts = 6;
    /// The wait before the n-th repetition is first_backoff * 2^(n-1), at most max_backoff, less up
    /// to half of it by chance, unless the answer says `Retry-After`.
    std::chrono::milliseconds first_backoff{500};
    std::chrono::milliseconds max_backoff{30'000};
    /// An endpoint that asks for more patience than this is given up on.
    std::chrono::milliseconds max_retry_after{600'000};
};

/// Whether an answer with this status may be another the next time: 408, 429 and 5xx (501 and 505
/// apart).
bool may_pass(int status) noexcept;

/// Sends until there is an answer that will not pass, repeating also after broken connections. Only
/// for requests that may be sent twice. Fails as HttpClient::send; Unavailable names the last
/// status once the attempts are used up; DeadlineExceeded, at once, where a wait would end after
/// the deadline.
Result<HttpResponse> send_with_retries(const HttpClient& client, const HttpRequest& request,
                                       const RetryPolicy& policy, const CallLimits& limits);

/// The wait before the n-th repetition, for those who repeat in their own way. DeadlineExceeded, at
/// once, where it would end after the deadline; Cancelled.
Result<> pause(const RetryPolicy& policy, std::size_t repetition, const CallLimits& limits);

/// The value of a `Retry-After` header, seconds or a date, as a wait from `now`; nullopt if it is
/// neither.
std::optional<std::chrono::milliseconds> parse_retry_after(
    std::string_view value, std::chrono::system_clock::time_point now);

}  // namespace braid::net
