#pragma once

#include <string>
#include <string_view>

#include "braid/result.hpp"

namespace braid::cli {

/// Writes a file of the user's, whole or not at all: into a new file beside it that then takes its
/// name. IoError names the path. What stands there and is no plain file (a pipe, a terminal) is
/// written to as it is.
Result<> write_output(const std::string& path, std::string_view text);

}  // namespace braid::cli
