#include "braid/dense/subspace.hpp"

#include <algorithm>
#include <cmath>

#include "braid/core/parallel.hpp"
#include "braid/kernels/dense.hpp"

namespace braid::dense {
namespace {

float product(const float* a, const float* b, std::size_t n) noexcept {
    float sum = 0;
    kernels::dense_kernels().dot_f32(a, b, n, 1, n, &sum);
    return sum;
}

/// Makes each row orthogonal to those before it and of length 1; a row that depends on earlier ones
/// is replaced by a random one.
void orthonormalise(std::vector<float>& rows, std::size_t length, SeededNumbers& numbers) {
    const std::size_t count = rows.size() / length;
    std::vector<float> products(count);
    for (std::size_t r = 0; r < count; ++r) {
        float* row = rows.data() + r * length;
        for (int tries = 0;; ++tries) {
            const float before = std::sqrt(product(row, row, length));
            for (int twice = 0; twice < 2; ++twice) {
                kernels::dense_kernels().dot_f32(row, rows.data(), length, r, length,
                                                 products.data());
                for (std::size_t p = 0; p < r; ++p) {
                    const float* other = rows.data() + p * length;
                    for (std::size_t i = 0; i < length; ++i) row[i] -= products[p] * other[i];
                }
            }
            const float after = std::sqrt(product(row, row, length));
            if (after > 1e-4F * before && after > 1e-30F) {
                for (std::size_t i = 0; i < length; ++i) row[i] /= after;
                break;
            }
            for (std::size_t i = 0; i < length; ++i) row[i] = numbers.normal();
        }
    }
}

/// The whole space spanned by a small sample about its mean, with random directions added.
std::vector<float> spanned_directions(std::span<const float> sample, std::span<const float> mean,
                                      std::size_t count, SeededNumbers& numbers) {
    const std::size_t d = mean.size();
    std::vector<float> rows(count * d);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i] = i < sample.size() ? sample[i] - mean[i % d] : numbers.normal();
    }
    orthonormalise(rows, d, numbers);
    return rows;
}

/// The sample's covariance up to a constant factor, both halves.
std::vector<float> covariance(std::span<const float> sample, std::span<const float> mean) {
    const std::size_t d = mean.size();
    const std::size_t n = sample.size() / d;
    std::vector<float> columns(d * n);  // column by column, about the mean
    core::run_computing(d, [&](std::size_t i) {
        for (std::size_t r = 0; r < n; ++r) columns[i * n + r] = sample[r * d + i] - mean[i];
    });
    std::vector<float> result(d * d);
    core::run_computing(d, [&](std::size_t i) {
        kernels::dense_kernels().dot_f32(columns.data() + i * n, columns.data() + i * n, n, d - i,
                                         n, result.data() + i * d + i);
    });
    for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t j = 0; j < i; ++j) result[i * d + j] = result[j * d + i];
    }
    return result;
}

}  // namespace

std::uint64_t SeededNumbers::next() noexcept {
    state_ += 0x9e37'79b9'7f4a'7c15U;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9U;
    x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebU;
    return x ^ (x >> 31);
}

float SeededNumbers::normal() noexcept {
    float sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<float>(next() >> 40) * 0x1p-24F;
    return sum;
}

std::vector<float> random_directions(std::size_t count, std::size_t length,
                                     SeededNumbers& numbers) {
    std::vector<float> rows(count * length);
    for (float& x : rows) x = numbers.normal();
    orthonormalise(rows, length, numbers);
    return rows;
}

std::optional<std::vector<float>> principal_directions(std::span<const float> sample,
                                                       std::span<const float> mean,
                                                       std::size_t count, SeededNumbers& numbers,
                                                       const std::function<bool()>& stopped) {
    constexpr int kIterations = 6;
    const std::size_t d = mean.size();
    const bool small = sample.size() <= count * d;
    const std::vector<float> matrix = small ? std::vector<float>() : covariance(sample, mean);
    std::vector<float> basis = small ? spanned_directions(sample, mean, count, numbers)
                                     : random_directions(count, d, numbers);
    std::vector<float> next(basis.size());
    for (int iteration = 0; iteration < kIterations && !small; ++iteration) {
        if (stopped()) return std::nullopt;
        core::run_computing(count, [&](std::size_t r) {
            kernels::dense_kernels().dot_f32(basis.data() + r * d, matrix.data(), d, d, d,
                                             next.data() + r * d);
        });
        basis.swap(next);
        orthonormalise(basis, d, numbers);
    }
    const std::vector<float> turn = random_directions(count, count, numbers);
    core::run_computing(count, [&](std::size_t r) {
        float* row = next.data() + r * d;
        std::fill_n(row, d, 0.0F);
        for (std::size_t p = 0; p < count; ++p) {
            const float weight = turn[r * count + p];
            for (std::size_t i = 0; i < d; ++i) row[i] += weight * basis[p * d + i];
        }
    });
    return next;
}

}  // namespace braid::dense
