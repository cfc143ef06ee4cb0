#pragma once

#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::wire {

/// `{"clean", "collections", "chunks", "records", "bytes", "superseded", "problems", "unfinished",
/// "notes"}`.
Value check_to_value(const CheckReport& report);
/// The inverse.
Result<CheckReport> check_from_value(const Value& json);

}  // namespace braid::wire
