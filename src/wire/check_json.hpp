#pragma once

#include "braid/collection.hpp"
#include "braid/value.hpp"

namespace braid::wire {

/// `{"clean", "collections", "chunks", "records", "bytes", "superseded", "problems", "unfinished",
/// "notes"}`.
Value check_to_value(const CheckReport& report);

}  // namespace braid::wire
