#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "braid/eval/diagnostics.hpp"
#include "braid/eval/resample.hpp"

namespace braid::eval {

inline constexpr std::size_t kSeries = 8;  // colours in the style sheet

/// A mean and its interval.
struct Estimate {
    double mean = 0.0;
    Interval interval;
};

/// The smallest interval around all estimates, a little wider.
Interval scale_of(std::span<const Estimate> estimates);

/// A line of a table cell: the interval with its mean, on `scale`; a tick where the baseline's mean
/// lies. `series` is the run's number, which picks its colour.
std::string whisker_plot(const Estimate& estimate, const Interval& scale, double baseline,
                         std::size_t series);

struct ForestRow {
    std::string label;
    Estimate difference;
    bool significant = false;
    std::size_t series = 0;
    std::string tip;
};

struct ForestGroup {
    std::string title;
    std::vector<ForestRow> rows;
};

/// Differences to the baseline with their intervals, around a line at 0.
std::string forest_plot(std::span<const ForestGroup> groups);

struct GainBar {
    double gain = 0.0;
    std::string tip;
};

/// A bar per query, greatest gain first; `bars` must be in that order.
std::string gains_plot(std::span<const GainBar> bars, const std::string& label);

struct Curve {
    std::string name;
    std::vector<double> values;  // at 1, 2, 3, …
    std::size_t series = 0;
};

/// Curves over a logarithmic axis, each named at its end. `curves` must not be empty and all of one
/// length of at least 2.
std::string recall_plot(std::span<const Curve> curves);

/// Scores of relevant hits above those of the others, as shares per bin.
std::string distribution_plot(const ScoreDistribution& distribution, const std::string& name,
                              std::size_t series);

}  // namespace braid::eval
