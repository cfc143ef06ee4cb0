#include "braid/server/http/exchange.hpp"

#include <utility>

#include "braid/core/hex.hpp"
#include "braid/server/http/problem.hpp"

namespace braid::server {

Exchange begin_exchange(const net::IncomingRequest& head, std::uint64_t number) {
    Exchange exchange;
    // Mixed so that neighbouring ids do not look alike; unique, but not secret.
    std::uint64_t mixed = number * 0x9E3779B97F4A7C15ULL;
    mixed ^= mixed >> 29U;
    const auto given = head.header("X-Request-Id");
    if (given && is_sane_id(*given)) {
        exchange.id = *given;
    } else {
        exchange.id = "r-" + core::hex_of(mixed);
    }
    if (const auto header = head.header("traceparent")) {
        exchange.trace = parse_traceparent(*header);
        if (exchange.trace) exchange.traceparent = exchange.trace->header(mixed);
    }
    return exchange;
}

net::OutgoingResponse respond(int status, std::string body, std::string_view type) {
    net::OutgoingResponse response;
    response.status = status;
    if (!body.empty()) response.headers.push_back({"Content-Type", std::string(type)});
    response.body = std::move(body);
    return response;
}

net::OutgoingResponse respond(const Refusal& refusal, std::string_view request_id) {
    net::OutgoingResponse response = problem(refusal.error, refusal.detail, request_id);
    response.headers.insert(response.headers.end(), refusal.headers.begin(), refusal.headers.end());
    return response;
}

}  // namespace braid::server
