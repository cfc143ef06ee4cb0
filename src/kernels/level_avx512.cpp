#include <immintrin.h>

#include "braid/kernels/level.hpp"
#include "braid/kernels/level_body.hpp"

namespace braid::kernels {
namespace {

struct Avx512 {
    struct Block {
        __m512d low;   // lanes 0 to 7
        __m512d high;  // lanes 8 to 15
    };

    static Block zero() noexcept { return {_mm512_setzero_pd(), _mm512_setzero_pd()}; }

    static Block load(const float* p) noexcept {
        return {_mm512_cvtps_pd(_mm256_loadu_ps(p)), _mm512_cvtps_pd(_mm256_loadu_ps(p + 8))};
    }

    static Block load_first(const float* p, std::size_t count) noexcept {
        const auto mask = static_cast<__mmask16>((1U << count) - 1U);
        const __m512 floats = _mm512_maskz_loadu_ps(mask, p);
        return {_mm512_cvtps_pd(_mm512_castps512_ps256(floats)),
                _mm512_cvtps_pd(_mm512_extractf32x8_ps(floats, 1))};
    }

    // A product of two floats is exact in double, so fusing the addition rounds just once either
    // way.
    static void add_products(Block& sum, const Block& a, const Block& b) noexcept {
        sum.low = _mm512_fmadd_pd(a.low, b.low, sum.low);
        sum.high = _mm512_fmadd_pd(a.high, b.high, sum.high);
    }

    static void add_squares(Block& sum, const Block& a, const Block& b) noexcept {
        const __m512d low = _mm512_sub_pd(a.low, b.low);
        const __m512d high = _mm512_sub_pd(a.high, b.high);
        sum.low = _mm512_add_pd(sum.low, _mm512_mul_pd(low, low));
        sum.high = _mm512_add_pd(sum.high, _mm512_mul_pd(high, high));
    }

    static double tree_sum(const Block& block) noexcept {
        const __m512d eight = _mm512_add_pd(block.low, block.high);
        const __m256d four =
            _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
        const __m128d two =
            _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
        return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
    }
};

constexpr Kernels kAvx512 = loops::table<Avx512>(CpuLevel::Avx512);

}  // namespace

const Kernels* avx512_level() noexcept {
    return &kAvx512;
}

}  // namespace braid::kernels
