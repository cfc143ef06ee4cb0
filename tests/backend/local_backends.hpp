#pragma once

#include <vector>

#include "backend/conformance.hpp"

namespace braid::testing {

/// The embedded backend over each kind of directory.
std::vector<BackendUnderTest> local_backends();
/// One that promises less, of what it has.
BackendUnderTest modest_backend();

}  // namespace braid::testing
