#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "braid/dense/calibration.hpp"
#include "braid/dense/vectors_builder.hpp"
#include "braid/dense/vectors_reader.hpp"

namespace braid::dense {

struct CalibrationOptions {
    std::size_t own_vectors = 100;  // taken as queries besides the given ones
    /// The numbers of hits to measure for, ascending: what people ask for, and what fusion does.
    std::array<std::uint32_t, 2> ks{10, 50};
};

/// Measures how much of the true best searches of each planned recall find, by the graph too if the
/// reader uses one. `queries` are recent ones, whose distribution is not that of the vectors: where
/// there are enough of them (own_vectors or more), they alone count. InvalidArgument for a query
/// that cannot be compared, or without codes; Cancelled if told to stop.
Result<Calibration> calibrate(const VectorsReader& reader,
                              std::span<const std::vector<float>> queries,
                              const CalibrationOptions& options = {},
                              const BuildControl& control = {});

}  // namespace braid::dense
