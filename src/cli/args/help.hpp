#pragma once

#include <span>
#include <string>

#include "braid/cli/args/arguments.hpp"
#include "braid/cli/view/terminal.hpp"

namespace braid::cli {

/// What `braid --help` prints: every command on one line.
std::string overview(std::span<const CommandSpec* const> commands, const Style& style);

/// What `braid COMMAND --help` prints; names the commands of `all` that begin with its name.
std::string command_help(const CommandSpec& command, std::span<const CommandSpec* const> all,
                         const Style& style);

/// What `braid GROUP --help` prints: the commands that begin with the word.
std::string group_help(std::string_view group, std::span<const CommandSpec* const> all,
                       const Style& style);

}  // namespace braid::cli
