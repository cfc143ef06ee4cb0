#pragma once

#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/retrieval/work.hpp"
#include "braid/types.hpp"

namespace braid::retrieval {

/// With the principal as the caches' realm: what one asked is nobody else's business. The request's
/// own deadline counts from now.
Result<CallLimits> limits_for(const Request& request, const Principal& principal,
                              CallLimits limits);

/// Embedders, those who wait for them, legs and stages end before the whole does, one after the
/// other: an eighth of the time, from 5 ms to 200 ms, is kept for handing over what was found.
void keep_time_to_answer(Work& work);

}  // namespace braid::retrieval
