#pragma once

#include <memory>
#include <string>

#include "braid/result.hpp"
#include "braid/store/directory.hpp"

namespace braid::store {

enum class OpenMode {
    CreateIfMissing,  // creates only the last component of the path
    MustExist,
};

/// A directory of the file system. Files are opened relative to its descriptor, so renaming the
/// directory or changing the working directory does not matter; symbolic links in it are refused.
/// Locks are those of flock(2): a forked child shares them until it ends or executes a program.
Result<std::unique_ptr<Directory>> open_posix_directory(const std::string& path, OpenMode mode);

}  // namespace braid::store
