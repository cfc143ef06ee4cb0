#pragma once

#include <filesystem>
#include <string_view>

#include "braid/result.hpp"

namespace braid::core {

/// Loads a shared library for dlsym, with symbols of its own: another copy in the process, such as
/// Python's, keeps its own too. `what` names it in messages. NotFound if there is no such file,
/// Unsupported if it cannot be loaded.
Result<void*> open_library(const std::filesystem::path& library, std::string_view what);

/// Unsupported: the file is no such library, or not one that will do.
tl::unexpected<Error> cannot_use(const std::filesystem::path& library, std::string_view what,
                                 std::string_view why);

}  // namespace braid::core
