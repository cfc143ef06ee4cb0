#pragma once

#include <cstddef>
#include <cstdint>

#include "braid/kernels/dense.hpp"

/// The loops over floats that all levels share, over a type `Simd` that holds 16 floats:
///
///     Simd::Block                    16 floats; zero(), add(a, b)
///     load(p), load_first(p, count)  16 floats (or halves, or bytes), or count < 16 and zeros
///     all(x), multiply(a, b)         x in each lane; a * b per lane, rounded
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

/// Numbers as they stand in memory.
template <class Simd, class Number>
struct PlainRow {
    const Number* from;
    typename Simd::Block load(std::size_t i) const noexcept { return Simd::load(from + i); }
    typename Simd::Block load_first(std::size_t i, std::size_t count) const noexcept {
        return Simd::load_first(from + i, count);
    }
};

/// Bytes, and what 1 stands for.
template <class Simd>
struct ByteRow {
    const std::int8_t* from;
    typename Simd::Block unit;

    ByteRow(const std::int8_t* row, std::size_t n) noexcept : from(row) {
        float number = 0;
        __builtin_memcpy(&number, row + n, sizeof number);
        unit = Simd::all(number);
    }
    typename Simd::Block load(std::size_t i) const noexcept {
        return Simd::multiply(Simd::load(from + i), unit);
    }
    typename Simd::Block load_first(std::size_t i, std::size_t count) const noexcept {
        return Simd::multiply(Simd::load_first(from + i, count), unit);
    }
};

template <class Simd, class Term, class Row>
inline float reduce_floats(const float* query, const Row& row, std::size_t n) noexcept {
    typename Simd::Block sum[4] = {Simd::zero(), Simd::zero(), Simd::zero(), Simd::zero()};
    std::size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        Term::add(sum[0], Simd::load(query + i), row.load(i));
        Term::add(sum[1], Simd::load(query + i + 16), row.load(i + 16));
        Term::add(sum[2], Simd::load(query + i + 32), row.load(i + 32));
        Term::add(sum[3], Simd::load(query + i + 48), row.load(i + 48));
    }
    for (std::size_t next = 0; i < n; i += 16, ++next) {
        if (n - i >= 16) {
            Term::add(sum[next], Simd::load(query + i), row.load(i));
        } else {
            Term::add(sum[next], Simd::load_first(query + i, n - i), row.load_first(i, n - i));
        }
    }
    return Simd::tree_sum(Simd::add(Simd::add(sum[0], sum[1]), Simd::add(sum[2], sum[3])));
}

template <class Simd, class Term, class Number>
void reduce_float_rows(const float* query, const Number* rows, std::size_t stride,
                       std::size_t count, std::size_t n, float* out) noexcept {
    for (std::size_t r = 0; r < count; ++r) {
        out[r] = reduce_floats<Simd, Term>(query, PlainRow<Simd, Number>{rows + r * stride}, n);
    }
}

template <class Simd, class Term>
void reduce_byte_rows(const float* query, const std::int8_t* rows, std::size_t count, std::size_t n,
                      float* out) noexcept {
    for (std::size_t r = 0; r < count; ++r) {
        const std::int8_t* row = rows + r * braid::kernels::byte_row_size(n);
        out[r] = reduce_floats<Simd, Term>(query, ByteRow<Simd>(row, n), n);
    }
}

/// Four queries with each row: a row is loaded once for all of them.
template <class Simd>
void product_of_four(const float* const* queries, const float* rows, std::size_t stride,
                     std::size_t count, std::size_t n, float* out) noexcept {
    constexpr std::size_t kQueries = 4;
    using Block = typename Simd::Block;
    for (std::size_t r = 0; r < count; ++r) {
        const float* row = rows + r * stride;
        Block sums[kQueries][4];
        for (auto& sum : sums) {
            for (Block& block : sum) block = Simd::zero();
        }
        std::size_t i = 0;
        for (; i + 64 <= n; i += 64) {
            for (std::size_t part = 0; part < 4; ++part) {
                const Block numbers = Simd::load(row + i + 16 * part);
                for (std::size_t q = 0; q < kQueries; ++q) {
                    Simd::add_product(sums[q][part], Simd::load(queries[q] + i + 16 * part),
                                      numbers);
                }
            }
        }
        for (std::size_t part = 0; i < n; i += 16, ++part) {
            const std::size_t some = n - i < 16 ? n - i : 16;
            const Block numbers =
                some == 16 ? Simd::load(row + i) : Simd::load_first(row + i, some);
            for (std::size_t q = 0; q < kQueries; ++q) {
                const float* query = queries[q] + i;
                Simd::add_product(sums[q][part],
                                  some == 16 ? Simd::load(query) : Simd::load_first(query, some),
                                  numbers);
            }
        }
        for (std::size_t q = 0; q < kQueries; ++q) {
            const auto& sum = sums[q];
            out[q * count + r] =
                Simd::tree_sum(Simd::add(Simd::add(sum[0], sum[1]), Simd::add(sum[2], sum[3])));
        }
    }
}

/// The half that stands there. A damaged one that stands for no number comes out as a large one: a
/// wrong candidate, no worse.
inline float half_at(const std::uint8_t* from) noexcept {
    const std::uint32_t half = from[0] | static_cast<std::uint32_t>(from[1]) << 8;
    const std::uint32_t magnitude = (half & 0x7fffU) << 13;
    float value = 0;
    __builtin_memcpy(&value, &magnitude, sizeof value);
    return (half & 0x8000U) != 0 ? -(value * 0x1p112F) : value * 0x1p112F;
}

/// Orders as floats do, and is total: 0 and -0 differ, and what is no number has a place.
inline std::uint32_t ordered_bits(float value) noexcept {
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return (bits & 0x8000'0000U) != 0 ? ~bits : bits | 0x8000'0000U;
}

/// Ranks lines by the sums of `Estimate`.
template <auto Estimate>
std::size_t rank_by_sums(const braid::kernels::LineQuery& query, const std::uint8_t* lines,
                         const std::uint32_t* rows, std::size_t count, std::uint64_t least,
                         std::uint64_t* keys) noexcept {
    constexpr std::size_t kTogether = 64;
    std::int32_t sums[kTogether];
    std::size_t kept = 0;
    for (std::size_t first = 0; first < count; first += kTogether) {
        const std::size_t some = count - first < kTogether ? count - first : kTogether;
        Estimate(query, lines, rows + first, some, sums);
        for (std::size_t i = 0; i < some; ++i) {
            const std::uint32_t row = rows[first + i];
            const std::uint8_t* line = lines + std::size_t{row} * braid::kernels::kLineBytes;
            const float centred = static_cast<float>(2 * sums[i] - query.bias) * 0.5F;
            const float estimate = centred * half_at(line + 60) * query.scale -
                                   half_at(line + 62) * query.offset_scale;
            const std::uint64_t key =
                std::uint64_t{ordered_bits(estimate)} << 32 | static_cast<std::uint32_t>(~row);
            keys[kept] = key;
            kept += key > least ? 1 : 0;
        }
    }
    return kept;
}

template <auto Dot>
void dot_each_row(const std::int8_t* query, const std::int8_t* base, std::size_t stride,
                  const std::uint32_t* rows, std::size_t count, std::size_t n,
                  std::int32_t* out) noexcept {
    for (std::size_t r = 0; r < count; ++r) {
        out[r] = Dot(query, base + std::size_t{rows[r]} * stride, n);
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
