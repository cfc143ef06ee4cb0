#pragma once

#include <optional>

#include "braid/net/http/server.hpp"

namespace braid::server {

/// What a browser is shown where nothing is: the page, which says so (404); where an address of the
/// page has a "/" too much, the way to it. None for callers that do not ask for HTML.
std::optional<net::OutgoingResponse> serve_missing(const net::IncomingRequest& head);

}  // namespace braid::server
