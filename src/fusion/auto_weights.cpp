#include "braid/fusion/auto_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "braid/fusion/id_index.hpp"

namespace braid::fusion {
namespace {

/// Of the chunks that both lists hold, by value: the order of a sum must not depend on that of the
/// lists.
std::vector<std::pair<double, double>> paired_scores(std::span<const Entry> dense,
                                                     std::span<const Entry> sparse) {
    IdIndex by_id(sparse.size());
    const auto id_of = [&](std::uint32_t place) { return sparse[place].id; };
    for (std::uint32_t i = 0; i < sparse.size(); ++i) by_id.add(sparse[i].id, i, id_of);
    std::vector<std::pair<double, double>> pairs;
    pairs.reserve(dense.size());
    for (const Entry& entry : dense) {
        const std::uint32_t place = by_id.find(entry.id, id_of);
        if (place != IdIndex::kNone) pairs.emplace_back(entry.score, sparse[place].score);
    }
    std::ranges::sort(pairs);
    return pairs;
}

/// Pearson's; 0 where one side does not vary.
double correlation(std::span<const std::pair<double, double>> pairs) {
    if (pairs.empty()) return 0;
    const auto n = static_cast<double>(pairs.size());
    double mean_a = 0;
    double mean_b = 0;
    for (const auto& [a, b] : pairs) {
        mean_a += a / n;
        mean_b += b / n;
    }
    double squares_a = 0;
    double squares_b = 0;
    double products = 0;
    for (const auto& [a, b] : pairs) {
        squares_a += (a - mean_a) * (a - mean_a);
        squares_b += (b - mean_b) * (b - mean_b);
        products += (a - mean_a) * (b - mean_b);
    }
    const double both = std::sqrt(squares_a) * std::sqrt(squares_b);
    // Scores that only rounding tells apart do not vary.
    constexpr double kNothing = 1e-12;
    if (!(both > kNothing) || !std::isfinite(both)) return 0;
    return std::clamp(products / both, -1.0, 1.0);
}

double lead_of_best(std::span<const Entry> entries) {
    constexpr std::size_t kCompared = 10;
    std::vector<double> scores;
    scores.reserve(entries.size());
    for (const Entry& entry : entries) scores.push_back(entry.score);
    const std::size_t compared = std::min(scores.size(), kCompared);
    std::ranges::partial_sort(scores, scores.begin() + static_cast<std::ptrdiff_t>(compared),
                              std::greater<>{});
    if (compared == 0 || scores.front() <= 0) return 0;
    return std::clamp((scores.front() - scores[compared - 1]) / scores.front(), 0.0, 1.0);
}

}  // namespace

Choice choose_weights(std::span<const Entry> dense, std::span<const Entry> sparse, double most) {
    constexpr double kHighest = 0.95;
    Choice choice{.base = 0.65,
                  .signals = {{.name = "agreement",
                               .value = correlation(paired_scores(dense, sparse)),
                               .usual = 0.25,
                               .coefficient = -0.3},
                              {.name = "lead",
                               .value = lead_of_best(sparse),
                               .usual = 0.42,
                               .coefficient = -0.2}},
                  .lowest = std::min(0.2, most),
                  .highest = std::min(kHighest, most)};
    double weight = choice.base;
    for (const Signal& signal : choice.signals) {
        weight += signal.coefficient * (signal.value - signal.usual);
    }
    choice.dense_weight = std::clamp(weight, choice.lowest, choice.highest);
    return choice;
}

}  // namespace braid::fusion
