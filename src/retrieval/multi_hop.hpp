#pragma once

#include <vector>

#include "braid/result.hpp"
#include "braid/retrieval/legs.hpp"
#include "braid/retrieval/work.hpp"

namespace braid::retrieval {

/// Searches by meaning, then with what was found, and so on: every hop asks for the query followed
/// by the beginnings of the three best chunks that the hop before it found first. A chunk counts
/// for the hop that found it first, its score times 0.9 for each hop before (a negative score is
/// divided, so that decay never promotes). Stops when a hop finds nothing new.
///
/// `leg` holds the first hop's vector, and takes the counts and times of all. Fails if the first
/// hop does; a later one is reported as having fallen short.
Result<std::vector<Candidate>> search_hops(Work& work, QueryVectors& vectors,
                                           std::size_t collection, LegRun& leg);

}  // namespace braid::retrieval
