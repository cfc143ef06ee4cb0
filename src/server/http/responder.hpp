#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "braid/core/byte_budget.hpp"
#include "braid/database.hpp"
#include "braid/net/http/server.hpp"
#include "braid/server/http/exchange.hpp"
#include "braid/server/http/mcp.hpp"
#include "braid/server/http/metrics.hpp"
#include "braid/server/http/server_metrics.hpp"
#include "braid/server/mcp/agent.hpp"
#include "braid/server/rpc/idempotency.hpp"
#include "braid/server/rpc/methods.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operations.hpp"

namespace braid::server {

struct HttpResponderOptions {
    service::ServiceOptions service;
    service::RequestLimits limits;
    McpOptions mcp;
    McpHttpOptions mcp_http;
    std::size_t idempotency_bytes = 0;
    std::shared_ptr<ByteBudget> memory;  // of what is parsed; none: any amount
    /// Whether the key's rate allows this many more requests; none: any rate is fine.
    std::function<std::optional<Refusal>(const Identity&, std::size_t)> check_rate;
};

/// Answers requests that were admitted, each by its route. Safe for concurrent use.
class HttpResponder {
public:
    /// The database must outlive it.
    HttpResponder(Database& database, const HttpResponderOptions& options);

    /// How large the body of a route may be, judging by the head alone.
    std::size_t body_limit(const net::IncomingRequest& head, const Route& route) const;
    /// Requires a match with a route.
    net::OutgoingResponse serve(const net::IncomingRequest& request, Exchange& exchange,
                                const service::Caller& caller);

    void drain() { draining_ = true; }
    /// Where people reach the server, which may be answering already.
    void announce(std::string address);
    Metrics& metrics() noexcept { return metrics_; }
    ServerMetrics& server_metrics() noexcept { return server_metrics_; }

private:
    net::OutgoingResponse refuse(const Exchange& exchange, const Refusal& refusal);
    /// What was done, and whether a repetition can get the same answer without doing it again.
    struct Done {
        net::OutgoingResponse response;
        bool final = true;
    };
    /// However often the same request comes with the same Idempotency-Key, it is carried out once.
    net::OutgoingResponse once(const net::IncomingRequest& request, const Exchange& exchange,
                               const std::function<Done()>& work);
    net::OutgoingResponse dispatch(const net::IncomingRequest& request, Exchange& exchange,
                                   const service::Caller& caller);
    net::OutgoingResponse operate(const net::IncomingRequest& request, Exchange& exchange,
                                  const service::Caller& caller);
    net::OutgoingResponse call(const net::IncomingRequest& request, const Exchange& exchange,
                               const service::Caller& caller);
    /// `{"status": "ok"}`; for the owner of the socket, with the address.
    std::string health(const net::IncomingRequest& request) const;
    /// A batch of n counts as n; one of them was counted when the request came in.
    std::optional<Refusal> check_batch(const Exchange& exchange, std::size_t requests) const;

    const service::RequestLimits limits_;
    const std::shared_ptr<ByteBudget> memory_;
    const std::function<std::optional<Refusal>(const Identity&, std::size_t)> check_rate_;
    service::Operations operations_;
    Rpc rpc_;
    McpServer mcp_;
    McpHttp mcp_http_;
    IdempotencyStore idempotency_;
    Metrics metrics_;
    ServerMetrics server_metrics_;
    const std::string openapi_;
    std::atomic<bool> draining_{false};
    mutable std::mutex address_mutex_;
    std::string address_;
};

}  // namespace braid::server
