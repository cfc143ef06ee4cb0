#pragma once

#include <cstddef>
#include <cstdint>

#include "braid/kernels/dense.hpp"

/// The loops over floats that all levels share, over a type `Simd` that holds 16 floats:
///
///     Simd::Block                    16 floats; zero(), add(a, b)
///     load(p), load_first(p, count)  16 floats (or halves), or count < 16 and zeros
///     add_product(sum, a, b)         sum + a * b per lane, each operation rounded
///     add_square(sum, a, b)          sum + (a - b) * (a - b) per lane, each operation rounded
///     tree_sum(block)                lanes added 8 apart, then 4, 2 and 1
namespace {

namespace float_loops {

template <class Simd>
struct FloatProduct {
    using Block = typename Simd::Block;
    static void add(Block& sum, const Block& a, const Block& b) noexcept {
        Simd::add_product(sum, a, b);
    }
};

template <class Simd>
struct FloatSquare {
    using Block = typename Simd::Block;
    static void add(Block& sum, const Block& a, const Block& b) noexcept {
        Simd::add_square(sum, a, b);
    }
};

template <class Simd, class Term, class Number>
inline float reduce_floats(const float* query, const Number* row, std::size_t n) noexcept {
    typename Simd::Block sum[4] = {Simd::zero(), Simd::zero(), Simd::zero(), Simd::zero()};
    std::size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        Term::add(sum[0], Simd::load(query + i), Simd::load(row + i));
        Term::add(sum[1], Simd::load(query + i + 16), Simd::load(row + i + 16));
        Term::add(sum[2], Simd::load(query + i + 32), Simd::load(row + i + 32));
        Term::add(sum[3], Simd::load(query + i + 48), Simd::load(row + i + 48));
    }
    for (std::size_t next = 0; i < n; i += 16, ++next) {
        if (n - i >= 16) {
            Term::add(sum[next], Simd::load(query + i), Simd::load(row + i));
        } else {
            Term::add(sum[next], Simd::load_first(query + i, n - i),
                      Simd::load_first(row + i, n - i));
        }
    }
    return Simd::tree_sum(Simd::add(Simd::add(sum[0], sum[1]), Simd::add(sum[2], sum[3])));
}

template <class Simd, class Term, class Number>
void reduce_float_rows(const float* query, const Number* rows, std::size_t stride,
                       std::size_t count, std::size_t n, float* out) noexcept {
    for (std::size_t r = 0; r < count; ++r) {
        out[r] = reduce_floats<Simd, Term>(query, rows + r * stride, n);
    }
}

/// Tables of 16 entries, one for each four bits of a byte row: for levels that look up by nibble.
inline void prepare_nibbles(const std::int16_t* weights,
                            braid::kernels::BlockQuery& query) noexcept {
    int total = 0;
    for (std::size_t table = 0; table < query.byte_rows * 2; ++table) {
        const std::int16_t* w = weights + table * 4;
        int base = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            base -= w[i] < 0 ? w[i] : 0;
            total += w[i] < 0 ? -w[i] : w[i];
        }
        for (unsigned bits = 0; bits < 16; ++bits) {
            int sum = base;
            for (unsigned i = 0; i < 4; ++i) sum += (bits >> i & 1U) != 0 ? w[i] : 0;
            query.tables[table * 16 + bits] = static_cast<std::uint8_t>(sum);
        }
    }
    query.total = static_cast<std::int16_t>(total);
}

}  // namespace float_loops

}  // namespace
