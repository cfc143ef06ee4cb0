#pragma once

#include "braid/kernels/byte_kernels.hpp"

/// The entry points of the level files, byte_level_<name>.cpp; what level.hpp says of level_<name>
/// holds for them.
namespace braid::kernels {

const ByteKernels* scalar_byte_level() noexcept;
const ByteKernels* avx2_byte_level() noexcept;
const ByteKernels* avx512_byte_level() noexcept;

}  // namespace braid::kernels
