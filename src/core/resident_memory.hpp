#pragma once

#include <cstdint>

namespace braid::core {

/// Bytes of this process that are in memory, mapped files included; 0 where that cannot be known.
std::uint64_t resident_bytes();

/// For a process that stores much and then ends: what is freed goes back to the system sooner, and
/// threads share what they allocate from. Costs some time of the allocator; for the whole process,
/// so it is its program's to call. Does nothing where the C library offers no such thing.
void keep_memory_low();

}  // namespace braid::core
