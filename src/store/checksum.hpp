#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace braid::store {

/// XXH3-64 of `bytes`: finds damage, not forgery. The same on every machine, part of the formats.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

}  // namespace braid::store
