#include <immintrin.h>

#include "braid/kernels/level.hpp"
#include "braid/kernels/level_body.hpp"

namespace braid::kernels {
namespace {

struct Avx2 {
    struct Block {
        __m256d quarter[4];
    };

    static Block zero() noexcept {
        return {
            {_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd()}};
    }

    static Block load(const float* p) noexcept {
        return {{_mm256_cvtps_pd(_mm_loadu_ps(p)), _mm256_cvtps_pd(_mm_loadu_ps(p + 4)),
                 _mm256_cvtps_pd(_mm_loadu_ps(p + 8)), _mm256_cvtps_pd(_mm_loadu_ps(p + 12))}};
    }

    static Block load_first(const float* p, std::size_t count) noexcept {
        float padded[16] = {};
        for (std::size_t i = 0; i < count; ++i) padded[i] = p[i];
        return load(padded);
    }

    // A product of two floats is exact in double, so fusing the addition rounds just once either
    // way.
    static void add_products(Block& sum, const Block& a, const Block& b) noexcept {
        for (int i = 0; i < 4; ++i) {
            sum.quarter[i] = _mm256_fmadd_pd(a.quarter[i], b.quarter[i], sum.quarter[i]);
        }
    }

    static void add_squares(Block& sum, const Block& a, const Block& b) noexcept {
        for (int i = 0; i < 4; ++i) {
            const __m256d difference = _mm256_sub_pd(a.quarter[i], b.quarter[i]);
            sum.quarter[i] = _mm256_add_pd(sum.quarter[i], _mm256_mul_pd(difference, difference));
        }
    }

    static double tree_sum(const Block& block) noexcept {
        const __m256d low = _mm256_add_pd(block.quarter[0], block.quarter[2]);
        const __m256d high = _mm256_add_pd(block.quarter[1], block.quarter[3]);
        const __m256d four = _mm256_add_pd(low, high);
        const __m128d two =
            _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
        return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
    }
};

constexpr Kernels kAvx2 = loops::table<Avx2>(CpuLevel::Avx2);

}  // namespace

const Kernels* avx2_level() noexcept {
    return &kAvx2;
}

}  // namespace braid::kernels
