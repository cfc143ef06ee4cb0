#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "braid/net/http/server.hpp"
#include "braid/server/http/gate.hpp"
#include "braid/server/http/routes.hpp"
#include "braid/server/http/target.hpp"

namespace braid::server {

/// A request being processed: what its head says.
struct Exchange {
    std::string id;  // of the request: the caller's, if it is sane, else made here
    std::optional<TraceContext> trace;
    std::string traceparent;  // to send on and back; empty: none
    Target target;
    RouteMatch match;
    Identity identity;

    std::string_view route_id() const {
        return match.route != nullptr ? match.route->id : std::string_view("none");
    }
};

/// Its id and trace context. `number` differs between all requests of all processes.
Exchange begin_exchange(const net::IncomingRequest& head, std::uint64_t number);

net::OutgoingResponse respond(int status, std::string body,
                              std::string_view type = "application/json");
/// The refusal as a problem.
net::OutgoingResponse respond(const Refusal& refusal, std::string_view request_id);

}  // namespace braid::server
