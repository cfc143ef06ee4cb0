#pragma once

#include <string>
#include <string_view>

namespace braid::service {

/// A message without the folders of the files it names: "cannot write to /var/lib/braid/notes/log:
/// ..." becomes "cannot write to log: ...". Where a caller's data is kept is none of its business.
/// Anything in double quotes came from callers and stays.
std::string without_paths(std::string_view message);

}  // namespace braid::service
