#pragma once

#include <cstddef>

#include "braid/kernels/kernels.hpp"

/// The loops that all levels share, over a type `Simd` that holds 16 doubles in the registers of
/// one level:
///
///     Simd::Block                     16 doubles; double i of a Block is lane i
///     zero()                          all lanes +0
///     load(p), load_first(p, count)   16 floats, or count < 16 and zeros, converted to double
///     add_products(sum, a, b)         sum + a * b per lane
///     add_squares(sum, a, b)          sum + (a - b) * (a - b) per lane, each operation rounded
///     tree_sum(block)                 lanes added 8 apart, then 4, 2 and 1
///
/// Lanes beyond the end of a vector add +0, which changes no sum: a sum that began with +0 never
/// becomes -0.
namespace {

namespace loops {

using braid::kernels::CpuLevel;
using braid::kernels::Kernels;

template <class Simd>
struct Product {
    using Block = typename Simd::Block;
    static void add(Block& sum, const Block& a, const Block& b) noexcept {
        Simd::add_products(sum, a, b);
    }
};

template <class Simd>
struct SquaredDifference {
    using Block = typename Simd::Block;
    static void add(Block& sum, const Block& a, const Block& b) noexcept {
        Simd::add_squares(sum, a, b);
    }
};

template <class Simd, class Term>
inline double reduce(const float* a, const float* b, std::size_t n) noexcept {
    typename Simd::Block sum = Simd::zero();
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) Term::add(sum, Simd::load(a + i), Simd::load(b + i));
    if (i < n) Term::add(sum, Simd::load_first(a + i, n - i), Simd::load_first(b + i, n - i));
    return Simd::tree_sum(sum);
}

/// One row after the other, without prefetches: reading memory strictly in order, a scan runs at
/// the bandwidth of memory. Two or four rows at once were measured at less than half of it.
template <class Simd, class Term>
void reduce_rows(const float* query, const float* rows, std::size_t stride, std::size_t count,
                 std::size_t n, double* out) noexcept {
    for (std::size_t r = 0; r < count; ++r) {
        out[r] = reduce<Simd, Term>(query, rows + r * stride, n);
    }
}

template <class Simd>
constexpr Kernels table(CpuLevel level) noexcept {
    return {.level = level,
            .dot = reduce<Simd, Product<Simd>>,
            .squared_distance = reduce<Simd, SquaredDifference<Simd>>,
            .dot_rows = reduce_rows<Simd, Product<Simd>>,
            .squared_distance_rows = reduce_rows<Simd, SquaredDifference<Simd>>};
}

}  // namespace loops

}  // namespace
