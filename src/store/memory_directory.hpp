#pragma once

#include <memory>
#include <string>

#include "braid/store/directory.hpp"

namespace braid::store {

/// A directory in memory, for scratch databases and tests. Its content lives as long as any
/// Directory, AppendFile or FileView opened from it. `label` appears in messages.
std::unique_ptr<Directory> make_memory_directory(std::string label = "memory");

}  // namespace braid::store
