#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "braid/sparse/index_format.hpp"
#include "braid/sparse/varint.hpp"

namespace braid::sparse {

/// How often a term occurs in each field of a row.
using FieldCounts = std::array<std::uint32_t, kMaxFields>;

/// Over all fields together, capped at what 32 bits hold.
inline std::uint32_t total_of(const std::uint32_t* counts, std::uint32_t fields) noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t f = 0; f < fields; ++f) sum += counts[f];
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
}

/// A byte with one bit per field that has the term (left out if there is only one field), then a
/// number for each.
inline void put_counts(Bytes& out, const std::uint32_t* counts, std::uint32_t fields) {
    if (fields > 1) {
        std::uint8_t mask = 0;
        for (std::uint32_t f = 0; f < fields; ++f) {
            if (counts[f] != 0) mask = static_cast<std::uint8_t>(mask | 1U << f);
        }
        out.push_back(mask);
    }
    for (std::uint32_t f = 0; f < fields; ++f) {
        if (counts[f] != 0) put_varint(out, counts[f]);
    }
}

/// Reads them back. False if no writer can have written them.
inline bool get_counts(const std::uint8_t*& at, const std::uint8_t* end, std::uint32_t fields,
                       FieldCounts& counts) noexcept {
    std::uint32_t mask = 1;
    if (fields > 1) {
        if (at == end) return false;
        mask = *at++;
    }
    if (mask == 0 || mask >> fields != 0) return false;
    counts.fill(0);
    for (; mask != 0; mask &= mask - 1) {
        std::uint64_t count = 0;
        if (!get_varint(at, end, count) || count == 0 || count > 0xFFFFFFFF) return false;
        counts[static_cast<std::size_t>(std::countr_zero(mask))] =
            static_cast<std::uint32_t>(count);
    }
    return true;
}

}  // namespace braid::sparse
