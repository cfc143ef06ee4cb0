#include "braid/kernels/dense.hpp"

#include "braid/kernels/dense_level.hpp"

namespace braid::kernels {

const DenseKernels* dense_kernels_for(CpuLevel level) noexcept {
    if (kernels_for(level) == nullptr) return nullptr;
    switch (level) {
        case CpuLevel::Scalar:
            return scalar_dense_level();
#ifdef BRAID_X86_KERNELS
        case CpuLevel::Avx2:
            return __builtin_cpu_supports("f16c") ? avx2_dense_level() : nullptr;
        case CpuLevel::Avx512:
            return __builtin_cpu_supports("f16c") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512vbmi") &&
                           __builtin_cpu_supports("avx512vnni")
                       ? avx512_dense_level()
                       : nullptr;
#endif
        default:
            return nullptr;
    }
}

const DenseKernels& dense_kernels() noexcept {
    static const DenseKernels& chosen = [&]() -> const DenseKernels& {
        for (const CpuLevel level : {CpuLevel::Avx512, CpuLevel::Avx2}) {
            if (level > cpu_choice().level) continue;
            if (const DenseKernels* found = dense_kernels_for(level)) return *found;
        }
        return *scalar_dense_level();
    }();
    return chosen;
}

}  // namespace braid::kernels
