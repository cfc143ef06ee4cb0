#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "braid/dense/calibration.hpp"
#include "braid/dense/vectors_builder.hpp"
#include "braid/dense/vectors_reader.hpp"

namespace braid::dense {

struct CalibrationOptions {
    std::size_t own_vectors = 100;  // used as queries besides the given ones
    /// The numbers of hits to measure for, ascending: those that people and fusion ask for.
    std::array<std::uint32_t, 2> ks{10, 50};
};

/// Measures how much of the true best is found by searches planned for each recall, through the
/// graph too if the reader uses one. `queries` are recent ones, which are distributed differently
/// from the vectors: if there are own_vectors of them or more, they alone count. InvalidArgument
/// for a query that cannot be compared, or if there are no codes; Cancelled if told to stop.
Result<Calibration> calibrate(const VectorsReader& reader,
                              std::span<const std::vector<float>> queries,
                              const CalibrationOptions& options = {},
                              const BuildControl& control = {});

}  // namespace braid::dense
