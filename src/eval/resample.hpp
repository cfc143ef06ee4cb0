#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace braid::eval {

/// Numbers in rows (queries) and columns (what is averaged over the queries).
class Matrix {
public:
    Matrix(std::size_t rows, std::size_t columns)
        : rows_(rows), columns_(columns), values_(rows * columns) {}

    std::size_t rows() const noexcept { return rows_; }
    std::size_t columns() const noexcept { return columns_; }
    std::span<double> row(std::size_t r) { return {&values_[r * columns_], columns_}; }
    std::span<const double> row(std::size_t r) const { return {&values_[r * columns_], columns_}; }

private:
    std::size_t rows_;
    std::size_t columns_;
    std::vector<double> values_;
};

/// The means of every column over `resamples` draws of as many rows as there are, with replacement:
/// [column][resample]. All columns see the same rows, so differences of columns are paired. The
/// same arguments give the same result on every machine. Costs resamples * rows * columns.
std::vector<std::vector<double>> bootstrap_means(const Matrix& values, std::size_t resamples,
                                                 std::uint64_t seed);

struct Interval {
    double low = 0.0;
    double high = 0.0;

    friend bool operator==(const Interval&, const Interval&) = default;
};

/// The interval that leaves (1 - confidence) / 2 of the numbers out on either side, between
/// neighbours by linear interpolation. Sorts `numbers`, which must not be empty.
Interval percentile_interval(std::vector<double>& numbers, double confidence);

/// Two-sided paired randomisation test (Fisher's, as in Smucker et al., CIKM 2007): per column, how
/// often the mean is at least as far from 0 as it is now if every row keeps or changes its sign at
/// random. A column with few rows other than 0 is counted over all patterns of signs; otherwise
/// `samples` patterns are drawn and the present one is added to them, so that p is never 0.
std::vector<double> randomisation_p_values(const Matrix& differences, std::size_t samples,
                                           std::uint64_t seed);

/// Holm's correction of the p-values of one family of tests (Scand. J. Stat. 6, 1979).
std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace braid::eval
