#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/core/byte_budget.hpp"
#include "braid/database.hpp"
#include "braid/net/http/server.hpp"
#include "braid/server/auth/api_keys.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/log.hpp"
#include "braid/service/operations.hpp"

namespace braid::server {

struct HttpAppOptions {
    service::ServiceOptions service;
    service::RequestLimits limits;  // of one request, whoever sends it
    KeyRing keys;               // none: callers from this machine may do everything, others nothing
    bool allow_writes = false;  // of the MCP tools; REST and JSON-RPC go by the key's rights
    std::string version = "0";  // of this program

    /// Names that a request may give as its host, besides "localhost" and addresses; without port.
    std::vector<std::string> hosts;
    /// Web pages that may call, besides the server's own: "https://app.example.com". Empty: no
    /// CORS header is ever sent.
    std::vector<std::string> origins;

    std::chrono::milliseconds max_deadline{30'000};  // of a search; it may ask for less
    std::size_t max_running = 64;                    // requests at work; beyond: 503
    double requests_per_second = 0;                  // per key; 0: no limit
    std::size_t mcp_sessions = 1000;                 // of clients that use `initialize`
    std::chrono::seconds mcp_session_age{3600};      // without a message
    std::size_t idempotency_bytes = std::size_t{16} << 20;
    /// What may be parsed, built and sent for all callers together; beyond it: 503. The transport
    /// charges the bodies it reads to the same budget. None: any amount.
    std::shared_ptr<ByteBudget> memory;

    service::LineSink log;  // a line per request; none: no log
    service::LogFormat log_format = service::LogFormat::Human;
    bool log_texts = false;                   // query texts too
    std::chrono::milliseconds slow_query{0};  // requests that took longer; 0: none are logged
    service::LineSink audit;                  // JSON: who was given which chunks; none: no audit
};

/// The HTTP door of a database, whatever transport carries the requests: REST under /v1, JSON-RPC
/// at /rpc, MCP at /mcp, /healthz and /readyz. Safe for concurrent use.
class HttpApp final : public net::HttpHandler {
public:
    /// The database must outlive it.
    HttpApp(Database& database, HttpAppOptions options);
    ~HttpApp() override;

    /// Checks host, origin, route, key, rate, and the route's body limit, once per request.
    std::optional<net::OutgoingResponse> admit(net::IncomingRequest& head,
                                               std::size_t& body_limit) override;
    /// A request that admit() did not let in is an internal error.
    net::OutgoingResponse handle(const net::IncomingRequest& request) override;
    net::OutgoingResponse refuse(int status, std::string_view reason) override;

    /// Serves GET /metrics and nothing else; lives as long as this.
    net::HttpHandler& metrics_handler();
    /// The transport's counters, for /metrics. Set before the first request.
    void watch(std::function<net::HttpServer::Counters()> transport);
    /// Where people reach it, for its owner, who asks /healthz on the Unix socket.
    void announce(std::string address);
    /// /readyz answers 503 from now on: the server is about to stop.
    void drain();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace braid::server
