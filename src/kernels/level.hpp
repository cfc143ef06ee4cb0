#pragma once

#include "braid/kernels/kernels.hpp"

/// The entry points of the level files, level_<name>.cpp. Each of those is compiled with its own
/// CPU flags, so nothing else in them may have external linkage: a function template instantiated
/// there could be picked by the linker for the whole program, and crash on older machines.
namespace braid::kernels {

const Kernels* scalar_level() noexcept;
const Kernels* avx2_level() noexcept;
const Kernels* avx512_level() noexcept;

}  // namespace braid::kernels
