#pragma once

#include <string>
#include <string_view>

#include "braid/result.hpp"

namespace braid::cli {

/// Whom a new file is for: those whom the umask lets in, or its owner alone.
enum class FileFor { Everybody, Owner };

/// Writes a file of the user's, whole or not at all: into a new file beside it that then takes its
/// name. IoError names the path. What stands there and is no plain file (a pipe, a terminal) is
/// written to as it is.
Result<> write_output(const std::string& path, std::string_view text,
                      FileFor whom = FileFor::Everybody);

/// Makes an empty file for its owner alone, unless there is one to append to.
Result<> make_private_file(const std::string& path);

}  // namespace braid::cli
