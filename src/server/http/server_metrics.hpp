#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "braid/core/byte_budget.hpp"
#include "braid/database.hpp"
#include "braid/net/http/server.hpp"
#include "braid/server/http/gate.hpp"
#include "braid/server/http/metrics.hpp"

namespace braid::server {

inline constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

/// All metrics of a server as text and, on a listener of its own, the handler that serves only
/// them. Safe for concurrent use once the functions are set.
class ServerMetrics final : public net::HttpHandler {
public:
    /// Both must outlive it.
    ServerMetrics(Database& database, const Metrics& metrics, std::string version);

    void watch_transport(std::function<net::HttpServer::Counters()> counters);
    void watch_sessions(std::function<std::size_t()> sessions);
    void watch_idempotency(std::function<std::size_t()> bytes);
    /// Checks the address of a request on its own listener, as the main door does.
    void guard(std::function<std::optional<Refusal>(const net::IncomingRequest&)> check);
    void watch_memory(std::shared_ptr<const ByteBudget> memory);

    std::string text() const;

    std::optional<net::OutgoingResponse> admit(net::IncomingRequest& head,
                                               std::size_t& body_limit) override;
    net::OutgoingResponse handle(const net::IncomingRequest& request) override;
    net::OutgoingResponse refuse(int status, std::string_view reason) override;

private:
    void write_store(std::string& out) const;

    Database& database_;
    const Metrics& metrics_;
    const std::string version_;
    std::function<net::HttpServer::Counters()> transport_;
    std::function<std::size_t()> sessions_;
    std::function<std::size_t()> idempotency_;
    std::shared_ptr<const ByteBudget> memory_;
    std::function<std::optional<Refusal>(const net::IncomingRequest&)> check_address_;
};

}  // namespace braid::server
