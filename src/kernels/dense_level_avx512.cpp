#include <immintrin.h>

#include "braid/kernels/dense_body.hpp"
#include "braid/kernels/dense_level.hpp"

namespace braid::kernels {
namespace {

struct Avx512Floats {
    using Block = __m512;

    static Block zero() noexcept { return _mm512_setzero_ps(); }
    static Block load(const float* p) noexcept { return _mm512_loadu_ps(p); }
    static Block load(const std::uint16_t* p) noexcept {
        return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    }
    static Block load_first(const float* p, std::size_t count) noexcept {
        return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1U), p);
    }
    static Block load_first(const std::uint16_t* p, std::size_t count) noexcept {
        return _mm512_cvtph_ps(
            _mm256_maskz_loadu_epi16(static_cast<__mmask16>((1U << count) - 1U), p));
    }
    static Block load(const std::int8_t* p) noexcept {
        return _mm512_cvtepi32_ps(
            _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
    }
    static Block load_first(const std::int8_t* p, std::size_t count) noexcept {
        return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(
            _mm_maskz_loadu_epi8(static_cast<__mmask16>((1U << count) - 1U), p)));
    }
    static Block all(float x) noexcept { return _mm512_set1_ps(x); }
    static Block multiply(Block a, Block b) noexcept { return _mm512_mul_ps(a, b); }
    static Block add(Block a, Block b) noexcept { return _mm512_add_ps(a, b); }
    static void add_product(Block& sum, Block a, Block b) noexcept {
        sum = _mm512_add_ps(sum, _mm512_mul_ps(a, b));
    }
    static void add_square(Block& sum, Block a, Block b) noexcept {
        const Block difference = _mm512_sub_ps(a, b);
        sum = _mm512_add_ps(sum, _mm512_mul_ps(difference, difference));
    }
    static float tree_sum(Block block) noexcept {
        const __m256 eight =
            _mm256_add_ps(_mm512_castps512_ps256(block), _mm512_extractf32x8_ps(block, 1));
        const __m128 four =
            _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
        const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
    }
};

void widen(const std::uint16_t* from, std::size_t n, float* to) noexcept {
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) _mm512_storeu_ps(to + i, Avx512Floats::load(from + i));
    if (i < n) {
        _mm512_mask_storeu_ps(to + i, static_cast<__mmask16>((1U << (n - i)) - 1U),
                              Avx512Floats::load_first(from + i, n - i));
    }
}

void widen_bytes(const std::int8_t* from, float unit, std::size_t n, float* to) noexcept {
    const __m512 units = Avx512Floats::all(unit);
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        _mm512_storeu_ps(to + i, Avx512Floats::multiply(Avx512Floats::load(from + i), units));
    }
    if (i < n) {
        _mm512_mask_storeu_ps(
            to + i, static_cast<__mmask16>((1U << (n - i)) - 1U),
            Avx512Floats::multiply(Avx512Floats::load_first(from + i, n - i), units));
    }
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
    for (; i + 16 <= n; i += 16) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                            _mm512_cvtps_ph(_mm512_loadu_ps(from + i), kNearest));
    }
    if (i < n) {
        _mm256_mask_storeu_epi16(
            to + i, static_cast<__mmask16>((1U << (n - i)) - 1U),
            _mm512_cvtps_ph(Avx512Floats::load_first(from + i, n - i), kNearest));
    }
}

/// The instruction multiplies unsigned by signed bytes: 128 is added to the first, and what that
/// adds to the sum is subtracted again.
std::int32_t dot_i8(const std::int8_t* a, const std::int8_t* b, std::size_t n) noexcept {
    const __m512i high = _mm512_set1_epi8(static_cast<char>(0x80));
    __m512i sum = _mm512_setzero_si512();
    __m512i added = _mm512_setzero_si512();
    for (std::size_t i = 0; i < n; i += 64) {
        const auto mask =
            n - i >= 64 ? ~__mmask64{0} : static_cast<__mmask64>((std::uint64_t{1} << (n - i)) - 1);
        const __m512i x = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, a + i), high);
        const __m512i y = _mm512_maskz_loadu_epi8(mask, b + i);
        sum = _mm512_dpbusd_epi32(sum, x, y);
        added = _mm512_dpbusd_epi32(added, high, y);
    }
    return _mm512_reduce_add_epi32(_mm512_sub_epi32(sum, added));
}

/// The sums of four registers.
__m128i four_sums(__m512i a, __m512i b, __m512i c, __m512i d) noexcept {
    const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    const __m512i all =
        _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    const __m256i half =
        _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

constexpr std::size_t kRowsAhead = 8;

/// Rows of so many pieces of 64 bytes, the last perhaps not whole: the query stays in registers.
/// Here it is the rows that 128 is added to: what that adds depends on the query alone.
template <std::size_t kPieces>
void dot_i8_pieces(const std::int8_t* query, const std::int8_t* base, std::size_t stride,
                   const std::uint32_t* rows, std::size_t count, std::size_t n,
                   std::int32_t* out) noexcept {
    const __m512i high = _mm512_set1_epi8(static_cast<char>(0x80));
    const __mmask64 last = ~std::uint64_t{0} >> (kPieces * 64 - n);
    __m512i pieces[kPieces];
    __m512i added = _mm512_setzero_si512();
    for (std::size_t i = 0; i < kPieces; ++i) {
        pieces[i] = _mm512_maskz_loadu_epi8(i + 1 < kPieces ? ~__mmask64{0} : last, query + 64 * i);
        added = _mm512_dpbusd_epi32(added, high, pieces[i]);
    }
    const std::int32_t excess = _mm512_reduce_add_epi32(added);
    const auto row_at = [&](std::size_t r) { return base + std::size_t{rows[r]} * stride; };
    const auto products = [&](const std::int8_t* row) {
        __m512i sum = _mm512_setzero_si512();
        for (std::size_t i = 0; i + 1 < kPieces; ++i) {
            const __m512i x = _mm512_xor_si512(_mm512_loadu_si512(row + 64 * i), high);
            sum = _mm512_dpbusd_epi32(sum, x, pieces[i]);
        }
        const __m512i rest = _mm512_maskz_loadu_epi8(last, row + 64 * (kPieces - 1));
        return _mm512_dpbusd_epi32(sum, _mm512_xor_si512(rest, high), pieces[kPieces - 1]);
    };
    std::size_t r = 0;
    for (; r + 4 <= count; r += 4) {
        for (std::size_t next = r + kRowsAhead; next < r + kRowsAhead + 4 && next < count; ++next) {
            for (std::size_t i = 0; i < kPieces; ++i) __builtin_prefetch(row_at(next) + 64 * i);
        }
        const __m128i sums = four_sums(products(row_at(r)), products(row_at(r + 1)),
                                       products(row_at(r + 2)), products(row_at(r + 3)));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + r),
                         _mm_sub_epi32(sums, _mm_set1_epi32(excess)));
    }
    for (; r < count; ++r) out[r] = _mm512_reduce_add_epi32(products(row_at(r))) - excess;
}

void dot_i8_rows(const std::int8_t* query, const std::int8_t* base, std::size_t stride,
                 const std::uint32_t* rows, std::size_t count, std::size_t n,
                 std::int32_t* out) noexcept {
    constexpr decltype(&dot_i8_rows) kPieces[] = {dot_i8_pieces<1>, dot_i8_pieces<2>,
                                                  dot_i8_pieces<3>, dot_i8_pieces<4>,
                                                  dot_i8_pieces<5>, dot_i8_pieces<6>};
    if (n > 0 && n <= 64 * 6) {
        return kPieces[(n - 1) / 64](query, base, stride, rows, count, n, out);
    }
    const __m512i high = _mm512_set1_epi8(static_cast<char>(0x80));
    const auto row_at = [&](std::size_t r) { return base + std::size_t{rows[r]} * stride; };
    const auto part = [&](std::size_t i) {
        return n - i >= 64 ? ~__mmask64{0}
                           : static_cast<__mmask64>((std::uint64_t{1} << (n - i)) - 1);
    };
    __m512i added = _mm512_setzero_si512();
    for (std::size_t i = 0; i < n; i += 64) {
        added = _mm512_dpbusd_epi32(added, high, _mm512_maskz_loadu_epi8(part(i), query + i));
    }
    const std::int32_t excess = _mm512_reduce_add_epi32(added);
    const auto products = [&](const std::int8_t* row) {
        __m512i sum = _mm512_setzero_si512();
        for (std::size_t i = 0; i < n; i += 64) {
            const __m512i x = _mm512_xor_si512(_mm512_maskz_loadu_epi8(part(i), row + i), high);
            sum = _mm512_dpbusd_epi32(sum, x, _mm512_maskz_loadu_epi8(part(i), query + i));
        }
        return sum;
    };
    std::size_t r = 0;
    for (; r + 4 <= count; r += 4) {
        for (std::size_t ahead = r + kRowsAhead; ahead < r + kRowsAhead + 4 && ahead < count;
             ++ahead) {
            for (std::size_t i = 0; i < n; i += 64) __builtin_prefetch(row_at(ahead) + i);
        }
        const __m128i sums = four_sums(products(row_at(r)), products(row_at(r + 1)),
                                       products(row_at(r + 2)), products(row_at(r + 3)));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + r),
                         _mm_sub_epi32(sums, _mm_set1_epi32(excess)));
    }
    for (; r < count; ++r) out[r] = _mm512_reduce_add_epi32(products(row_at(r))) - excess;
}

struct LineWeights {
    __m512i plane[4];
};

__m512i estimate_line(const LineWeights& weights, const std::uint8_t* line) noexcept {
    const __m512i three = _mm512_set1_epi8(3);
    const __m512i codes = _mm512_loadu_si512(line);
    const __m512i zero = _mm512_setzero_si512();
    const __m512i a = _mm512_dpbusd_epi32(
        _mm512_dpbusd_epi32(zero, _mm512_and_si512(codes, three), weights.plane[0]),
        _mm512_and_si512(_mm512_srli_epi16(codes, 2), three), weights.plane[1]);
    const __m512i b = _mm512_dpbusd_epi32(
        _mm512_dpbusd_epi32(zero, _mm512_and_si512(_mm512_srli_epi16(codes, 4), three),
                            weights.plane[2]),
        _mm512_and_si512(_mm512_srli_epi16(codes, 6), three), weights.plane[3]);
    return _mm512_add_epi32(a, b);
}

void estimate_lines(const LineQuery& query, const std::uint8_t* lines, const std::uint32_t* rows,
                    std::size_t count, std::int32_t* out) noexcept {
    constexpr std::size_t kAhead = 12;
    LineWeights weights;
    for (std::size_t i = 0; i < 4; ++i) weights.plane[i] = _mm512_load_si512(query.weights[i]);
    const auto line = [&](std::size_t r) { return lines + std::size_t{rows[r]} * kLineBytes; };
    std::size_t r = 0;
    for (; r + 4 <= count; r += 4) {
        for (std::size_t i = r + kAhead; i < r + kAhead + 4 && i < count; ++i) {
            __builtin_prefetch(line(i));
        }
        _mm_storeu_si128(
            reinterpret_cast<__m128i*>(out + r),
            four_sums(estimate_line(weights, line(r)), estimate_line(weights, line(r + 1)),
                      estimate_line(weights, line(r + 2)), estimate_line(weights, line(r + 3))));
    }
    for (; r < count; ++r) out[r] = _mm512_reduce_add_epi32(estimate_line(weights, line(r)));
}

/// half_at of 16 numbers.
__m512 halves(__m512i bits) noexcept {
    const __m512i magnitude =
        _mm512_slli_epi32(_mm512_and_si512(bits, _mm512_set1_epi32(0x7fff)), 13);
    const __m512 value = _mm512_mul_ps(_mm512_castsi512_ps(magnitude), _mm512_set1_ps(0x1p112F));
    const __m512i sign = _mm512_slli_epi32(_mm512_and_si512(bits, _mm512_set1_epi32(0x8000)), 16);
    return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(value), sign));
}

__m512i ordered(__m512 values) noexcept {
    const __m512i bits = _mm512_castps_si512(values);
    const __m512i negative = _mm512_srai_epi32(bits, 31);
    const __m512i top = _mm512_set1_epi32(static_cast<int>(0x8000'0000U));
    return _mm512_xor_si512(bits, _mm512_or_si512(negative, top));
}

std::size_t rank_lines(const LineQuery& query, const std::uint8_t* lines, const std::uint32_t* rows,
                       std::size_t count, std::uint64_t least, std::uint64_t* keys) noexcept {
    constexpr std::size_t kTogether = 16;
    const __m512i limit = _mm512_set1_epi64(static_cast<long long>(least));
    alignas(64) std::int32_t sums[kTogether] = {};
    alignas(64) std::uint32_t factors[kTogether] = {};
    std::size_t kept = 0;
    for (std::size_t first = 0; first < count; first += kTogether) {
        const std::size_t some = count - first < kTogether ? count - first : kTogether;
        estimate_lines(query, lines, rows + first, some, sums);
        for (std::size_t i = 0; i < some; ++i) {
            __builtin_memcpy(&factors[i], lines + std::size_t{rows[first + i]} * kLineBytes + 60,
                             sizeof factors[i]);
        }
        const auto there = static_cast<__mmask16>((1U << some) - 1U);
        const __m512i pairs = _mm512_load_si512(factors);
        const __m512i doubled = _mm512_sub_epi32(_mm512_slli_epi32(_mm512_load_si512(sums), 1),
                                                 _mm512_set1_epi32(query.bias));
        const __m512 centred = _mm512_mul_ps(_mm512_cvtepi32_ps(doubled), _mm512_set1_ps(0.5F));
        const __m512 estimate = _mm512_sub_ps(
            _mm512_mul_ps(_mm512_mul_ps(centred, halves(pairs)), _mm512_set1_ps(query.scale)),
            _mm512_mul_ps(halves(_mm512_srli_epi32(pairs, 16)),
                          _mm512_set1_ps(query.offset_scale)));
        const __m512i upper = ordered(estimate);
        const __m512i row = _mm512_maskz_loadu_epi32(there, rows + first);
        const __m512i lower = _mm512_xor_si512(row, _mm512_set1_epi32(-1));
        const auto join = [](__m256i high, __m256i low) {
            return _mm512_or_si512(_mm512_slli_epi64(_mm512_cvtepu32_epi64(high), 32),
                                   _mm512_cvtepu32_epi64(low));
        };
        const __m512i low_keys = join(_mm512_castsi512_si256(upper), _mm512_castsi512_si256(lower));
        const __m512i high_keys =
            join(_mm512_extracti64x4_epi64(upper, 1), _mm512_extracti64x4_epi64(lower, 1));
        const __mmask8 low_kept =
            _mm512_mask_cmpgt_epu64_mask(static_cast<__mmask8>(there), low_keys, limit);
        const __mmask8 high_kept =
            _mm512_mask_cmpgt_epu64_mask(static_cast<__mmask8>(there >> 8), high_keys, limit);
        _mm512_mask_compressstoreu_epi64(keys + kept, low_kept, low_keys);
        kept += static_cast<std::size_t>(__builtin_popcount(low_kept));
        _mm512_mask_compressstoreu_epi64(keys + kept, high_kept, high_keys);
        kept += static_cast<std::size_t>(__builtin_popcount(high_kept));
    }
    return kept;
}

/// Tables of 64 entries: for each byte row one of its low six bits, and after each three rows one
/// of their high pairs.
void prepare_blocks(const std::int16_t* weights, BlockQuery& query) noexcept {
    constexpr std::uint64_t kHasBit[6] = {0xaaaa'aaaa'aaaa'aaaaU, 0xcccc'cccc'cccc'ccccU,
                                          0xf0f0'f0f0'f0f0'f0f0U, 0xff00'ff00'ff00'ff00U,
                                          0xffff'0000'ffff'0000U, 0xffff'ffff'0000'0000U};
    int total = 0;
    for (std::size_t row = 0; row < query.byte_rows; row += 3) {
        for (std::size_t table = 0; table < 4; ++table) {
            int base = 0;
            __m512i entries = _mm512_setzero_si512();
            for (std::size_t i = 0; i < 6; ++i) {
                const std::size_t dimension =
                    table < 3 ? (row + table) * 8 + i : (row + i / 2) * 8 + 6 + i % 2;
                const int weight = weights[dimension];
                base -= weight < 0 ? weight : 0;
                total += weight < 0 ? -weight : weight;
                entries = _mm512_mask_add_epi8(entries, kHasBit[i], entries,
                                               _mm512_set1_epi8(static_cast<char>(weight)));
            }
            entries = _mm512_add_epi8(entries, _mm512_set1_epi8(static_cast<char>(base)));
            _mm512_store_si512(query.tables + (row / 3 * 4 + table) * 64, entries);
        }
    }
    query.total = static_cast<std::int16_t>(total);
}

struct WideSums {
    __m512i even;  // vectors 0 to 31
    __m512i odd;   // vectors 32 to 63
};

/// What three byte rows add: three look-ups by six bits, and one by the three pairs that are left.
inline __m512i three_rows(const std::uint8_t* rows, const std::uint8_t* tables,
                          __m512i sum) noexcept {
    const __m512i a = _mm512_loadu_si512(rows);
    const __m512i b = _mm512_loadu_si512(rows + 64);
    const __m512i c = _mm512_loadu_si512(rows + 128);
    sum = _mm512_add_epi8(sum, _mm512_permutexvar_epi8(a, _mm512_load_si512(tables)));
    sum = _mm512_add_epi8(sum, _mm512_permutexvar_epi8(b, _mm512_load_si512(tables + 64)));
    sum = _mm512_add_epi8(sum, _mm512_permutexvar_epi8(c, _mm512_load_si512(tables + 128)));
    constexpr int kSelect = 0xca;  // where the first has a bit the second's, else the third's
    const __m512i ab = _mm512_ternarylogic_epi32(_mm512_set1_epi8(0x03), _mm512_srli_epi16(a, 6),
                                                 _mm512_srli_epi16(b, 4), kSelect);
    const __m512i pairs =
        _mm512_ternarylogic_epi32(_mm512_set1_epi8(0x0f), ab, _mm512_srli_epi16(c, 2), kSelect);
    return _mm512_add_epi8(sum, _mm512_permutexvar_epi8(pairs, _mm512_load_si512(tables + 192)));
}

inline __m512i scaled(const BlockQuery& query, __m512i sums, const std::uint8_t* factors) noexcept {
    const __m512i centred = _mm512_sub_epi16(
        _mm512_slli_epi16(sums, 5), _mm512_set1_epi16(static_cast<std::int16_t>(query.total * 16)));
    __m512i estimate = _mm512_mulhrs_epi16(centred, _mm512_loadu_si512(factors));
    if (query.offsets) {
        const __m512i offset = _mm512_loadu_si512(factors + 2 * kBlockVectors);
        estimate = _mm512_subs_epi16(_mm512_mulhrs_epi16(estimate, _mm512_set1_epi16(query.alpha)),
                                     _mm512_mulhrs_epi16(offset, _mm512_set1_epi16(query.beta)));
    }
    return estimate;
}

inline WideSums estimates_of(const BlockQuery& query, const std::uint8_t* block) noexcept {
    const __m512i low_byte = _mm512_set1_epi16(255);
    __m512i even = _mm512_setzero_si512();
    __m512i odd = _mm512_setzero_si512();
    const std::uint8_t* tables = query.tables;
    const std::uint8_t* rows = block;
    for (std::size_t row = 0; row < query.byte_rows; row += 6, rows += 384, tables += 512) {
        __m512i sum = three_rows(rows, tables, _mm512_setzero_si512());
        sum = three_rows(rows + 192, tables + 256, sum);
        even = _mm512_add_epi16(even, _mm512_and_si512(sum, low_byte));
        odd = _mm512_add_epi16(odd, _mm512_srli_epi16(sum, 8));
    }
    return {scaled(query, even, rows), scaled(query, odd, rows + 64)};
}

void block_estimates(const BlockQuery& query, const std::uint8_t* block,
                     std::int16_t* out) noexcept {
    const WideSums estimates = estimates_of(query, block);
    _mm512_storeu_si512(out, estimates.even);
    _mm512_storeu_si512(out + 32, estimates.odd);
}

void scan_blocks(const BlockQuery& query, const std::uint8_t* blocks, std::size_t count,
                 std::int16_t threshold, std::uint64_t* masks) noexcept {
    const std::size_t stride = block_bytes(query.byte_rows * 8, query.offsets);
    const __m512i limit = _mm512_set1_epi16(threshold);
    for (std::size_t b = 0; b < count; ++b) {
        const WideSums estimates = estimates_of(query, blocks + b * stride);
        const std::uint64_t even = _mm512_cmpge_epi16_mask(estimates.even, limit);
        const std::uint64_t odd = _mm512_cmpge_epi16_mask(estimates.odd, limit);
        masks[b] = even | odd << 32;
    }
}

using namespace float_loops;
constexpr DenseKernels kAvx512Dense{
    .level = CpuLevel::Avx512,
    .dot_f32 = reduce_float_rows<Avx512Floats, FloatProduct<Avx512Floats>, float>,
    .dot_f32_of_four = product_of_four<Avx512Floats>,
    .distance_f32 = reduce_float_rows<Avx512Floats, FloatSquare<Avx512Floats>, float>,
    .dot_f16 = reduce_float_rows<Avx512Floats, FloatProduct<Avx512Floats>, std::uint16_t>,
    .distance_f16 = reduce_float_rows<Avx512Floats, FloatSquare<Avx512Floats>, std::uint16_t>,
    .dot_bytes = reduce_byte_rows<Avx512Floats, FloatProduct<Avx512Floats>>,
    .distance_bytes = reduce_byte_rows<Avx512Floats, FloatSquare<Avx512Floats>>,
    .widen = widen,
    .widen_bytes = widen_bytes,
    .narrow = narrow,
    .count_bits = count_bits,
    .dot_i8 = dot_i8,
    .dot_i8_rows = dot_i8_rows,
    .estimate_lines = estimate_lines,
    .rank_lines = rank_lines,
    .prepare_blocks = prepare_blocks,
    .block_estimates = block_estimates,
    .scan_blocks = scan_blocks};

}  // namespace

const DenseKernels* avx512_dense_level() noexcept {
    return &kAvx512Dense;
}

}  // namespace braid::kernels
