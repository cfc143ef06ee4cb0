#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

#include "braid/database.hpp"
#include "braid/net/http_server.hpp"
#include "braid/server/caller.hpp"
#include "braid/server/http_exchange.hpp"
#include "braid/server/idempotency.hpp"
#include "braid/server/mcp.hpp"
#include "braid/server/mcp_http.hpp"
#include "braid/server/metrics.hpp"
#include "braid/server/operations.hpp"
#include "braid/server/rpc.hpp"
#include "braid/server/server_metrics.hpp"

namespace braid::server {

struct HttpServiceOptions {
    ServiceOptions service;
    Limits limits;
    McpOptions mcp;
    McpHttpOptions mcp_http;
    std::size_t idempotency_bytes = 0;
};

/// Answers requests that were let in, each by its route. Safe for concurrent use.
class HttpService {
public:
    /// The database must outlive it.
    HttpService(Database& database, const HttpServiceOptions& options);

    /// How large the body of a route may be, by the head alone.
    std::size_t body_limit(const net::IncomingRequest& head, const Route& route) const;
    /// Requires a match with a route.
    net::OutgoingResponse serve(const net::IncomingRequest& request, Exchange& exchange,
                                const Caller& caller);

    void drain() { draining_ = true; }
    Metrics& metrics() noexcept { return metrics_; }
    ServerMetrics& server_metrics() noexcept { return server_metrics_; }

private:
    net::OutgoingResponse refuse(const Exchange& exchange, const Refusal& refusal);
    /// As often as the same request comes with the same Idempotency-Key, it is done once.
    net::OutgoingResponse once(const net::IncomingRequest& request, Exchange& exchange,
                               const Caller& caller);
    net::OutgoingResponse dispatch(const net::IncomingRequest& request, Exchange& exchange,
                                   const Caller& caller);
    Result<std::string> operate(const net::IncomingRequest& request, Exchange& exchange,
                                const Caller& caller);

    const Limits limits_;
    Operations operations_;
    Rpc rpc_;
    McpServer mcp_;
    McpHttp mcp_http_;
    IdempotencyStore idempotency_;
    Metrics metrics_;
    ServerMetrics server_metrics_;
    const std::string openapi_;
    std::atomic<bool> draining_{false};
};

}  // namespace braid::server
