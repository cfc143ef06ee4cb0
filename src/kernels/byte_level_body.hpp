#pragma once

#include <cstddef>
#include <cstdint>

#include "braid/kernels/byte_kernels.hpp"

/// The loops that all levels share, over a type `Simd` with
///
///     at_least(p, cut)            bit i of the result: p[i] >= cut, for 64 bytes
///     any_at_least(p, cut)        whether that holds for any of 256 bytes
///     fold(p, blocks, mask, out)  the maxima of up to eight blocks of 64 bytes, byte by byte
///     add(bytes, nibbles, table)  64 accumulators, from 32 bytes of nibbles
namespace {

namespace byte_loops {

using braid::kernels::ByteKernels;
using braid::kernels::CpuLevel;

/// Calls use(i, hits) for each 64 bytes from i on, but for most of those that hold none.
template <class Simd, class Use>
void each_hit(const std::uint8_t* bytes, std::size_t count, std::uint8_t cut,
              const std::uint64_t* mask, const Use& use) noexcept {
    constexpr std::size_t kStep = 256;
    for (std::size_t i = 0; i < count;) {
        const std::size_t end = count - i < kStep ? count : i + kStep;
        if (end - i == kStep && !Simd::any_at_least(bytes + i, cut)) {
            i = end;
            continue;
        }
        for (; i < end; i += 64) {
            const std::uint64_t hits = Simd::at_least(bytes + i, cut);
            use(i, mask == nullptr ? hits : hits & mask[i / 64]);
        }
    }
}

template <class Simd>
std::size_t count_at_least(const std::uint8_t* bytes, std::size_t count, std::uint8_t cut,
                           const std::uint64_t* mask) noexcept {
    std::size_t found = 0;
    each_hit<Simd>(bytes, count, cut, mask, [&](std::size_t, std::uint64_t hits) {
        found += static_cast<std::size_t>(__builtin_popcountll(hits));
    });
    return found;
}

template <class Simd>
std::size_t collect_at_least(const std::uint8_t* bytes, std::size_t count, std::uint8_t cut,
                             const std::uint64_t* mask, std::size_t most,
                             std::uint16_t* out) noexcept {
    constexpr std::size_t kPart = 4096;
    std::size_t found = 0;
    for (std::size_t begin = 0; begin < count && found <= most; begin += kPart) {
        const std::size_t size = count - begin < kPart ? count - begin : kPart;
        const std::uint64_t* part = mask == nullptr ? nullptr : mask + begin / 64;
        each_hit<Simd>(bytes + begin, size, cut, part, [&](std::size_t i, std::uint64_t hits) {
            for (; hits != 0; hits &= hits - 1) {
                const auto bit = static_cast<std::size_t>(__builtin_ctzll(hits));
                out[found++] = static_cast<std::uint16_t>(begin + i + bit);
            }
        });
    }
    return found;
}

template <class Simd>
std::size_t fold_maxima(const std::uint8_t* bytes, std::size_t count, const std::uint64_t* mask,
                        std::uint8_t* out) noexcept {
    std::size_t written = 0;
    for (std::size_t i = 0; i < count; i += 512, written += 64) {
        const std::size_t left = (count - i) / 64;
        Simd::fold(bytes + i, left < 8 ? left : 8, mask == nullptr ? nullptr : mask + i / 64,
                   out + written);
    }
    return written;
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
            .fold_maxima = fold_maxima<Simd>,
            .add_nibbles = add_nibbles<Simd>};
}

}  // namespace byte_loops

}  // namespace
