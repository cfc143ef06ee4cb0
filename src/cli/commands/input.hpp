#pragma once

#include <string>
#include <vector>

#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::cli {

/// The whole of a file, or of standard input for "-". ResourceExhausted beyond 64 MiB.
Result<std::string> read_input(const std::string& path);

/// A vector given as JSON ("[0.1, 0.2]") or as a .npy file of one row.
Result<std::vector<float>> read_vector(const std::string& text, const std::string& flag);

}  // namespace braid::cli
