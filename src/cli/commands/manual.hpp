#pragma once

#include <span>
#include <string>

#include "braid/cli/args/arguments.hpp"

namespace braid::cli {

/// The manual page braid(1), in roff, from the texts that --help shows.
std::string manual_page(std::span<const CommandSpec* const> commands);

}  // namespace braid::cli
