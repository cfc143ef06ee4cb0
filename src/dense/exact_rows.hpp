#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "braid/core/stable_vector.hpp"
#include "braid/types.hpp"

namespace braid::dense {

/// Vectors of one dimension, kept as given and compared exactly. Append only, and rows never move:
/// one thread at a time may add while any number of others read the rows that size() counts.
class ExactRows {
public:
    static constexpr std::size_t kBlockRows = 1024;

    ExactRows(std::size_t dimension, Metric metric) : dimension_(dimension), metric_(metric) {}

    /// Rows are numbered from 0. Requires dimension() floats.
    void add(std::span<const float> vector);

    std::size_t size() const noexcept { return norms_.size(); }
    std::size_t dimension() const noexcept { return dimension_; }
    std::span<const float> row(std::size_t index) const noexcept;

    /// Scores rows first ... first + out.size() - 1, which must lie in one block. Higher is better;
    /// Euclidean distance is negated. `query_norm` is norm(query).
    void score(std::span<const float> query, double query_norm, std::size_t first,
               std::span<double> out) const noexcept;

private:
    std::size_t dimension_;
    Metric metric_;
    core::StableVector<std::unique_ptr<float[]>> blocks_;  // NOLINT: uninitialised on purpose
    core::StableVector<double> norms_;
};

/// Euclidean length, in double, in the kernels' fixed summation order.
double norm(std::span<const float> vector) noexcept;

}  // namespace braid::dense
