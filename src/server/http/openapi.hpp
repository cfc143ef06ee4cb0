#pragma once

#include <string_view>

#include "braid/service/caller.hpp"
#include "braid/value.hpp"

namespace braid::server {

/// The OpenAPI 3.1 document of the routes, generated from the router's own table. `limits` are
/// those of bodies.
Value openapi_document(std::string_view version, const service::RequestLimits& limits);

/// Its schemas by name: requests, answers, chunks, problems.
Object openapi_schemas();

}  // namespace braid::server
