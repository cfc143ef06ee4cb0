#include "braid/server/http/gate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "braid/core/clock.hpp"
#include "braid/core/nearest.hpp"
#include "braid/json/json.hpp"
#include "braid/server/http/target.hpp"

namespace braid::server {
namespace {

Refusal unauthenticated(std::string detail) {
    return {DoorError::Unauthenticated,
            std::move(detail),
            {{"WWW-Authenticate", R"(Bearer realm="braid")"}}};
}

/// The key a request presents; empty if none.
std::string_view presented_key(const net::IncomingRequest& head) {
    const auto authorization = head.header("Authorization");
    if (authorization) {
        constexpr std::string_view scheme = "bearer ";
        if (core::ascii_lower(authorization->substr(0, scheme.size())) != scheme) return {};
        std::string_view key = authorization->substr(scheme.size());
        while (key.starts_with(' ')) key.remove_prefix(1);
        return key;
    }
    return head.header("X-Api-Key").value_or(std::string_view());
}

std::size_t count_of(const net::IncomingRequest& head, std::string_view name) {
    const std::string wanted = core::ascii_lower(name);
    return static_cast<std::size_t>(std::ranges::count_if(
        head.headers,
        [&](const net::HttpHeader& header) { return core::ascii_lower(header.name) == wanted; }));
}

/// The origin of pages that this server itself sends to callers who address it as `host`.
std::string own_origin(const net::IncomingRequest& head, std::string_view host) {
    return (head.tls ? "https://" : "http://") + core::ascii_lower(host);
}

/// The owner of the socket is asking on behalf of somebody who sees less.
std::optional<Refusal> narrow(const net::IncomingRequest& head, Identity& identity) {
    const auto given = head.header(service::kVisitorHeader);
    if (!given) return std::nullopt;
    const auto json = json::parse(*given);
    auto visitor = json ? service::visitor_from_value(*json, std::string(service::kVisitorHeader))
                        : Result<service::Visitor>(tl::unexpected(json.error()));
    if (!visitor) {
        return Refusal{
            DoorError::MalformedRequest,
            "\"" + std::string(service::kVisitorHeader) + "\": " + visitor.error().message,
            {}};
    }
    identity.principal = std::move(visitor->principal);
    identity.namespaces = std::move(visitor->namespaces);
    identity.local = *given;
    return std::nullopt;
}

}  // namespace

HttpGate::HttpGate(GateOptions options) : options_(std::move(options)) {
    for (std::string& host : options_.hosts) host = core::ascii_lower(host);
    for (std::string& origin : options_.origins) origin = core::ascii_lower(origin);
}

std::optional<Refusal> HttpGate::check_address(const net::IncomingRequest& head) const {
    const auto host = head.header("Host");
    const bool socket = head.peer == "unix";
    if (!socket) {
        if (!host || count_of(head, "Host") != 1) {
            return Refusal{
                DoorError::MalformedRequest, "exactly one \"Host\" header is required", {}};
        }
        const auto name = host_of(*host);
        if (!name || !(is_loopback(*name) || is_address(*name) ||
                       std::ranges::find(options_.hosts, *name) != options_.hosts.end())) {
            return Refusal{
                DoorError::MisdirectedRequest,
                "the name in \"Host\" is not one of this server's; --allow-host adds a name",
                {}};
        }
    }
    const auto origin = head.header("Origin");
    if (!origin || shared_with(head)) return std::nullopt;
    const bool own = host && core::ascii_lower(*origin) == own_origin(head, *host) &&
                     count_of(head, "Origin") == 1;
    if (own) return std::nullopt;
    return Refusal{
        DoorError::OriginRefused,
        "web pages of this origin may not call this server; --allow-origin admits an origin",
        {}};
}

std::optional<std::string> HttpGate::shared_with(const net::IncomingRequest& head) const {
    const auto origin = head.header("Origin");
    if (!origin || options_.origins.empty() || count_of(head, "Origin") != 1) return std::nullopt;
    const bool known =
        std::ranges::find(options_.origins, core::ascii_lower(*origin)) != options_.origins.end();
    return known ? std::optional(std::string(*origin)) : std::nullopt;
}

std::optional<Refusal> HttpGate::identify(const net::IncomingRequest& head,
                                          Identity& identity) const {
    identity = {};
    const std::string_view key = presented_key(head);
    // The socket's file lets in only its owner, who has the database's files anyway.
    if (key.empty() && head.peer == "unix") return narrow(head, identity);
    if (options_.keys.empty()) {
        if (is_loopback(head.peer)) return std::nullopt;
        return Refusal{
            DoorError::AddressRefused,
            "this server has no API keys, so it answers only requests from its own machine",
            {}};
    }
    if (key.empty()) return unauthenticated("an API key is required");
    const ApiKey* const found = options_.keys.find(key, core::system_now());
    if (found == nullptr) return unauthenticated("the API key is unknown or has expired");
    identity = {.principal = found->principal, .key = found, .namespaces = found->namespaces};
    return std::nullopt;
}

std::optional<Refusal> HttpGate::check_rate(const Identity& identity, std::size_t count) {
    const double rate = identity.key != nullptr && identity.key->requests_per_second
                            ? *identity.key->requests_per_second
                            : options_.requests_per_second;
    const auto wait =
        rates_.take(identity.owner(), rate, RateLimiter::Clock::now(), static_cast<double>(count));
    if (!wait) return std::nullopt;
    const auto seconds = static_cast<long>(std::ceil(std::max(wait->count(), 1.0)));
    std::string detail = "more requests than this key's rate allows";
    if (count > 1) {
        detail += "; a batch counts as many as it holds, and " +
                  std::to_string(static_cast<std::size_t>(RateLimiter::at_once(rate))) +
                  " may come at once";
    }
    return Refusal{
        DoorError::RateLimited, std::move(detail), {{"Retry-After", std::to_string(seconds)}}};
}

}  // namespace braid::server
