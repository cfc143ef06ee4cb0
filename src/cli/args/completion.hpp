#pragma once

#include <span>
#include <string>

#include "braid/cli/args/arguments.hpp"

namespace braid::cli {

/// Scripts that teach a shell the commands and their flags.
std::string bash_completion(std::span<const CommandSpec* const> commands);
std::string zsh_completion(std::span<const CommandSpec* const> commands);
std::string fish_completion(std::span<const CommandSpec* const> commands);

}  // namespace braid::cli
