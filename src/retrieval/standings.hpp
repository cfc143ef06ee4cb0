#pragma once

#include <vector>

#include "braid/retrieval/legs.hpp"
#include "braid/retrieval/work.hpp"

namespace braid::retrieval {

/// Says of every hit of the answer what score and rank each leg gives it, however deep. It looks at
/// all chunks that match.
void add_standings(Work& work, const std::vector<CollectionRun>& runs);

/// Where chunks stand in one leg, in their order; without ranks where the backend knows none.
Result<std::vector<LegStanding>> standings_in(const Reader& snapshot, const Capabilities& can,
                                              const Leg& leg, std::span<const std::string> ids);

}  // namespace braid::retrieval
