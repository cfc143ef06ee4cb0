#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace braid::kernels {

/// The instruction sets kernels are written for, weakest first.
enum class CpuLevel { Scalar, Avx2, Avx512 };

/// "scalar", "avx2", "avx512".
std::string_view name_of(CpuLevel level) noexcept;

/// Products of float vectors, computed in double. Every level returns the same bits for the same
/// input (where a result is not a number, only that much is promised): element i goes to
/// accumulator i mod 16, and the accumulators are added as a tree, 8 apart, then 4, 2 and 1.
///
/// Pointers need no alignment beyond that of float, and may be null where nothing is read. Row r
/// starts at rows + r * stride, `stride` counted in floats. Outputs must not overlap inputs.
struct Kernels {
    CpuLevel level;
    /// Sum of a[i] * b[i]; each product is exact.
    double (*dot)(const float* a, const float* b, std::size_t n) noexcept;
    /// Sum of (a[i] - b[i])^2; difference, square and sum are each rounded to double.
    double (*squared_distance)(const float* a, const float* b, std::size_t n) noexcept;
    /// out[r] = dot(query, row r, n) for r < count.
    void (*dot_rows)(const float* query, const float* rows, std::size_t stride, std::size_t count,
                     std::size_t n, double* out) noexcept;
    /// out[r] = squared_distance(query, row r, n) for r < count.
    void (*squared_distance_rows)(const float* query, const float* rows, std::size_t stride,
                                  std::size_t count, std::size_t n, double* out) noexcept;
};

/// Which level the process uses, and why it is not the one BRAID_CPU asked for.
struct CpuChoice {
    CpuLevel level;
    std::string note;  // empty unless BRAID_CPU could not be obeyed
};

/// Made once, at the first call: the level named by the environment variable BRAID_CPU, or else
/// the best one this machine has.
const CpuChoice& cpu_choice();

/// The choice for a given value of BRAID_CPU (empty: unset). Depends on the machine alone.
CpuChoice choose_cpu(std::string_view wanted);

/// The kernels of cpu_choice(). Safe for concurrent use.
const Kernels& kernels() noexcept;

/// The kernels of one level; null where the machine, or the build, lacks it.
const Kernels* kernels_for(CpuLevel level) noexcept;

}  // namespace braid::kernels
