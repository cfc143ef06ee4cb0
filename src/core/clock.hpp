#pragma once

#include <chrono>

#include "braid/types.hpp"

namespace braid::core {

/// The time of the system's clock.
inline Timestamp system_now() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

}  // namespace braid::core
