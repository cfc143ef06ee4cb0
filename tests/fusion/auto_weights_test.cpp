#include "braid/fusion/auto_weights.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace braid::fusion {
namespace {

/// ScoresById by id, and entries that borrow the ids.
struct ScoresById {
    std::map<std::string, double> by_id;

    std::vector<Entry> entries() const {
        std::vector<Entry> out;
        for (const auto& [id, score] : by_id) out.push_back({id, score, out.size()});
        return out;
    }
};

ScoresById numbered_scores(const std::vector<double>& values) {
    ScoresById scores;
    for (const double value : values) {
        scores.by_id["c" + std::to_string(100 + scores.by_id.size())] = value;
    }
    return scores;
}

double signal_value(const Choice& choice, std::string_view name) {
    const auto found = std::ranges::find(choice.signals, name, &Signal::name);
    return found == choice.signals.end() ? std::nan("") : found->value;
}

Choice choice_of(const std::vector<double>& dense, const std::vector<double>& sparse) {
    const ScoresById d = numbered_scores(dense);
    const ScoresById s = numbered_scores(sparse);
    return choose_weights(d.entries(), s.entries());
}

/// The slow way: sums of squares in long double, a whole sort.
double slow_correlation(const ScoresById& a, const ScoresById& b) {
    std::vector<std::pair<long double, long double>> pairs;
    for (const auto& [id, score] : a.by_id) {
        if (b.by_id.contains(id)) pairs.emplace_back(score, b.by_id.at(id));
    }
    long double mean_a = 0;
    long double mean_b = 0;
    for (const auto& [x, y] : pairs) mean_a += x, mean_b += y;
    mean_a /= static_cast<long double>(pairs.size());
    mean_b /= static_cast<long double>(pairs.size());
    long double xx = 0;
    long double yy = 0;
    long double xy = 0;
    for (const auto& [x, y] : pairs) {
        xx += (x - mean_a) * (x - mean_a);
        yy += (y - mean_b) * (y - mean_b);
        xy += (x - mean_a) * (y - mean_b);
    }
    return static_cast<double>(xy / std::sqrt(xx * yy));
}

TEST(AutoWeights, AgreeWithASlowReference) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::uniform_real_distribution<double> unit(0, 1);
        ScoresById dense;
        ScoresById sparse;
        for (int i = 0; i < 3 + static_cast<int>(rng() % 300); ++i) {
            const std::string id = "c" + std::to_string(i);
            const double common = unit(rng);
            if (rng() % 10 != 0) dense.by_id[id] = 0.4 + 0.3 * (common + unit(rng));
            sparse.by_id[id] = rng() % 3 == 0 ? 0 : 20 * (common + unit(rng));
        }
        if (dense.by_id.size() < 3) continue;
        const Choice choice = choose_weights(dense.entries(), sparse.entries());
        EXPECT_NEAR(signal_value(choice, "agreement"), slow_correlation(dense, sparse), 1e-9);
        std::vector<double> sorted;
        for (const auto& [id, score] : sparse.by_id) sorted.push_back(score);
        std::ranges::sort(sorted, std::greater<>{});
        const double tenth = sorted[std::min<std::size_t>(9, sorted.size() - 1)];
        const double lead = sorted[0] > 0 ? (sorted[0] - tenth) / sorted[0] : 0;
        EXPECT_DOUBLE_EQ(signal_value(choice, "lead"), lead);
        double weight = choice.base;
        for (const Signal& signal : choice.signals) {
            weight += signal.coefficient * (signal.value - signal.usual);
        }
        EXPECT_EQ(choice.dense_weight, std::clamp(weight, choice.lowest, choice.highest));
    }
}

TEST(AutoWeights, DoNotDependOnTheOrderOfTheLists) {
    std::mt19937 rng(3);
    std::uniform_real_distribution<double> unit(0, 1);
    ScoresById dense;
    ScoresById sparse;
    for (int i = 0; i < 400; ++i) {
        dense.by_id["c" + std::to_string(i)] = unit(rng);
        sparse.by_id["c" + std::to_string(i)] = 10 * unit(rng);
    }
    std::vector<Entry> a = dense.entries();
    std::vector<Entry> b = sparse.entries();
    const double weight = choose_weights(a, b).dense_weight;
    for (int i = 0; i < 20; ++i) {
        std::ranges::shuffle(a, rng);
        std::ranges::shuffle(b, rng);
        EXPECT_EQ(choose_weights(a, b).dense_weight, weight);
    }
}

TEST(AutoWeights, TrustTheDenseLegMoreWhereTheLegsContradictEachOther) {
    const std::vector<double> dense{0.9, 0.8, 0.7, 0.6, 0.5};
    const Choice same = choice_of(dense, {9, 8, 7, 6, 5});
    const Choice opposite = choice_of(dense, {5, 6, 7, 8, 9});
    EXPECT_DOUBLE_EQ(signal_value(same, "agreement"), 1);
    EXPECT_DOUBLE_EQ(signal_value(opposite, "agreement"), -1);
    EXPECT_GT(opposite.dense_weight, same.dense_weight);
}

TEST(AutoWeights, TrustTheSparseLegMoreWhereOnePassageStandsOut) {
    const std::vector<double> dense(12, 0.5);
    std::vector<double> flat(12, 9);
    std::vector<double> peaked(12, 1);
    peaked.front() = 20;
    EXPECT_LT(choice_of(dense, peaked).dense_weight, choice_of(dense, flat).dense_weight);
}

TEST(AutoWeights, StandEmptyAndUnvaryingLists) {
    for (const Choice& choice :
         {choice_of({}, {}), choice_of({0.5}, {}), choice_of({}, {3}),
          choice_of({0.5, 0.5}, {3, 3}), choice_of({0.5, 0.4}, {0, 0}),
          choice_of({-1, -2}, {-3, -4}), choice_of({1e308, -1e308}, {1, 2})}) {
        EXPECT_GE(choice.dense_weight, choice.lowest);
        EXPECT_LE(choice.dense_weight, choice.highest);
        for (const Signal& signal : choice.signals) EXPECT_TRUE(std::isfinite(signal.value));
    }
}

}  // namespace
}  // namespace braid::fusion
