#pragma once

#include <string>
#include <string_view>

#include "braid/result.hpp"

namespace braid::cli {

/// Who may read a new file: those whom the umask admits, or its owner alone.
enum class FileFor { Everybody, Owner };

/// Writes a file of the user's, completely or not at all: into a new file beside it that then takes
/// its name. IoError names the path. An existing path that is not a plain file (a pipe, a terminal)
/// is written to directly.
Result<> write_output(const std::string& path, std::string_view text,
                      FileFor whom = FileFor::Everybody);

/// Creates an empty file for its owner alone, unless there is one to append to.
Result<> make_private_file(const std::string& path);

}  // namespace braid::cli
