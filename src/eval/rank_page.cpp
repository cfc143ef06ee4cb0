#include "braid/eval/rank_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "braid/core/numbers.hpp"
#include "braid/eval/html.hpp"
#include "braid/eval/report_assets.hpp"

namespace braid::eval {
namespace {

/// The smallest and the largest mean score of the curve.
std::pair<double, double> range_of(const FeatureEffect& effect) {
    double low = effect.curve.front().second;
    double high = low;
    for (const auto& [value, score] : effect.curve) {
        low = std::min(low, score);
        high = std::max(high, score);
    }
    return {low, high};
}

std::string dependence_plot(const FeatureEffect& effect) {
    constexpr double kPlotWidth = 360;
    constexpr double kPlotHeight = 150;
    constexpr double kLeft = 64;
    constexpr double kBottom = 28;
    constexpr double kPlotMargin = 12;
    Svg svg(kPlotWidth, kPlotHeight, "Partial dependence of the score on " + effect.name);
    const auto [low, high] = range_of(effect);
    const double from = effect.curve.front().first;
    const double to = effect.curve.back().first;
    const auto x = [&](double value) {
        const double share = to > from ? (value - from) / (to - from) : 0.5;
        return kLeft + share * (kPlotWidth - kLeft - kPlotMargin);
    };
    const auto y = [&, least = low, most = high](double score) {
        const double share = most > least ? (score - least) / (most - least) : 0.5;
        return kPlotHeight - kBottom - share * (kPlotHeight - kBottom - kPlotMargin);
    };
    for (const double score : {low, high}) {
        svg.line({x(from), y(score)}, {x(to), y(score)}, "grid");
        svg.text({kLeft - 8, y(score) + 4}, core::brief(score, 3), "tick end");
    }
    svg.text({x(from), kPlotHeight - 8}, core::brief(from, 2), "tick middle");
    svg.text({x(to), kPlotHeight - 8}, core::brief(to, 2), "tick end");
    std::string shape;
    for (const auto& [value, score] : effect.curve) {
        shape += (shape.empty() ? "M" : "L") + coordinate(x(value)) + " " + coordinate(y(score));
    }
    svg.path(shape, "curve s0");
    for (const auto& [value, score] : effect.curve) {
        svg.circle(
            {x(value), y(score)}, 3, "dot s0",
            effect.name + " = " + core::brief(value, 4) + "\nmean score " + core::brief(score, 4));
    }
    return std::move(svg).finish();
}

}  // namespace

std::vector<FeatureEffect> effects_in(const Object& described) {
    std::vector<FeatureEffect> out;
    const Value* const importance = described.find("importance");
    const Value* const dependence = described.find("dependence");
    if (importance == nullptr || !importance->is_object()) return out;
    for (const auto& [name, share] : importance->as_object()) {
        if (!share.is_number()) continue;
        FeatureEffect& effect = out.emplace_back();
        effect.name = name;
        effect.importance = share.as_double();
        const Value* const curve = dependence == nullptr ? nullptr : dependence->find(name);
        if (curve == nullptr || !curve->is_array()) continue;
        for (const Value& point : curve->as_array()) {
            if (!point.is_array() || point.as_array().size() != 2) continue;
            const Value& value = point.as_array()[0];
            const Value& score = point.as_array()[1];
            if (!value.is_number() || !score.is_number()) continue;
            effect.curve.emplace_back(value.as_double(), score.as_double());
        }
    }
    return out;
}

std::string sparkline(const FeatureEffect& effect) {
    static constexpr std::array<std::string_view, 8> kSigns{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::string out;
    if (effect.curve.empty()) return out;
    const auto [low, high] = range_of(effect);
    for (const auto& [value, score] : effect.curve) {
        const double share = high > low ? (score - low) / (high - low) : 0.5;
        out += kSigns[static_cast<std::size_t>(std::lround(share * 7))];
    }
    return out;
}

std::string rank_page(const std::string& title, const std::string& note,
                      const std::vector<FeatureEffect>& effects) {
    std::string page = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                       escaped(title) + "</title><style>" + std::string(report_style()) +
                       "</style></head><body><main><h1>" + escaped(title) + "</h1><p>" +
                       escaped(note) +
                       "</p><p>Importance is the mean absolute part that a feature has in a "
                       "score. A plot shows the mean score of all candidates if every one of "
                       "them had that value.</p>\n";
    for (const FeatureEffect& effect : effects) {
        page += "<section><h2>" + escaped(effect.name) + "</h2><p>importance " +
                core::brief(effect.importance, 4) + "</p>";
        if (!effect.curve.empty()) page += dependence_plot(effect);
        page += "</section>\n";
    }
    return page + "</main></body></html>\n";
}

}  // namespace braid::eval
