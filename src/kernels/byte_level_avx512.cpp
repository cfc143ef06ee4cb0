#include <immintrin.h>

#include "braid/kernels/byte_level.hpp"
#include "braid/kernels/byte_level_body.hpp"

namespace braid::kernels {
namespace {

struct Avx512Bytes {
    static std::uint64_t at_least(const std::uint8_t* p, std::uint8_t cut) noexcept {
        return _mm512_cmpge_epu8_mask(_mm512_loadu_si512(p),
                                      _mm512_set1_epi8(static_cast<char>(cut)));
    }

    static bool any_at_least(const std::uint8_t* p, std::uint8_t cut) noexcept {
        const __m512i first = _mm512_max_epu8(_mm512_loadu_si512(p), _mm512_loadu_si512(p + 64));
        const __m512i second =
            _mm512_max_epu8(_mm512_loadu_si512(p + 128), _mm512_loadu_si512(p + 192));
        return _mm512_cmpge_epu8_mask(_mm512_max_epu8(first, second),
                                      _mm512_set1_epi8(static_cast<char>(cut))) != 0;
    }

    static void fold(const std::uint8_t* p, std::size_t blocks, const std::uint64_t* mask,
                     std::uint8_t* out) noexcept {
        __m512i most = _mm512_setzero_si512();
        for (std::size_t i = 0; i < blocks; ++i) {
            const __mmask64 counts = mask == nullptr ? ~std::uint64_t{0} : mask[i];
            most = _mm512_max_epu8(most, _mm512_maskz_loadu_epi8(counts, p + 64 * i));
        }
        _mm512_storeu_si512(out, most);
    }

    static void add(std::uint8_t* bytes, const std::uint8_t* nibbles,
                    const std::uint8_t* table) noexcept {
        const __m512i values =
            _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
        // Byte i becomes the bytes 2 i and 2 i + 1: its low and its high half.
        const __m512i spread =
            _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(nibbles)));
        const __m512i numbers = _mm512_and_si512(
            _mm512_or_si512(spread, _mm512_slli_epi16(spread, 4)), _mm512_set1_epi8(15));
        const __m512i sum =
            _mm512_adds_epu8(_mm512_loadu_si512(bytes), _mm512_shuffle_epi8(values, numbers));
        _mm512_storeu_si512(bytes, sum);
    }
};

constexpr ByteKernels kAvx512Bytes = byte_loops::table<Avx512Bytes>(CpuLevel::Avx512);

}  // namespace

const ByteKernels* avx512_byte_level() noexcept {
    return &kAvx512Bytes;
}

}  // namespace braid::kernels
