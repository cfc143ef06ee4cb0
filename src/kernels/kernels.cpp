#include "braid/kernels/kernels.hpp"

#include <array>
#include <cstdlib>
#include <optional>

#include "braid/kernels/level.hpp"

namespace braid::kernels {
namespace {

constexpr std::array kBestFirst{CpuLevel::Avx512, CpuLevel::Avx2, CpuLevel::Scalar};

std::optional<CpuLevel> level_by_name(std::string_view name) noexcept {
    for (const CpuLevel level : kBestFirst) {
        if (name_of(level) == name) return level;
    }
    return std::nullopt;
}

CpuLevel best_level() noexcept {
    for (const CpuLevel level : kBestFirst) {
        if (kernels_for(level) != nullptr) return level;
    }
    return CpuLevel::Scalar;
}

CpuChoice choose_from_environment() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read once; braid never changes the environment
    const char* wanted = std::getenv("BRAID_CPU");
    return choose_cpu(wanted == nullptr ? std::string_view() : std::string_view(wanted));
}

}  // namespace

std::string_view name_of(CpuLevel level) noexcept {
    switch (level) {
        case CpuLevel::Avx512:
            return "avx512";
        case CpuLevel::Avx2:
            return "avx2";
        case CpuLevel::Scalar:
            break;
    }
    return "scalar";
}

CpuChoice choose_cpu(std::string_view wanted) {
    const CpuLevel best = best_level();
    if (wanted.empty()) return {best, ""};
    const std::optional<CpuLevel> level = level_by_name(wanted);
    if (level && kernels_for(*level) != nullptr) return {*level, ""};
    const std::string asked = "BRAID_CPU=" + std::string(wanted.substr(0, 32));
    const std::string reason =
        level ? ": this machine lacks it" : ": no such level (scalar, avx2, avx512)";
    return {best, asked + reason + "; using " + std::string(name_of(best))};
}

const CpuChoice& cpu_choice() {
    static const CpuChoice kChoice = choose_from_environment();
    return kChoice;
}

const Kernels& kernels() noexcept {
    static const Kernels& chosen = *kernels_for(cpu_choice().level);
    return chosen;
}

const Kernels* kernels_for(CpuLevel level) noexcept {
    switch (level) {
        case CpuLevel::Scalar:
            return scalar_level();
#ifdef BRAID_X86_KERNELS
        case CpuLevel::Avx2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2_level()
                                                                                   : nullptr;
        case CpuLevel::Avx512:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma")
                       ? avx512_level()
                       : nullptr;
#endif
        default:
            return nullptr;
    }
}

}  // namespace braid::kernels
