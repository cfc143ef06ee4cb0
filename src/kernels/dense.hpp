#pragma once

#include <cstddef>
#include <cstdint>

#include "braid/kernels/kernels.hpp"

namespace braid::kernels {

/// Codes have at most this many dimensions: at two bits each, with four bytes of factors, they fill
/// one cache line.
inline constexpr std::size_t kCodeDimensions = 240;
/// Code dimensions come in multiples of this: what a byte per vector can add up.
inline constexpr std::size_t kCodeChunk = 48;
inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::size_t kBlockVectors = 64;

/// Bytes of a row of `dimension` numbers that have 8 bits each, and share what 1 stands for.
constexpr std::size_t byte_row_size(std::size_t dimension) noexcept {
    return dimension + sizeof(float);
}

/// A query against the lines of codes: dimension i meets plane i / 60, byte i mod 60. With s the
/// sum over dimensions of weight * code (0 to 3), and the halves that stand in bytes 60 and 62 of
/// the line, the estimate is (2 s - bias) / 2 * first half * scale - second half * offset_scale,
/// each operation rounded to float.
struct LineQuery {
    alignas(64) std::int8_t weights[4][kLineBytes];  // bytes 60 to 63 of each are 0
    std::int32_t bias = 0;
    float scale = 0;
    float offset_scale = 0;
};

/// A query against blocks of high bits, in the tables of one level (made by `prepare_blocks`).
struct BlockQuery {
    alignas(64) std::uint8_t tables[kCodeDimensions / 6 * 64];
    std::size_t byte_rows;   // code dimensions / 8, a multiple of 6
    std::int16_t total;      // sum of the weights' magnitudes
    bool offsets;            // blocks have an offset per vector after the factor
    std::int16_t alpha = 0;  // with offsets: what estimate and offset are multiplied by, as Q15
    std::int16_t beta = 0;
};

/// Bytes of one block of 64 vectors: the byte rows, a factor and perhaps an offset for each vector.
constexpr std::size_t block_bytes(std::size_t dimensions, bool offsets) noexcept {
    return dimensions / 8 * kBlockVectors + kBlockVectors * (offsets ? 4 : 2);
}
/// Where in a byte row the vector of that number in the block stands: evens and odds of a register
/// become vectors 0 to 31 and 32 to 63.
constexpr std::size_t place_in_row(std::size_t vector) noexcept {
    return vector < 32 ? 2 * vector : 2 * (vector - 32) + 1;
}

/// What finds candidates. Every level returns the same bits for the same input, as in Kernels.
///
/// Sums of floats: element i goes to accumulator i mod 64; products (or differences and squares)
/// and sums are each rounded to float; the accumulators are added 16 and 32 apart, (0 + 16) +
/// (32 + 48), then 8, 4, 2 and 1 apart. Halves are IEEE binary16.
struct DenseKernels {
    CpuLevel level;
    void (*dot_f32)(const float* query, const float* rows, std::size_t stride, std::size_t count,
                    std::size_t n, float* out) noexcept;
    /// dot_f32 of four queries: out[q * count + r] is that of queries[q].
    void (*dot_f32_of_four)(const float* const* queries, const float* rows, std::size_t stride,
                            std::size_t count, std::size_t n, float* out) noexcept;
    void (*distance_f32)(const float* query, const float* rows, std::size_t stride,
                         std::size_t count, std::size_t n, float* out) noexcept;
    void (*dot_f16)(const float* query, const std::uint16_t* rows, std::size_t stride,
                    std::size_t count, std::size_t n, float* out) noexcept;
    void (*distance_f16)(const float* query, const std::uint16_t* rows, std::size_t stride,
                         std::size_t count, std::size_t n, float* out) noexcept;
    /// Rows of n bytes, then a float: the number that 1 stands for. Each number is multiplied by it
    /// first, so that the sums are those of the rows as floats.
    void (*dot_bytes)(const float* query, const std::int8_t* rows, std::size_t count, std::size_t n,
                      float* out) noexcept;
    void (*distance_bytes)(const float* query, const std::int8_t* rows, std::size_t count,
                           std::size_t n, float* out) noexcept;
    void (*widen)(const std::uint16_t* from, std::size_t n, float* to) noexcept;
    /// to[i] = from[i] * unit, rounded to float.
    void (*widen_bytes)(const std::int8_t* from, float unit, std::size_t n, float* to) noexcept;
    /// To the nearest half, ties to even; beyond the largest: infinity.
    void (*narrow)(const float* from, std::size_t n, std::uint16_t* to) noexcept;
    std::uint64_t (*count_bits)(const std::uint64_t* words, std::size_t count) noexcept;
    /// Sum of a[i] * b[i].
    std::int32_t (*dot_i8)(const std::int8_t* a, const std::int8_t* b, std::size_t n) noexcept;
    /// out[i] = sum over n of query * the row at base + rows[i] * stride, i < count.
    void (*dot_i8_rows)(const std::int8_t* query, const std::int8_t* base, std::size_t stride,
                        const std::uint32_t* rows, std::size_t count, std::size_t n,
                        std::int32_t* out) noexcept;

    /// out[i] = sum over dimensions of weight * code (0 to 3) for line rows[i], i < count.
    void (*estimate_lines)(const LineQuery& query, const std::uint8_t* lines,
                           const std::uint32_t* rows, std::size_t count,
                           std::int32_t* out) noexcept;
    /// The keys above `least` of the lines rows[i], in that order, and how many those are. A key
    /// has the estimate in its upper half, as bits that order as floats do (inverted where it is
    /// negative, with the sign inverted otherwise), and ~rows[i] in its lower one.
    std::size_t (*rank_lines)(const LineQuery& query, const std::uint8_t* lines,
                              const std::uint32_t* rows, std::size_t count, std::uint64_t least,
                              std::uint64_t* keys) noexcept;
    /// Fills `tables` and `total` for a weight per dimension (byte_rows * 8 of them). Within each
    /// kCodeChunk the magnitudes add up to at most 255.
    void (*prepare_blocks)(const std::int16_t* weights, BlockQuery& query) noexcept;
    /// The 64 estimates of one block: with s the sum of weights, negative where the bit is 0,
    /// (16 s) * factor as Q15; with offsets, times alpha, less offset * beta.
    void (*block_estimates)(const BlockQuery& query, const std::uint8_t* block,
                            std::int16_t* out) noexcept;
    /// masks[b] has bit v where the estimate of vector v of block b is at least the threshold.
    void (*scan_blocks)(const BlockQuery& query, const std::uint8_t* blocks, std::size_t count,
                        std::int16_t threshold, std::uint64_t* masks) noexcept;
};

/// The kernels of cpu_choice(). Safe for concurrent use.
const DenseKernels& dense_kernels() noexcept;

/// The kernels of one level; null where the machine, or the build, lacks it. Avx512 here needs BW,
/// VBMI and VNNI too; a machine without them uses Avx2.
const DenseKernels* dense_kernels_for(CpuLevel level) noexcept;

}  // namespace braid::kernels
