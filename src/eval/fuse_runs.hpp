#pragma once

#include <span>

#include "braid/eval/trec.hpp"
#include "braid/fusion/fuse.hpp"
#include "braid/result.hpp"

namespace braid::eval {

/// Fuses runs query by query, with the engine's own code. `weights`: one per run, or none for 1
/// each. Queries come in the order in which the runs first name them; a run that lacks one gives
/// nothing to it. Fails as fusion::fuse does, naming the query.
Result<Run> fuse_runs(std::span<const Run> runs, std::span<const double> weights,
                      const fusion::Options& options);

}  // namespace braid::eval
