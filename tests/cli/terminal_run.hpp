#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/program_run.hpp"

namespace braid::testing {

/// Runs the program on a terminal of its own, 80 columns wide: what people see, colours apart
/// (NO_COLOR), and standard error among it.
RunResult run_on_terminal(const std::vector<std::string>& arguments,
                          const std::vector<std::pair<std::string, std::string>>& environment = {});

}  // namespace braid::testing
