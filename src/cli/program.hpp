#pragma once

#include <string>
#include <vector>

namespace braid::cli {

/// The `braid` program: runs one command and returns its exit code. `arguments` without the
/// program's name.
int run_program(const std::vector<std::string>& arguments);

}  // namespace braid::cli
