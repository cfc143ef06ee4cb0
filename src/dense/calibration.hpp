#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "braid/dense/vector_plan.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

inline constexpr std::string_view kCalibrationSection = "vectors.calibration";

/// What searches planned for one recall found of the true best k, with a 95 % interval of the mean.
struct CalibrationPoint {
    VectorMethod method = VectorMethod::Scan;
    double planned = 0;  // the recall given to usual_depth or usual_beam
    double found = 0;
    double low = 0;
    double high = 0;
    std::uint32_t k = 10;

    friend bool operator==(const CalibrationPoint&, const CalibrationPoint&) = default;
};

/// How deep searches of one collection must go for a recall, measured on it. Derived: it can be
/// thrown away, and ought to be made again when the collection has grown or its queries changed.
struct Calibration {
    std::uint64_t rows = 0;     // there were when it was made
    std::uint64_t queries = 0;  // it was made with
    std::uint64_t asked = 0;    // of these, how many somebody had asked; others are own vectors
    std::vector<CalibrationPoint> points;  // of each method and k by `planned`, ascending

    /// Whether it was made with queries alone. Own vectors find their neighbours more easily than
    /// queries do: what they tell can make searches deeper, not shallower.
    bool by_queries() const noexcept { return asked > 0 && asked == queries; }
    bool measured(VectorMethod method) const noexcept;
    /// The recall to plan for so that at least `recall` of the best k is found, by the lower end of
    /// the interval, from the points whose own k is nearest; between two points that are measured,
    /// by misses on a logarithmic scale. 1 if no point is high enough; `recall` itself where
    /// nothing was measured for the method.
    double planned_for(VectorMethod method, double recall, std::size_t k = 10) const noexcept;

    friend bool operator==(const Calibration&, const Calibration&) = default;
};

Result<> write_calibration(const Calibration& calibration, store::SectionSink& sink);
/// NotFound if there is none; Corruption unless every number is one that can have been measured.
Result<Calibration> read_calibration(const store::SectionSource& source);

}  // namespace braid::dense
