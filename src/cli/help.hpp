#pragma once

#include <span>
#include <string>

#include "braid/cli/arguments.hpp"
#include "braid/cli/terminal.hpp"

namespace braid::cli {

/// What `braid --help` prints: every command on one line.
std::string overview(std::span<const CommandSpec* const> commands, const Style& style);

/// What `braid COMMAND --help` prints.
std::string command_help(const CommandSpec& command, const Style& style);

}  // namespace braid::cli
