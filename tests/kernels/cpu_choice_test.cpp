#include <array>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "braid/kernels/kernels.hpp"

namespace braid::kernels {
namespace {

constexpr std::array kCpuLevels{CpuLevel::Scalar, CpuLevel::Avx2, CpuLevel::Avx512};

std::string note(std::string_view wanted, std::string_view reason, CpuLevel used) {
    std::ostringstream out;
    out << "BRAID_CPU=" << wanted << ": " << reason << "; using " << name_of(used);
    return out.str();
}

TEST(CpuChoice, ObeysTheNameOfALevelTheMachineHas) {
    for (const CpuLevel level : kCpuLevels) {
        if (kernels_for(level) == nullptr) continue;
        const CpuChoice choice = choose_cpu(name_of(level));
        EXPECT_EQ(choice.level, level);
        EXPECT_EQ(choice.note, "");
    }
}

TEST(CpuChoice, TakesTheBestLevelWhenNoneIsNamed) {
    const CpuChoice choice = choose_cpu("");
    EXPECT_EQ(choice.note, "");
    for (const CpuLevel level : kCpuLevels) {
        EXPECT_TRUE(kernels_for(level) == nullptr || choice.level >= level);
    }
}

TEST(CpuChoice, FallsBackWithANoteWhenTheMachineLacksTheLevel) {
    const CpuChoice best = choose_cpu("");
    for (const CpuLevel level : kCpuLevels) {
        if (kernels_for(level) != nullptr) continue;
        const CpuChoice choice = choose_cpu(name_of(level));
        EXPECT_EQ(choice.level, best.level);
        EXPECT_EQ(choice.note, note(name_of(level), "this machine lacks it", best.level));
    }
}

TEST(CpuChoice, FallsBackWithANoteOnAnUnknownName) {
    const CpuChoice best = choose_cpu("");
    for (const std::string_view wanted : {"AVX2", "sse", "avx512 ", "neon"}) {
        const CpuChoice choice = choose_cpu(wanted);
        EXPECT_EQ(choice.level, best.level);
        EXPECT_EQ(choice.note, note(wanted, "no such level (scalar, avx2, avx512)", best.level));
    }
    EXPECT_LT(choose_cpu(std::string(100'000, 'x')).note.size(), 200U);
}

TEST(CpuChoice, IsWhatTheProcessUses) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
    const char* wanted = std::getenv("BRAID_CPU");
    EXPECT_EQ(cpu_choice().level, choose_cpu(wanted == nullptr ? "" : wanted).level);
    EXPECT_EQ(&kernels(), kernels_for(cpu_choice().level));
    EXPECT_EQ(kernels().level, cpu_choice().level);
    EXPECT_NE(kernels_for(CpuLevel::Scalar), nullptr);
}

TEST(CpuChoice, NamesEachLevel) {
    EXPECT_EQ(name_of(CpuLevel::Scalar), "scalar");
    EXPECT_EQ(name_of(CpuLevel::Avx2), "avx2");
    EXPECT_EQ(name_of(CpuLevel::Avx512), "avx512");
}

}  // namespace
}  // namespace braid::kernels
