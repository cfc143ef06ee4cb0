#pragma once

#include <cstdint>

namespace braid::core {

/// Bytes of this process that are in memory, mapped files included; 0 where that cannot be known.
std::uint64_t resident_bytes();

}  // namespace braid::core
