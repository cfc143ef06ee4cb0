#include "braid/kernels/dense_body.hpp"
#include "braid/kernels/dense_level.hpp"

namespace braid::kernels {
namespace {

float float_of_bits(std::uint32_t bits) noexcept {
    float value = 0;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

float widen_one(std::uint16_t half) noexcept {
    const std::uint32_t sign = (half & 0x8000U) << 16;
    const std::uint32_t exponent = half >> 10 & 31U;
    const std::uint32_t fraction = half & 0x3ffU;
    if (exponent == 31) return float_of_bits(sign | 0x7f80'0000U | fraction << 13);
    if (exponent != 0) return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;  // exact
    return sign != 0 ? -magnitude : magnitude;
}

std::uint16_t narrow_one(float value) noexcept {
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof bits);
    const std::uint32_t sign = bits >> 16 & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fff'ffffU;
    std::uint32_t half = 0;
    if (magnitude > 0x7f80'0000U) {
        half = 0x7e00U | (magnitude >> 13 & 0x1ffU);
    } else if (magnitude >= 0x4780'0000U) {
        half = 0x7c00U;
    } else if (magnitude < 0x3880'0000U) {
        // The sum's last bit is the smallest half's, so the addition rounds as wanted.
        const float shifted = float_of_bits(magnitude) + 0.5F;
        std::uint32_t sum = 0;
        __builtin_memcpy(&sum, &shifted, sizeof sum);
        half = sum - 0x3f00'0000U;
    } else {
        half = (magnitude - 0x3800'0000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
    }
    return static_cast<std::uint16_t>(sign | half);
}

struct ScalarFloats {
    struct Block {
        float lane[16];
    };

    static Block zero() noexcept { return {}; }
    static Block load(const float* p) noexcept { return load_first(p, 16); }
    static Block load(const std::uint16_t* p) noexcept { return load_first(p, 16); }
    static Block load(const std::int8_t* p) noexcept { return load_first(p, 16); }
    static Block load_first(const float* p, std::size_t count) noexcept {
        Block block{};
        for (std::size_t i = 0; i < count; ++i) block.lane[i] = p[i];
        return block;
    }
    static Block load_first(const std::uint16_t* p, std::size_t count) noexcept {
        Block block{};
        for (std::size_t i = 0; i < count; ++i) block.lane[i] = widen_one(p[i]);
        return block;
    }
    static Block load_first(const std::int8_t* p, std::size_t count) noexcept {
        Block block{};
        for (std::size_t i = 0; i < count; ++i) block.lane[i] = static_cast<float>(p[i]);
        return block;
    }
    static Block all(float x) noexcept {
        Block block{};
        for (float& lane : block.lane) lane = x;
        return block;
    }
    static Block multiply(Block a, const Block& b) noexcept {
        for (std::size_t i = 0; i < 16; ++i) a.lane[i] *= b.lane[i];
        return a;
    }
    static Block add(Block a, const Block& b) noexcept {
        for (std::size_t i = 0; i < 16; ++i) a.lane[i] += b.lane[i];
        return a;
    }
    static void add_product(Block& sum, const Block& a, const Block& b) noexcept {
        for (std::size_t i = 0; i < 16; ++i) sum.lane[i] += a.lane[i] * b.lane[i];
    }
    static void add_square(Block& sum, const Block& a, const Block& b) noexcept {
        for (std::size_t i = 0; i < 16; ++i) {
            const float difference = a.lane[i] - b.lane[i];
            sum.lane[i] += difference * difference;
        }
    }
    static float tree_sum(Block block) noexcept {
        for (std::size_t width = 8; width > 0; width /= 2) {
            for (std::size_t i = 0; i < width; ++i) block.lane[i] += block.lane[i + width];
        }
        return block.lane[0];
    }
};

void widen(const std::uint16_t* from, std::size_t n, float* to) noexcept {
    for (std::size_t i = 0; i < n; ++i) to[i] = widen_one(from[i]);
}

void widen_bytes(const std::int8_t* from, float unit, std::size_t n, float* to) noexcept {
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]) * unit;
}

std::uint64_t count_bits(const std::uint64_t* words, std::size_t count) noexcept {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < count; ++i) {
        total += static_cast<std::uint64_t>(__builtin_popcountll(words[i]));
    }
    return total;
}

void narrow(const float* from, std::size_t n, std::uint16_t* to) noexcept {
    for (std::size_t i = 0; i < n; ++i) to[i] = narrow_one(from[i]);
}

std::int32_t dot_i8(const std::int8_t* a, const std::int8_t* b, std::size_t n) noexcept {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

void estimate_lines(const LineQuery& query, const std::uint8_t* lines, const std::uint32_t* rows,
                    std::size_t count, std::int32_t* out) noexcept {
    for (std::size_t r = 0; r < count; ++r) {
        const std::uint8_t* line = lines + rows[r] * kLineBytes;
        std::int32_t sum = 0;
        for (unsigned plane = 0; plane < 4; ++plane) {
            for (std::size_t i = 0; i < kLineBytes; ++i) {
                sum += query.weights[plane][i] * (line[i] >> (2 * plane) & 3);
            }
        }
        out[r] = sum;
    }
}

/// The product of two Q15 numbers, rounded, as the instruction pmulhrsw has it.
std::int32_t multiply_q15(std::int32_t a, std::int32_t b) noexcept {
    return (a * b + 0x4000) >> 15;
}

void block_estimates(const BlockQuery& query, const std::uint8_t* block,
                     std::int16_t* out) noexcept {
    const std::uint8_t* factors = block + query.byte_rows * kBlockVectors;
    for (std::size_t v = 0; v < kBlockVectors; ++v) {
        std::int32_t sum = 0;
        for (std::size_t row = 0; row < query.byte_rows; ++row) {
            const unsigned bits = block[row * kBlockVectors + place_in_row(v)];
            sum +=
                query.tables[row * 32 + (bits & 15U)] + query.tables[row * 32 + 16 + (bits >> 4)];
        }
        std::int16_t factor = 0;
        __builtin_memcpy(&factor, factors + 2 * v, sizeof factor);
        std::int32_t estimate = multiply_q15(32 * sum - 16 * query.total, factor);
        if (query.offsets) {
            std::int16_t offset = 0;
            __builtin_memcpy(&offset, factors + 2 * kBlockVectors + 2 * v, sizeof offset);
            estimate = multiply_q15(estimate, query.alpha) - multiply_q15(offset, query.beta);
            estimate = estimate < -32768 ? -32768 : estimate > 32767 ? 32767 : estimate;
        }
        out[v] = static_cast<std::int16_t>(estimate);
    }
}

void scan_blocks(const BlockQuery& query, const std::uint8_t* blocks, std::size_t count,
                 std::int16_t threshold, std::uint64_t* masks) noexcept {
    const std::size_t stride = block_bytes(query.byte_rows * 8, query.offsets);
    std::int16_t estimates[kBlockVectors];
    for (std::size_t b = 0; b < count; ++b) {
        block_estimates(query, blocks + b * stride, estimates);
        std::uint64_t mask = 0;
        for (std::size_t v = 0; v < kBlockVectors; ++v) {
            mask |= std::uint64_t{estimates[v] >= threshold} << v;
        }
        masks[b] = mask;
    }
}

using namespace float_loops;
constexpr DenseKernels kScalarDense{
    .level = CpuLevel::Scalar,
    .dot_f32 = reduce_float_rows<ScalarFloats, FloatProduct<ScalarFloats>, float>,
    .dot_f32_of_four = product_of_four<ScalarFloats>,
    .distance_f32 = reduce_float_rows<ScalarFloats, FloatSquare<ScalarFloats>, float>,
    .dot_f16 = reduce_float_rows<ScalarFloats, FloatProduct<ScalarFloats>, std::uint16_t>,
    .distance_f16 = reduce_float_rows<ScalarFloats, FloatSquare<ScalarFloats>, std::uint16_t>,
    .dot_bytes = reduce_byte_rows<ScalarFloats, FloatProduct<ScalarFloats>>,
    .distance_bytes = reduce_byte_rows<ScalarFloats, FloatSquare<ScalarFloats>>,
    .widen = widen,
    .widen_bytes = widen_bytes,
    .narrow = narrow,
    .count_bits = count_bits,
    .dot_i8 = dot_i8,
    .dot_i8_rows = dot_each_row<dot_i8>,
    .estimate_lines = estimate_lines,
    .rank_lines = rank_by_sums<estimate_lines>,
    .prepare_blocks = prepare_nibbles,
    .block_estimates = block_estimates,
    .scan_blocks = scan_blocks};

}  // namespace

const DenseKernels* scalar_dense_level() noexcept {
    return &kScalarDense;
}

}  // namespace braid::kernels
