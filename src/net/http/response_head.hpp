#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "braid/net/http/server.hpp"

namespace braid::net {

/// The words that go with a status: "Not Found"; "Status" for one without.
std::string_view reason_of(int status) noexcept;

/// Whether an answer of that status carries a body: not 1xx, 204 and 304.
bool may_have_body(int status) noexcept;

/// Status line and headers, with the blank line that ends them. Names and values that could not
/// stand in a header are left out, as are the headers that are the server's own.
std::string response_head(const OutgoingResponse& response, bool keep_alive, std::time_t now);

}  // namespace braid::net
