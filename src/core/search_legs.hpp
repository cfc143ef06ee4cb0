#pragma once

#include <span>
#include <vector>

#include "braid/backend.hpp"
#include "braid/core/parallel.hpp"

namespace braid::core {

/// Backend::search by means of search_leg, which may throw. `run` is run_parallel where legs wait
/// for somebody else, run_computing where they compute.
std::vector<Result<LegResult>> search_legs(const Backend& backend, const SnapshotPtr& snapshot,
                                           std::span<const Leg> legs, const CallLimits& limits,
                                           decltype(run_parallel)& run);

}  // namespace braid::core
