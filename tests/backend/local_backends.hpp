#pragma once

#include <vector>

#include "backend/conformance.hpp"

namespace braid::testing {

/// The embedded backend over each kind of directory.
std::vector<BackendUnderTest> local_backends();

}  // namespace braid::testing
