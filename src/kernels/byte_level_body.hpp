#pragma once

#include <cstddef>
#include <cstdint>

#include "braid/kernels/byte_kernels.hpp"

/// The loops that all levels share, over a type `Simd` with
///
///     at_least(p, cut)            bit i of the result: p[i] >= cut, for 64 bytes
///     add(bytes, nibbles, table)  64 accumulators, from 32 bytes of nibbles
namespace {

namespace byte_loops {

using braid::kernels::ByteKernels;
using braid::kernels::CpuLevel;

template <class Simd>
std::size_t count_at_least(const std::uint8_t* bytes, std::size_t count, std::uint8_t cut,
                           const std::uint64_t* mask) noexcept {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; i += 64) {
        std::uint64_t hits = Simd::at_least(bytes + i, cut);
        if (mask != nullptr) hits &= mask[i / 64];
        if (hits != 0) found += static_cast<std::size_t>(__builtin_popcountll(hits));
    }
    return found;
}

template <class Simd>
std::size_t collect_at_least(const std::uint8_t* bytes, std::size_t count, std::uint8_t cut,
                             const std::uint64_t* mask, std::uint16_t* out) noexcept {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; i += 64) {
        std::uint64_t hits = Simd::at_least(bytes + i, cut);
        if (mask != nullptr) hits &= mask[i / 64];
        for (; hits != 0; hits &= hits - 1) {
            const auto bit = static_cast<std::size_t>(__builtin_ctzll(hits));
            out[found++] = static_cast<std::uint16_t>(i + bit);
        }
    }
    return found;
}

template <class Simd>
void add_nibbles(std::uint8_t* bytes, const std::uint8_t* nibbles, std::size_t count,
                 const std::uint8_t* table) noexcept {
    for (std::size_t i = 0; i < count; i += 64) Simd::add(bytes + i, nibbles + i / 2, table);
}

template <class Simd>
constexpr ByteKernels table(CpuLevel level) noexcept {
    return {.level = level,
            .count_at_least = count_at_least<Simd>,
            .collect_at_least = collect_at_least<Simd>,
            .add_nibbles = add_nibbles<Simd>};
}

}  // namespace byte_loops

}  // namespace
