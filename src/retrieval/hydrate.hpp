#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "braid/result.hpp"
#include "braid/retrieval/work.hpp"

namespace braid::retrieval {

/// Fetches the chunks of candidates that have none yet, those of a collection in one call. A chunk
/// that is not there stays empty. With `with_vectors`, all are fetched.
Result<> fetch_chunks(const Work& work, std::span<Candidate> candidates, bool with_vectors,
                      const CallLimits& limits);

/// Turns the candidates into hits of the answer, with neighbours if asked for. Their ranks go on
/// from `before`. Every text counts against the call's budget before it is made: InvalidArgument,
/// Unavailable.
Result<> add_hits(Work& work, std::span<Candidate> candidates, std::size_t before);

}  // namespace braid::retrieval
