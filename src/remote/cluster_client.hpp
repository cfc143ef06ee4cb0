#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "braid/net/client/http_client.hpp"
#include "braid/net/client/retry.hpp"
#include "braid/remote/backend.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::remote {

/// What a cluster answered, whatever the status.
struct ClusterAnswer {
    int status = 0;
    Value body;
};

/// The error that a status and the cluster's own words amount to: NotFound, InvalidArgument,
/// PermissionDenied, Conflict, ResourceExhausted or Unavailable. `body` is the value of "error", or
/// the whole answer.
Error error_of(int status, const Value& body, const std::string& doing);

/// Checks what a server says about itself at "/": Unsupported if it is not OpenSearch, or older
/// than 2.19.
Result<> check_server(const Value& greeting);

/// Speaks JSON with a cluster, through whichever of its nodes answers. Requests must be safe to
/// send twice. Safe for concurrent use.
class ClusterClient {
public:
    static Result<std::unique_ptr<ClusterClient>> create(const RemoteOptions& options);

    /// Sends until there is an answer that a repetition would not change: after a refused
    /// connection at once through the next node; after every node has failed, and after 429, with a
    /// pause. Fails as HttpClient::send does; Unavailable gives the last reason once the attempts
    /// are used up. An interactive call tries each node once and never pauses.
    Result<ClusterAnswer> send(std::string_view method, const std::string& path, std::string body,
                               const CallLimits& limits) const;
    /// The same with lines of JSON (bulk, msearch).
    Result<ClusterAnswer> send_lines(const std::string& path, std::string body,
                                     const CallLimits& limits) const;

    /// The body of an answer with a status below 300; any other status becomes its error.
    Result<Value> ask(std::string_view method, const std::string& path, std::string body,
                      const CallLimits& limits) const;

    const net::RetryPolicy& retries() const noexcept { return retries_; }
    std::size_t nodes() const noexcept { return urls_.size(); }

private:
    using Clock = std::chrono::steady_clock;

    ClusterClient(const RemoteOptions& options, std::vector<std::string> urls);

    Result<ClusterAnswer> exchange(net::HttpRequest request, const std::string& path,
                                   const CallLimits& limits) const;
    /// The next node to try: those that failed recently come last.
    std::size_t next_node() const noexcept;

    std::vector<std::string> urls_;
    std::string authorization_;
    net::RetryPolicy retries_;
    net::HttpClient http_;
    mutable std::atomic<std::size_t> turn_{0};
    mutable std::vector<std::atomic<Clock::rep>> failed_at_;  // 0: it answers
};

}  // namespace braid::remote
