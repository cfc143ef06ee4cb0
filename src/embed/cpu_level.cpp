#include "braid/embed/cpu_level.hpp"

namespace braid::embed {

std::string_view cpu_level() noexcept {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vnni")) return "avx512vnni";
    if (__builtin_cpu_supports("avx512bw")) return "avx512";
    if (__builtin_cpu_supports("avx2")) return "avx2";
    return __builtin_cpu_supports("sse4.1") ? "sse4" : "other";
#elif defined(__aarch64__)
    return "aarch64";
#else
    return "other";
#endif
}

}  // namespace braid::embed
