#pragma once

#include <string>

#include "braid/value.hpp"

namespace braid::retrieval {

/// Recomputes every score of an answer from its JSON alone, with formulas of its own. Empty if all
/// agree bit for bit, else what does not.
std::string check_receipts(const Value& answer);

}  // namespace braid::retrieval
