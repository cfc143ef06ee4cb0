#pragma once

#include "braid/local/backend.hpp"

namespace braid::testing {

/// A copy of an embedded backend's database into a directory of any kind.
inline Result<CheckReport> copy_database(const Backend& backend, store::Directory& destination,
                                         const CallLimits& limits) {
    return static_cast<const local::LocalBackend&>(backend).copy_to(destination, limits);
}

}  // namespace braid::testing
