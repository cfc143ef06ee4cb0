#include <immintrin.h>

#include "braid/kernels/byte_level.hpp"
#include "braid/kernels/byte_level_body.hpp"

namespace braid::kernels {
namespace {

struct Avx2Bytes {
    static __m256i load(const std::uint8_t* p) noexcept {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }

    static std::uint64_t half_at_least(const std::uint8_t* p, __m256i cut) noexcept {
        const __m256i bytes = load(p);
        const __m256i hits = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, cut), bytes);
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(hits));
    }

    static std::uint64_t at_least(const std::uint8_t* p, std::uint8_t cut) noexcept {
        const __m256i wide = _mm256_set1_epi8(static_cast<char>(cut));
        return half_at_least(p, wide) | half_at_least(p + 32, wide) << 32;
    }

    static bool any_at_least(const std::uint8_t* p, std::uint8_t cut) noexcept {
        __m256i most = load(p);
        for (int i = 1; i < 8; ++i) most = _mm256_max_epu8(most, load(p + 32 * i));
        const __m256i wide = _mm256_set1_epi8(static_cast<char>(cut));
        const __m256i hits = _mm256_cmpeq_epi8(_mm256_max_epu8(most, wide), most);
        return _mm256_movemask_epi8(hits) != 0;
    }

    /// All ones where the bit of a byte is set.
    static __m256i spread(std::uint32_t bits) noexcept {
        const __m256i which = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2,
                                               2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
        const __m256i one = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
        const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), which);
        return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, one), one);
    }

    static void fold(const std::uint8_t* p, std::size_t blocks, const std::uint64_t* mask,
                     std::uint8_t* out) noexcept {
        __m256i low = _mm256_setzero_si256();
        __m256i high = _mm256_setzero_si256();
        for (std::size_t i = 0; i < blocks; ++i) {
            __m256i first = load(p + 64 * i);
            __m256i second = load(p + 64 * i + 32);
            if (mask != nullptr) {
                first = _mm256_and_si256(first, spread(static_cast<std::uint32_t>(mask[i])));
                second =
                    _mm256_and_si256(second, spread(static_cast<std::uint32_t>(mask[i] >> 32)));
            }
            low = _mm256_max_epu8(low, first);
            high = _mm256_max_epu8(high, second);
        }
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), low);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 32), high);
    }

    static void add(std::uint8_t* bytes, const std::uint8_t* nibbles,
                    const std::uint8_t* table) noexcept {
        const __m256i values =
            _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
        const __m256i low_half = _mm256_set1_epi8(15);
        for (std::size_t half = 0; half < 2; ++half) {
            const __m128i pairs =
                _mm_loadu_si128(reinterpret_cast<const __m128i*>(nibbles + 16 * half));
            // Byte i becomes the bytes 2 i and 2 i + 1: its low and its high half.
            const __m256i spread = _mm256_cvtepu8_epi16(pairs);
            const __m256i numbers =
                _mm256_and_si256(_mm256_or_si256(spread, _mm256_slli_epi16(spread, 4)), low_half);
            std::uint8_t* at = bytes + 32 * half;
            const __m256i sum = _mm256_adds_epu8(load(at), _mm256_shuffle_epi8(values, numbers));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), sum);
        }
    }
};

constexpr ByteKernels kAvx2Bytes = byte_loops::table<Avx2Bytes>(CpuLevel::Avx2);

}  // namespace

const ByteKernels* avx2_byte_level() noexcept {
    return &kAvx2Bytes;
}

}  // namespace braid::kernels
