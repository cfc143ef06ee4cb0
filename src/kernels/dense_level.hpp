#pragma once

#include "braid/kernels/dense.hpp"

/// The entry points of dense_level_<name>.cpp, with the rules of level.hpp.
namespace braid::kernels {

const DenseKernels* scalar_dense_level() noexcept;
const DenseKernels* avx2_dense_level() noexcept;
const DenseKernels* avx512_dense_level() noexcept;

}  // namespace braid::kernels
