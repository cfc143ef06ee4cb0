#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/result.hpp"

namespace braid::cli {

using EnvVariable = std::pair<std::string, std::string>;  // name, value

/// The variables of a .env file: `NAME=value`, with "export" before it, quotes around the value
/// and comments allowed. InvalidArgument "NAME:LINE: ..." for any other line.
Result<std::vector<EnvVariable>> parse_env(std::string_view text, const std::string& name);

}  // namespace braid::cli
