#include <immintrin.h>

#include "braid/kernels/dense_body.hpp"
#include "braid/kernels/dense_level.hpp"

namespace braid::kernels {
namespace {

struct Avx2Floats {
    struct Block {
        __m256 low;
        __m256 high;
    };

    static Block zero() noexcept { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
    static Block load(const float* p) noexcept {
        return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
    }
    static Block load(const std::uint16_t* p) noexcept {
        const auto* halves = reinterpret_cast<const __m128i*>(p);
        return {_mm256_cvtph_ps(_mm_loadu_si128(halves)),
                _mm256_cvtph_ps(_mm_loadu_si128(halves + 1))};
    }
    static Block load(const std::int8_t* p) noexcept {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)),
                _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8)))};
    }
    static Block all(float x) noexcept { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
    static Block multiply(const Block& a, const Block& b) noexcept {
        return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
    }
    template <class Number>
    static Block load_first(const Number* p, std::size_t count) noexcept {
        Number padded[16] = {};
        for (std::size_t i = 0; i < count; ++i) padded[i] = p[i];
        return load(padded);
    }
    static Block add(const Block& a, const Block& b) noexcept {
        return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
    }
    static void add_product(Block& sum, const Block& a, const Block& b) noexcept {
        sum.low = _mm256_add_ps(sum.low, _mm256_mul_ps(a.low, b.low));
        sum.high = _mm256_add_ps(sum.high, _mm256_mul_ps(a.high, b.high));
    }
    static void add_square(Block& sum, const Block& a, const Block& b) noexcept {
        const __m256 low = _mm256_sub_ps(a.low, b.low);
        const __m256 high = _mm256_sub_ps(a.high, b.high);
        sum.low = _mm256_add_ps(sum.low, _mm256_mul_ps(low, low));
        sum.high = _mm256_add_ps(sum.high, _mm256_mul_ps(high, high));
    }
    static float tree_sum(const Block& block) noexcept {
        const __m256 eight = _mm256_add_ps(block.low, block.high);
        const __m128 four =
            _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
        const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
    }
};

void widen(const std::uint16_t* from, std::size_t n, float* to) noexcept {
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
    }
    for (; i < n; ++i) to[i] = _cvtsh_ss(from[i]);
}

void widen_bytes(const std::int8_t* from, float unit, std::size_t n, float* to) noexcept {
    const Avx2Floats::Block units = Avx2Floats::all(unit);
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const Avx2Floats::Block wide = Avx2Floats::multiply(Avx2Floats::load(from + i), units);
        _mm256_storeu_ps(to + i, wide.low);
        _mm256_storeu_ps(to + i + 8, wide.high);
    }
    for (; i < n; ++i) to[i] = static_cast<float>(from[i]) * unit;
}

std::uint64_t count_bits(const std::uint64_t* words, std::size_t count) noexcept {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < count; ++i) {
        total += static_cast<std::uint64_t>(__builtin_popcountll(words[i]));
    }
    return total;
}

void narrow(const float* from, std::size_t n, std::uint16_t* to) noexcept {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i), kNearest));
    }
    for (; i < n; ++i) to[i] = _cvtss_sh(from[i], kNearest);
}

std::int32_t sum_of(__m256i eight) noexcept {
    const __m128i four =
        _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    const __m128i two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 1)));
}

std::int32_t dot_i8(const std::int8_t* a, const std::int8_t* b, std::size_t n) noexcept {
    __m256i sum = _mm256_setzero_si256();
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m256i x =
            _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i)));
        const __m256i y =
            _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + i)));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, y));
    }
    std::int32_t rest = 0;
    for (; i < n; ++i) rest += a[i] * b[i];
    return sum_of(sum) + rest;
}

void estimate_lines(const LineQuery& query, const std::uint8_t* lines, const std::uint32_t* rows,
                    std::size_t count, std::int32_t* out) noexcept {
    constexpr std::size_t kAhead = 8;
    const __m256i three = _mm256_set1_epi8(3);
    for (std::size_t r = 0; r < count; ++r) {
        if (r + kAhead < count) {
            __builtin_prefetch(lines + std::size_t{rows[r + kAhead]} * kLineBytes);
        }
        const std::uint8_t* line = lines + std::size_t{rows[r]} * kLineBytes;
        __m256i pairs = _mm256_setzero_si256();  // at most 8 products of 3 * 128 each: fits
        for (std::size_t half = 0; half < 2; ++half) {
            __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line + half * 32));
            for (const auto& plane : query.weights) {
                const __m256i weights =
                    _mm256_load_si256(reinterpret_cast<const __m256i*>(plane + half * 32));
                pairs = _mm256_add_epi16(
                    pairs, _mm256_maddubs_epi16(_mm256_and_si256(codes, three), weights));
                codes = _mm256_srli_epi16(codes, 2);
            }
        }
        out[r] = sum_of(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    }
}

struct Estimates {
    __m256i even;  // vectors 16 h to 16 h + 15
    __m256i odd;   // 32 more
};

__m256i scaled(const BlockQuery& query, __m256i sums, const std::uint8_t* factors) noexcept {
    const __m256i centred = _mm256_sub_epi16(
        _mm256_slli_epi16(sums, 5), _mm256_set1_epi16(static_cast<std::int16_t>(query.total * 16)));
    __m256i estimate =
        _mm256_mulhrs_epi16(centred, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(factors)));
    if (query.offsets) {
        const __m256i offset =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(factors + 2 * kBlockVectors));
        estimate = _mm256_subs_epi16(_mm256_mulhrs_epi16(estimate, _mm256_set1_epi16(query.alpha)),
                                     _mm256_mulhrs_epi16(offset, _mm256_set1_epi16(query.beta)));
    }
    return estimate;
}

/// One half of a block's byte rows.
Estimates half_estimates(const BlockQuery& query, const std::uint8_t* block,
                         std::size_t half) noexcept {
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i low_byte = _mm256_set1_epi16(255);
    __m256i even = _mm256_setzero_si256();
    __m256i odd = _mm256_setzero_si256();
    for (std::size_t row = 0; row < query.byte_rows;) {
        __m256i sum = _mm256_setzero_si256();
        for (std::size_t end = row + kCodeChunk / 8; row < end; ++row) {
            const __m256i bits = _mm256_loadu_si256(
                reinterpret_cast<const __m256i*>(block + row * kBlockVectors + half * 32));
            const auto* tables = reinterpret_cast<const __m128i*>(query.tables + row * 32);
            const __m256i low = _mm256_broadcastsi128_si256(_mm_load_si128(tables));
            const __m256i high = _mm256_broadcastsi128_si256(_mm_load_si128(tables + 1));
            sum = _mm256_add_epi8(sum, _mm256_shuffle_epi8(low, _mm256_and_si256(bits, nibble)));
            sum = _mm256_add_epi8(
                sum,
                _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bits, 4), nibble)));
        }
        even = _mm256_add_epi16(even, _mm256_and_si256(sum, low_byte));
        odd = _mm256_add_epi16(odd, _mm256_srli_epi16(sum, 8));
    }
    const std::uint8_t* factors = block + query.byte_rows * kBlockVectors + half * 32;
    return {scaled(query, even, factors), scaled(query, odd, factors + 64)};
}

void block_estimates(const BlockQuery& query, const std::uint8_t* block,
                     std::int16_t* out) noexcept {
    for (std::size_t half = 0; half < 2; ++half) {
        const Estimates estimates = half_estimates(query, block, half);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + half * 16), estimates.even);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 32 + half * 16), estimates.odd);
    }
}

void scan_blocks(const BlockQuery& query, const std::uint8_t* blocks, std::size_t count,
                 std::int16_t threshold, std::uint64_t* masks) noexcept {
    const std::size_t stride = block_bytes(query.byte_rows * 8, query.offsets);
    const __m256i limit = _mm256_set1_epi16(threshold);
    for (std::size_t b = 0; b < count; ++b) {
        std::uint64_t below = 0;
        for (std::size_t half = 0; half < 2; ++half) {
            const Estimates estimates = half_estimates(query, blocks + b * stride, half);
            // Packing works per 128 bits: even 0-7, odd 0-7, even 8-15, odd 8-15.
            const auto bits = static_cast<std::uint32_t>(
                _mm256_movemask_epi8(_mm256_packs_epi16(_mm256_cmpgt_epi16(limit, estimates.even),
                                                        _mm256_cmpgt_epi16(limit, estimates.odd))));
            const std::uint64_t even = (bits & 0xffU) | (bits >> 8 & 0xff00U);
            const std::uint64_t odd = (bits >> 8 & 0xffU) | (bits >> 16 & 0xff00U);
            below |= even << (16 * half) | odd << (32 + 16 * half);
        }
        masks[b] = ~below;
    }
}

using namespace float_loops;
constexpr DenseKernels kAvx2Dense{
    .level = CpuLevel::Avx2,
    .dot_f32 = reduce_float_rows<Avx2Floats, FloatProduct<Avx2Floats>, float>,
    .dot_f32_of_four = product_of_four<Avx2Floats>,
    .distance_f32 = reduce_float_rows<Avx2Floats, FloatSquare<Avx2Floats>, float>,
    .dot_f16 = reduce_float_rows<Avx2Floats, FloatProduct<Avx2Floats>, std::uint16_t>,
    .distance_f16 = reduce_float_rows<Avx2Floats, FloatSquare<Avx2Floats>, std::uint16_t>,
    .dot_bytes = reduce_byte_rows<Avx2Floats, FloatProduct<Avx2Floats>>,
    .distance_bytes = reduce_byte_rows<Avx2Floats, FloatSquare<Avx2Floats>>,
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

const DenseKernels* avx2_dense_level() noexcept {
    return &kAvx2Dense;
}

}  // namespace braid::kernels
