#pragma once

#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::wire {

/// `{"error": {"code": "not_found", "message": "..."}}`
Value error_to_value(const Error& error);

}  // namespace braid::wire
