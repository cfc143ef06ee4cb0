#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "braid/dense/vector_plan.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

inline constexpr std::string_view kCalibrationSection = "vectors.calibration";

/// How many of the true best k were found by searches planned for one recall, with a 95 % interval
/// of the mean.
struct CalibrationPoint {
    VectorMethod method = VectorMethod::Scan;
    double planned = 0;  // the recall given to usual_depth or usual_beam
    double found = 0;
    double low = 0;
    double high = 0;
    std::uint32_t k = 10;

    friend bool operator==(const CalibrationPoint&, const CalibrationPoint&) = default;
};

/// How deep searches of one collection must go for a given recall, as measured on it. Derived data:
/// it can be thrown away, and should be remade when the collection has grown or its queries have
/// changed.
struct Calibration {
    std::uint64_t rows = 0;                // when it was made
    std::uint64_t queries = 0;             // used to make it
    std::uint64_t asked = 0;               // asked by somebody; the rest are own vectors
    std::vector<CalibrationPoint> points;  // by method, k and `planned`, ascending

    /// Whether only queries were used. Own vectors find their neighbours more easily than queries
    /// do: what they tell can make searches deeper, but not shallower.
    bool by_queries() const noexcept { return asked > 0 && asked == queries; }
    bool measured(VectorMethod method) const noexcept;
    /// The recall to plan for so that at least `recall` of the best k is found, going by the lower
    /// end of the interval and by the points whose own k is nearest; between two measured points it
    /// interpolates misses on a logarithmic scale. 1 if no point is high enough; `recall` itself if
    /// nothing was measured for the method.
    double planned_for(VectorMethod method, double recall, std::size_t k = 10) const noexcept;

    friend bool operator==(const Calibration&, const Calibration&) = default;
};

Result<> write_calibration(const Calibration& calibration, store::SectionSink& sink);
/// NotFound if there is none; Corruption if some number cannot have been measured.
Result<Calibration> read_calibration(const store::SectionSource& source);

}  // namespace braid::dense
