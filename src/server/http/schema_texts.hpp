#pragma once

#include <string_view>

namespace braid::server {

/// docs/request.schema.json and docs/answer.schema.json, for the OpenAPI document.
extern const std::string_view kRequestSchema;
extern const std::string_view kAnswerSchema;

/// The other schemas, by name, as one JSON object.
extern const std::string_view kRestSchemas;

}  // namespace braid::server
