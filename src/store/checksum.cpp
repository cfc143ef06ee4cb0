#include "braid/store/checksum.hpp"

#define XXH_INLINE_ALL  // NOLINT(readability-identifier-naming): the library's switch
#include <xxhash.h>

namespace braid::store {

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace braid::store
