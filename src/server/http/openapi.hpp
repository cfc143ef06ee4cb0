#pragma once

#include <string_view>

#include "braid/value.hpp"

namespace braid::server {

/// The OpenAPI 3.1 document of the routes, made of the table that the router goes by.
Value openapi_document(std::string_view version);

/// Its schemas by name: requests, answers, chunks, problems.
Object openapi_schemas();

}  // namespace braid::server
