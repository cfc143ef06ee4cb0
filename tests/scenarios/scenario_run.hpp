#pragma once

#include <string>
#include <vector>

#include "scenarios/doors.hpp"

namespace braid::testing {

/// The texts in the folder BRAID_SCENARIOS.
std::vector<std::string> scenario_files();

/// A text through every door: what it expects, and the same hits and scores at each.
void run_scenario(const std::string& path, const Behind& behind);

}  // namespace braid::testing
