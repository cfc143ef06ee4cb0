#pragma once

#include <functional>
#include <span>
#include <vector>

#include "braid/core/parallel.hpp"
#include "braid/reader.hpp"

namespace braid::core {

/// search_each with a choice: `run` is run_parallel where legs wait for somebody else,
/// run_computing where they compute.
std::vector<Result<LegResult>> search_legs(
    std::span<const Leg> legs, const std::function<Result<LegResult>(const Leg&)>& search_leg,
    decltype(run_parallel)& run);

}  // namespace braid::core
