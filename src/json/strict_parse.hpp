#pragma once

#include <string_view>

#include "braid/json/json.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::json {

/// What json::parse promises, one byte at a time: the reference for the fast path, which hands over
/// to it what the library behind it cannot read (big integers, "-0") or cannot explain (every
/// error). Does not look at `max_bytes`.
Result<Value> parse_strictly(std::string_view text, const ParseLimits& limits);

}  // namespace braid::json
