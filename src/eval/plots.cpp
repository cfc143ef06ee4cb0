#include "braid/eval/plots.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "braid/core/numbers.hpp"
#include "braid/eval/html.hpp"

namespace braid::eval {
namespace {

constexpr double kWidth = 1000.0;

std::string series_style(std::string_view style, std::size_t series) {
    return std::string(style) + " s" + std::to_string(series % kSeries);
}

/// Maps an interval of numbers to an interval of the picture.
struct Scale {
    Interval from;
    Interval to;

    double operator()(double value) const {
        const double share = (value - from.low) / (from.high - from.low);
        return to.low + share * (to.high - to.low);
    }
};

/// Distance of about `count` ticks: 1, 2 or 5 times a power of ten.
double tick_step(double range, double count) {
    const double rough = range / count;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (rough <= factor * power) return factor * power;
    }
    return 10.0 * power;
}

int decimals_of(double step) {
    return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
}

/// Multiples of `step` within `range`: none if the numbers are too large or too close for them.
std::vector<double> ticks(const Interval& range, double step) {
    constexpr double most = 50.0;
    std::vector<double> values;
    const double first = std::ceil(range.low / step - 1e-9);
    const double count = std::floor((range.high - first * step) / step + 1e-9) + 1.0;
    if (!(count >= 0.0 && count <= most)) return values;
    for (int i = 0; i < static_cast<int>(count); ++i) values.push_back((first + i) * step);
    return values;
}

/// Heights for labels that want to stand at `wanted`, about `gap` apart: neighbours that are too
/// close push each other away, both by the same amount, until all have room.
std::vector<double> spread_labels(std::span<const double> wanted, double gap) {
    constexpr int rounds = 60;
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
    std::vector<double> heights(wanted.begin(), wanted.end());
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 1; i < order.size(); ++i) {
            double& upper = heights[order[i - 1]];
            double& lower = heights[order[i]];
            const double push = std::max((gap - (lower - upper)) / 2, 0.0);
            upper -= push;
            lower += push;
        }
    }
    return heights;
}

/// The outline of a histogram between x.to.low and x.to.high, closed along the base.
std::string histogram_shape(std::span<const double> shares, const Interval& x, const Scale& y) {
    const double step = (x.high - x.low) / static_cast<double>(shares.size());
    std::string shape = "M" + coordinate(x.low) + " " + coordinate(y(0.0));
    double left = x.low;
    for (const double share : shares) {
        shape += "V" + coordinate(y(share)) + "H" + coordinate(left += step);
    }
    return shape + "V" + coordinate(y(0.0)) + "Z";
}

}  // namespace

Interval scale_of(std::span<const Estimate> estimates) {
    Interval scale{estimates.front().interval.low, estimates.front().interval.high};
    for (const Estimate& estimate : estimates) {
        scale.low = std::min({scale.low, estimate.interval.low, estimate.mean});
        scale.high = std::max({scale.high, estimate.interval.high, estimate.mean});
    }
    const double margin = std::max((scale.high - scale.low) * 0.06, 1e-6);
    return {scale.low - margin, scale.high + margin};
}

std::string whisker_plot(const Estimate& estimate, const Interval& scale, double baseline,
                         std::size_t series) {
    constexpr double cell_width = 120.0;
    constexpr double center = 8.0;
    const Interval& interval = estimate.interval;
    Svg svg(cell_width, 2 * center,
            core::fixed(interval.low, 3) + " to " + core::fixed(interval.high, 3));
    const Scale x{scale, {2.0, cell_width - 2.0}};
    svg.line({x.to.low, center}, {x.to.high, center}, "rail");
    svg.line({x(baseline), 1.0}, {x(baseline), 2 * center - 1.0}, "reference");
    svg.line({x(interval.low), center}, {x(interval.high), center},
             series_style("whisker", series));
    svg.circle({x(estimate.mean), center}, 4.0, series_style("dot", series));
    return std::move(svg).finish();
}

std::string forest_plot(std::span<const ForestGroup> groups) {
    constexpr double row_height = 24.0;
    constexpr double group_gap = 14.0;
    constexpr double top_edge = 10.0;
    std::vector<Estimate> all{{}};
    double height = top_edge + 34.0;
    for (const ForestGroup& group : groups) {
        height += static_cast<double>(group.rows.size()) * row_height + group_gap;
        for (const ForestRow& row : group.rows) all.push_back(row.difference);
    }
    const Scale x{scale_of(all), {250.0, kWidth - 96.0}};
    Svg svg(kWidth, height, "Differences from the baseline with their intervals");
    const double step = tick_step(x.from.high - x.from.low, 7.0);
    const double axis = height - 30.0;
    for (const double tick : ticks(x.from, step)) {
        svg.line({x(tick), top_edge}, {x(tick), axis}, "grid");
        svg.text({x(tick), axis + 18.0}, core::signed_fixed(tick, decimals_of(step)),
                 "tick middle");
    }
    svg.line({x(0.0), top_edge}, {x(0.0), axis}, "zero");
    double y = top_edge + group_gap / 2;
    for (const ForestGroup& group : groups) {
        svg.text({0.0, y + row_height / 2 + 4.0}, group.title, "label strong");
        for (const ForestRow& row : group.rows) {
            const double middle = y + row_height / 2;
            const Interval& interval = row.difference.interval;
            const std::string faded = row.significant ? "" : " faded";
            svg.text({x.to.low - 14.0, middle + 4.0}, shortened(row.label, 18), "label end");
            svg.line({x(interval.low), middle}, {x(interval.high), middle},
                     series_style("whisker" + faded, row.series));
            svg.circle({x(row.difference.mean), middle}, 5.0,
                       series_style("dot" + faded, row.series));
            svg.text({kWidth, middle + 4.0}, core::signed_fixed(row.difference.mean, 4),
                     "label end");
            svg.rect({x.to.low, y}, x.to.high - x.to.low, row_height, "hit", row.tip);
            y += row_height;
        }
        y += group_gap;
    }
    return std::move(svg).finish();
}

std::string gains_plot(std::span<const GainBar> bars, const std::string& label) {
    constexpr double full_height = 230.0;
    Svg svg(kWidth, full_height, label);
    Interval range;
    for (const GainBar& bar : bars) {
        range = {std::min(range.low, bar.gain), std::max(range.high, bar.gain)};
    }
    const double margin = std::max(0.04 * (range.high - range.low), 0.005);
    const Scale y{{range.low - margin, range.high + margin}, {full_height - 6.0, 6.0}};
    const Scale x{{0.0, static_cast<double>(std::max<std::size_t>(bars.size(), 1))},
                  {54.0, kWidth}};
    const double step = tick_step(y.from.high - y.from.low, 5.0);
    for (const double tick : ticks(y.from, step)) {
        const bool zero = std::abs(tick) < step / 2;
        svg.line({x.to.low, y(tick)}, {x.to.high, y(tick)}, zero ? "zero" : "grid");
        svg.text({x.to.low - 8.0, y(tick) + 4.0}, core::signed_fixed(tick, decimals_of(step)),
                 "tick end");
    }
    const double slot = x(1.0) - x(0.0);
    const double width = std::min(slot > 3.0 ? slot - 1.0 : slot, 26.0);
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const double gain = bars[i].gain;
        if (gain == 0.0) continue;
        const double left = x(static_cast<double>(i)) + (slot - width) / 2;
        const double top = std::min(y(gain), y(0.0));
        svg.rect({left, top}, width, std::max(std::abs(y(gain) - y(0.0)), 1.0),
                 gain > 0.0 ? "bar up" : "bar down", bars[i].tip);
    }
    return std::move(svg).finish();
}

std::string recall_plot(std::span<const Curve> curves) {
    constexpr double full_height = 380.0;
    constexpr std::array<std::size_t, 9> tick_values{1, 2, 5, 10, 20, 50, 100, 200, 500};
    const std::size_t depth = curves.front().values.size();
    Svg svg(kWidth, full_height, "Mean recall by cutoff");
    Interval range{curves.front().values.front(), 0.01};
    for (const Curve& curve : curves) {
        range.low = std::min(range.low, curve.values.front());
        range.high = std::max(range.high, curve.values.back());
    }
    const double step = tick_step(range.high - range.low, 5.0);
    const Scale y{{std::floor(range.low / step) * step, std::ceil(range.high / step) * step},
                  {full_height - 40.0, 12.0}};
    const Scale log_x{{0.0, std::log(static_cast<double>(depth))}, {54.0, kWidth - 170.0}};
    const auto x = [&](std::size_t k) { return log_x(std::log(static_cast<double>(k))); };
    for (const double tick : ticks(y.from, step)) {
        svg.line({x(1), y(tick)}, {x(depth), y(tick)}, tick == 0.0 ? "zero" : "grid");
        svg.text({x(1) - 8.0, y(tick) + 4.0}, core::fixed(tick, decimals_of(step)), "tick end");
    }
    for (const std::size_t k : tick_values) {
        if (k > depth) break;
        svg.text({x(k), full_height - 23.0}, std::to_string(k), "tick middle");
    }
    svg.text({(x(1) + x(depth)) / 2, full_height - 5.0}, "cutoff k (logarithmic)", "tick middle");
    std::vector<double> ends;
    for (std::size_t i = 0; i < curves.size(); ++i) {
        std::string shape;
        for (std::size_t k = 1; k <= depth; ++k) {
            shape += (k == 1 ? "M" : "L") + coordinate(x(k)) + " " +
                     coordinate(y(curves[i].values[k - 1]));
        }
        svg.path(shape, series_style("curve", curves[i].series));
        ends.push_back(y(curves[i].values.back()));
    }
    const std::vector<double> heights = spread_labels(ends, 18.0);
    for (std::size_t i = 0; i < curves.size(); ++i) {
        svg.circle({x(depth), ends[i]}, 4.0, series_style("dot", curves[i].series));
        svg.text({x(depth) + 12.0, heights[i] + 4.0}, shortened(curves[i].name, 20),
                 series_style("label strong colored", curves[i].series));
    }
    for (std::size_t k = 1; k <= depth; ++k) {
        std::string tip = "k = " + std::to_string(k);
        for (const Curve& curve : curves) {
            tip += "\n" + core::fixed(curve.values[k - 1], 4) + "  " + curve.name;
        }
        const double left = k == 1 ? x(1) : (x(k - 1) + x(k)) / 2;
        const double right = k == depth ? x(depth) : (x(k) + x(k + 1)) / 2;
        svg.rect({left, y.to.high}, right - left, y.to.low - y.to.high, "hit", tip);
    }
    return std::move(svg).finish();
}

std::string distribution_plot(const ScoreDistribution& distribution, const std::string& name,
                              std::size_t series) {
    constexpr double panel_width = 480.0;
    constexpr double full_height = 190.0;
    Svg svg(panel_width, full_height, "Scores of relevant and other hits of " + name);
    double peak = 1e-9;
    for (const double share : distribution.relevant) peak = std::max(peak, share);
    for (const double share : distribution.other) peak = std::max(peak, share);
    const Interval x{8.0, panel_width - 8.0};
    const Scale y{{0.0, peak}, {full_height - 26.0, 8.0}};
    svg.path(histogram_shape(distribution.other, x, y), "area other");
    svg.path(histogram_shape(distribution.relevant, x, y), series_style("area relevant", series));
    svg.line({x.low, y(0.0)}, {x.high, y(0.0)}, "zero");
    if (distribution.high > distribution.low) {
        const double range = distribution.high - distribution.low;
        const double step = tick_step(range, 6.0);
        const Scale value{{distribution.low, distribution.high}, x};
        for (const double tick : ticks(value.from, step)) {
            svg.line({value(tick), y(0.0)}, {value(tick), y(0.0) + 4.0}, "zero");
            const double inside = std::clamp(value(tick), x.low + 12.0, x.high - 12.0);
            svg.text({inside, full_height - 6.0}, core::brief(tick, decimals_of(step)),
                     "tick middle");
        }
    }
    return std::move(svg).finish();
}

}  // namespace braid::eval
