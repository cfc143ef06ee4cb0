#pragma once

#include <memory>
#include <string>

#include "braid/result.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/posix_file.hpp"

namespace braid::store {

/// See Directory::lock. `path`: of the directory, for messages.
Result<std::unique_ptr<DirectoryLock>> lock_posix_directory(const Descriptor& directory,
                                                            const std::string& path,
                                                            const std::string& name);

}  // namespace braid::store
