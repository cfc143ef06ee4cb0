#pragma once

#include <vector>

#include "braid/retrieval/legs.hpp"
#include "braid/retrieval/work.hpp"

namespace braid::retrieval {

/// Says where the hits' contents have words of the query: those that the sparse legs looked for, or
/// where none ran, those of the query as it was written.
void mark_matches(Work& work, const std::vector<CollectionRun>& runs);

}  // namespace braid::retrieval
