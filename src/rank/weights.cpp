#include "braid/rank/weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace braid::rank {
namespace {

constexpr int kMaxSteps = 500;
constexpr double kSmallestGain = 1e-9;

/// The candidates of the queries as a matrix of the features in use, in deviations within a query.
class Problem {
public:
    Problem(const TrainingData& data, const WeightOptions& options) : data_(data), l2_(options.l2) {
        find_scales();
        const std::size_t fused = feature_index("fused_norm");
        for (std::size_t f = 0; f < kFeatures; ++f) {
            if (!features()[f].unit || scale_[f] == 0) continue;
            used_.push_back(f);
            start_.push_back(f == fused ? options.prior * scale_[f] : 0.0);
        }
        matrix_.reserve(data.rows.size() * used_.size());
        for (const Vector& row : data.rows) {
            for (const std::size_t f : used_) matrix_.push_back(row[f] / scale_[f]);
        }
        for (std::size_t first = 0, q = 0; q < data.queries.size(); ++q) {
            const auto count = static_cast<std::size_t>(data.queries[q]);
            queries_.push_back({first, count});
            first += count;
        }
    }

    std::size_t size() const { return used_.size(); }
    const std::vector<double>& start() const { return start_; }

    /// The loss, and its gradient.
    double loss(std::span<const double> weights, std::vector<double>& gradient) const {
        gradient.assign(size(), 0);
        double sum = 0;
        for (const Query& query : queries_) sum += add_query(query, weights, gradient);
        const double queries = std::max<double>(1, static_cast<double>(queries_.size()));
        sum /= queries;
        for (std::size_t i = 0; i < size(); ++i) {
            const double moved = weights[i] - start_[i];
            gradient[i] = gradient[i] / queries + 2 * l2_ * moved;
            sum += l2_ * moved * moved;
        }
        return sum;
    }

    /// The nearest weights that are allowed.
    void project(std::vector<double>& weights) const {
        for (std::size_t i = 0; i < size(); ++i) {
            const int sign = features()[used_[i]].monotone;
            if (sign > 0) weights[i] = std::max(weights[i], 0.0);
            if (sign < 0) weights[i] = std::min(weights[i], 0.0);
        }
    }

    Weights unscaled(std::span<const double> weights) const {
        Weights out;
        const std::size_t fused = feature_index("fused_norm");
        for (std::size_t i = 0; i < size(); ++i) {
            const double weight = weights[i] / scale_[used_[i]];
            (used_[i] == fused ? out.prior : out.linear[used_[i]]) = weight;
        }
        return out;
    }

private:
    struct Query {
        std::size_t first = 0;
        std::size_t count = 0;
    };

    void find_scales() {
        Vector squares{};
        std::size_t first = 0;
        for (const std::int32_t rows : data_.queries) {
            const std::span query =
                std::span(data_.rows).subspan(first, static_cast<std::size_t>(rows));
            for (std::size_t f = 0; f < kFeatures; ++f) {
                double mean = 0;
                for (const Vector& row : query) mean += row[f] / rows;
                for (const Vector& row : query) {
                    squares[f] += (row[f] - mean) * (row[f] - mean) / rows;
                }
            }
            first += query.size();
        }
        const double queries = std::max<double>(1, static_cast<double>(data_.queries.size()));
        constexpr double kNothing = 1e-6;
        for (std::size_t f = 0; f < kFeatures; ++f) {
            const double deviation = std::sqrt(squares[f] / queries);
            scale_[f] = deviation > kNothing ? deviation : 0.0;
        }
    }

    double add_query(const Query& query, std::span<const double> weights,
                     std::vector<double>& gradient) const {
        scores_.resize(query.count);
        double most = -std::numeric_limits<double>::infinity();
        double grades = 0;
        for (std::size_t i = 0; i < query.count; ++i) {
            const double* const row = &matrix_[(query.first + i) * size()];
            double score = 0;
            for (std::size_t f = 0; f < size(); ++f) score += row[f] * weights[f];
            scores_[i] = score;
            most = std::max(most, score);
            grades += weight_of(query.first + i);
        }
        double others = 0;
        for (std::size_t i = 0; i < query.count; ++i) {
            scores_[i] = std::exp(scores_[i] - most);
            if (data_.grades[query.first + i] == 0) others += scores_[i];
        }
        if (grades <= 0) return 0;
        double loss = 0;
        double pushed = 0;  // down on the others, for each part of their scores
        for (std::size_t i = 0; i < query.count; ++i) {
            const double grade = weight_of(query.first + i) / grades;
            if (grade == 0) continue;
            // Far below the others a share may be too small for a double.
            const double own = std::max(scores_[i], std::numeric_limits<double>::min());
            loss += grade * std::log1p(others / own);
            pushed += grade / (own + others);
            add_row(query.first + i, grade * (own / (own + others) - 1), gradient);
        }
        for (std::size_t i = 0; i < query.count; ++i) {
            if (data_.grades[query.first + i] == 0) {
                add_row(query.first + i, scores_[i] * pushed, gradient);
            }
        }
        return loss;
    }

    double weight_of(std::size_t row) const {
        const double weight = data_.weights.empty() ? 1 : data_.weights[row];
        return weight * data_.grades[row];
    }

    void add_row(std::size_t row, double times, std::vector<double>& gradient) const {
        const double* const values = &matrix_[row * size()];
        for (std::size_t f = 0; f < size(); ++f) gradient[f] += times * values[f];
    }

    const TrainingData& data_;
    double l2_;
    Vector scale_{};
    std::vector<std::size_t> used_;
    std::vector<double> start_;
    std::vector<double> matrix_;
    std::vector<Query> queries_;
    mutable std::vector<double> scores_;
};

}  // namespace

// Projected gradients with momentum (FISTA), begun again where it leads uphill.
Result<Weights> learn_weights(const TrainingData& data, const WeightOptions& options) {
    BRAID_CHECK(check_training_data(data));
    const Problem problem(data, options);
    std::vector<double> at = problem.start();
    std::vector<double> ahead = at;
    std::vector<double> gradient;
    std::vector<double> next;
    std::vector<double> unused;
    double value = problem.loss(at, gradient);
    double momentum = 1;
    double step = 1;
    for (int taken = 0; taken < kMaxSteps; ++taken) {
        const double here = problem.loss(ahead, gradient);
        double reached = 0;
        for (;; step /= 2) {
            next = ahead;
            for (std::size_t i = 0; i < next.size(); ++i) next[i] -= step * gradient[i];
            problem.project(next);
            reached = problem.loss(next, unused);
            double expected = here;
            for (std::size_t i = 0; i < next.size(); ++i) {
                const double moved = next[i] - ahead[i];
                expected += moved * gradient[i] + moved * moved / (2 * step);
            }
            if (reached <= expected + 1e-12 || step < 1e-9) break;
        }
        if (reached > value && momentum > 1) {
            ahead = at;
            momentum = 1;
            continue;
        }
        const double grown = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
        ahead = next;
        for (std::size_t i = 0; i < next.size(); ++i) {
            ahead[i] += (momentum - 1) / grown * (next[i] - at[i]);
        }
        momentum = grown;
        at.swap(next);
        const double gain = value - reached;
        value = std::min(value, reached);
        step *= 1.2;
        if (gain < kSmallestGain) break;
    }
    return problem.unscaled(at);
}

}  // namespace braid::rank
