#pragma once

#include <string>
#include <string_view>

#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::core {

/// Reads an RFC 3339 timestamp: `2025-12-25T10:00:00Z`, with an offset (`+01:00`), a fraction (cut
/// to microseconds), `t`, `z` or a space for `T`. A date alone is its midnight, UTC. The leap
/// second 23:59:60 UTC is read as 23:59:59.999999. InvalidArgument, with the reason, for all else:
/// fields out of range, a day the month does not have, a time without offset.
Result<Timestamp> parse_rfc3339(std::string_view text);

/// `2025-12-25T10:00:00Z`, in UTC; `.5`, `.000001`: a fraction only if it is not zero. Years
/// outside 0 to 9999, which RFC 3339 cannot write, get a sign and six digits.
std::string print_rfc3339(Timestamp time);

}  // namespace braid::core
