#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "braid/result.hpp"

namespace braid::cli {

/// Directories the user vouched for with "braid config trust": their .env may set everything. The
/// list is a file of the user's, `trusted.json` beside config.json:
///
///     {"directories": ["/srv/ann/project"]}

/// The path without links, as the list holds it. NotFound.
Result<std::string> directory_name(const std::filesystem::path& directory);

/// Empty if there is no file. PermissionDenied if somebody else could have written it.
Result<std::vector<std::string>> trusted_directories(const std::filesystem::path& list);

/// Puts a directory on the list or takes it off; true if that changed the list.
Result<bool> set_trusted(const std::filesystem::path& list, const std::string& directory,
                         bool trusted);

/// Whether the directory of `env_file` is on the list, and nobody else can write the file.
Result<bool> is_trusted(const std::filesystem::path& list, const std::filesystem::path& env_file);

}  // namespace braid::cli
