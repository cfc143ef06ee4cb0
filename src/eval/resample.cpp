#include "braid/eval/resample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace braid::eval {
namespace {

// Up to this many rows other than 0 all patterns of signs are fewer than the usual 10,000 samples.
constexpr std::size_t kExactRows = 13;

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): the same numbers with every standard library.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() noexcept {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }

    /// 0 … bound - 1, bound below 2^32.
    std::size_t below(std::size_t bound) noexcept {
        return static_cast<std::size_t>(((next() >> 32U) * bound) >> 32U);
    }

private:
    std::uint64_t state_;
};

double quantile(std::span<const double> sorted, double fraction) {
    const double place = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double share = place - static_cast<double>(below);
    return sorted[below] + share * (sorted[above] - sorted[below]);
}

/// Sums that differ by rounding only must count as equal.
double threshold_for(double observed, double magnitude) {
    return std::abs(observed) - 1e-12 * magnitude;
}

/// The exact p-value: the share of the 2^n patterns of signs whose sum is as extreme.
double exact_p_value(std::span<const double> differences) {
    const double observed = std::accumulate(differences.begin(), differences.end(), 0.0);
    double magnitude = 0.0;
    for (const double difference : differences) magnitude += std::abs(difference);
    const double threshold = threshold_for(observed, magnitude);
    const std::size_t patterns = std::size_t{1} << differences.size();
    std::size_t extreme = 0;
    for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
        double sum = 0.0;
        for (std::size_t i = 0; i < differences.size(); ++i) {
            sum += ((pattern >> i) & 1U) != 0 ? -differences[i] : differences[i];
        }
        if (std::abs(sum) >= threshold) ++extreme;
    }
    return static_cast<double>(extreme) / static_cast<double>(patterns);
}

/// The p-values over sampled patterns of signs, the same patterns for all columns.
std::vector<double> sampled_p_values(const Matrix& differences, std::size_t samples,
                                     std::uint64_t seed) {
    const std::size_t columns = differences.columns();
    std::vector<double> observed(columns);
    std::vector<double> magnitude(columns);
    for (std::size_t r = 0; r < differences.rows(); ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
            observed[c] += differences.row(r)[c];
            magnitude[c] += std::abs(differences.row(r)[c]);
        }
    }
    Random random(seed);
    std::vector<std::size_t> extreme(columns);
    std::vector<double> sums(columns);
    for (std::size_t sample = 0; sample < samples; ++sample) {
        std::fill(sums.begin(), sums.end(), 0.0);
        std::uint64_t bits = 0;
        for (std::size_t r = 0; r < differences.rows(); ++r) {
            if (r % 64 == 0) bits = random.next();
            const double sign = (bits & 1U) != 0 ? -1.0 : 1.0;
            bits >>= 1U;
            const std::span<const double> row = differences.row(r);
            for (std::size_t c = 0; c < columns; ++c) sums[c] += sign * row[c];
        }
        for (std::size_t c = 0; c < columns; ++c) {
            if (std::abs(sums[c]) >= threshold_for(observed[c], magnitude[c])) ++extreme[c];
        }
    }
    std::vector<double> p_values;
    p_values.reserve(columns);
    for (const std::size_t count : extreme) {
        p_values.push_back(static_cast<double>(count + 1) / static_cast<double>(samples + 1));
    }
    return p_values;
}

}  // namespace

std::vector<std::vector<double>> bootstrap_means(const Matrix& values, std::size_t resamples,
                                                 std::uint64_t seed) {
    const std::size_t rows = values.rows();
    const std::size_t columns = values.columns();
    std::vector<std::vector<double>> means(columns, std::vector<double>(resamples));
    if (rows == 0) return means;
    Random random(seed);
    std::vector<double> sums(columns);
    for (std::size_t resample = 0; resample < resamples; ++resample) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t draw = 0; draw < rows; ++draw) {
            const std::span<const double> row = values.row(random.below(rows));
            for (std::size_t c = 0; c < columns; ++c) sums[c] += row[c];
        }
        for (std::size_t c = 0; c < columns; ++c) {
            means[c][resample] = sums[c] / static_cast<double>(rows);
        }
    }
    return means;
}

Interval percentile_interval(std::vector<double>& numbers, double confidence) {
    std::sort(numbers.begin(), numbers.end());
    const double tail = (1.0 - confidence) / 2.0;
    return {quantile(numbers, tail), quantile(numbers, 1.0 - tail)};
}

std::vector<double> randomisation_p_values(const Matrix& differences, std::size_t samples,
                                           std::uint64_t seed) {
    std::vector<double> p_values = sampled_p_values(differences, samples, seed);
    for (std::size_t c = 0; c < differences.columns(); ++c) {
        std::vector<double> changed;
        for (std::size_t r = 0; r < differences.rows() && changed.size() <= kExactRows; ++r) {
            if (differences.row(r)[c] != 0.0) changed.push_back(differences.row(r)[c]);
        }
        if (changed.size() <= kExactRows) p_values[c] = exact_p_value(changed);
    }
    return p_values;
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
    std::vector<std::size_t> order(p_values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
    std::vector<double> adjusted(p_values.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const double raised = p_values[order[i]] * static_cast<double>(order.size() - i);
        largest = std::max(largest, std::min(raised, 1.0));
        adjusted[order[i]] = largest;
    }
    return adjusted;
}

}  // namespace braid::eval
