#pragma once

#include <optional>

#include "braid/net/http/server.hpp"

namespace braid::server {

/// What a browser is shown where there is nothing: the page, saying so (404); for an address of the
/// page with one "/" too many, a redirect to it. None for callers that do not ask for HTML.
std::optional<net::OutgoingResponse> serve_missing(const net::IncomingRequest& head);

}  // namespace braid::server
