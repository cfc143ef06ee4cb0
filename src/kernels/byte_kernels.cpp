#include "braid/kernels/byte_kernels.hpp"

#include "braid/kernels/byte_level.hpp"

namespace braid::kernels {
namespace {

const ByteKernels& best_byte_level(CpuLevel wanted) noexcept {
    for (const CpuLevel level : {CpuLevel::Avx512, CpuLevel::Avx2}) {
        if (level > wanted) continue;
        if (const ByteKernels* found = byte_kernels_for(level)) return *found;
    }
    return *scalar_byte_level();
}

}  // namespace

const ByteKernels& byte_kernels() noexcept {
    static const ByteKernels& chosen = best_byte_level(cpu_choice().level);
    return chosen;
}

const ByteKernels* byte_kernels_for(CpuLevel level) noexcept {
    switch (level) {
        case CpuLevel::Scalar:
            return scalar_byte_level();
#ifdef BRAID_X86_KERNELS
        case CpuLevel::Avx2:
            return __builtin_cpu_supports("avx2") ? avx2_byte_level() : nullptr;
        case CpuLevel::Avx512:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                       ? avx512_byte_level()
                       : nullptr;
#endif
        default:
            return nullptr;
    }
}

}  // namespace braid::kernels
