#pragma once

#include <cstddef>
#include <cstdint>

#include "braid/kernels/kernels.hpp"

namespace braid::kernels {

/// Loops over byte accumulators, one per row of a window. Every level gives the same answer for
/// the same input. `bytes` holds `count` accumulators, `count` a multiple of 64; word i of `mask`
/// says which of the rows 64 i to 64 i + 63 count, and a null `mask` that all do.
struct ByteKernels {
    CpuLevel level;
    /// How many accumulators are at least `cut`.
    std::size_t (*count_at_least)(const std::uint8_t* bytes, std::size_t count, std::uint8_t cut,
                                  const std::uint64_t* mask) noexcept;
    /// Their positions in increasing order; ends soon after `most`. `out` has room for `count`;
    /// count <= 65,536.
    std::size_t (*collect_at_least)(const std::uint8_t* bytes, std::size_t count, std::uint8_t cut,
                                    const std::uint64_t* mask, std::size_t most,
                                    std::uint16_t* out) noexcept;
    /// The largest accumulators, one of up to eight: `out` gets 64 bytes for each 512 or fewer of
    /// them. Returns how many bytes. Those that do not count are 0.
    std::size_t (*fold_maxima)(const std::uint8_t* bytes, std::size_t count,
                               const std::uint64_t* mask, std::uint8_t* out) noexcept;
    /// Adds table[x] to accumulator i, where x is the i-th of `count` four-bit numbers, low half of
    /// a byte first. Sums stay at 255.
    void (*add_nibbles)(std::uint8_t* bytes, const std::uint8_t* nibbles, std::size_t count,
                        const std::uint8_t* table) noexcept;
};

/// The kernels of cpu_choice(), or of the next level below that the machine has all of.
const ByteKernels& byte_kernels() noexcept;

/// The kernels of one level; null where the machine, or the build, lacks it.
const ByteKernels* byte_kernels_for(CpuLevel level) noexcept;

}  // namespace braid::kernels
