#pragma once

#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operations.hpp"
#include "braid/value.hpp"

namespace braid::apps {

/// "mission_text", "mos_codes" and "collection" to an answer: a search with the profile "doctrine",
/// of chunks with one of the codes if any is given.
Result<Value> find_relevant_doctrine(const service::Operations& operations, const Object& params,
                                     const service::Caller& caller);

}  // namespace braid::apps
