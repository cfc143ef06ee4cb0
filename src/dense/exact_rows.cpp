#include "braid/dense/exact_rows.hpp"

#include <algorithm>
#include <cmath>

#include "braid/kernels/kernels.hpp"

namespace braid::dense {

double norm(std::span<const float> vector) noexcept {
    return std::sqrt(kernels::kernels().dot(vector.data(), vector.data(), vector.size()));
}

void ExactRows::add(std::span<const float> vector) {
    const std::size_t in_block = size() % kBlockRows;
    if (in_block == 0) {
        blocks_.push_back(std::make_unique_for_overwrite<float[]>(kBlockRows * dimension_));
    }
    std::ranges::copy(vector, blocks_[size() / kBlockRows].get() + in_block * dimension_);
    norms_.push_back(norm(vector));
}

std::span<const float> ExactRows::row(std::size_t index) const noexcept {
    return {blocks_[index / kBlockRows].get() + index % kBlockRows * dimension_, dimension_};
}

void ExactRows::score(std::span<const float> query, double query_norm, std::size_t first,
                      std::span<double> out) const noexcept {
    const float* rows = row(first).data();
    const kernels::Kernels& kernel = kernels::kernels();
    if (metric_ == Metric::Euclidean) {
        kernel.squared_distance_rows(query.data(), rows, dimension_, out.size(), dimension_,
                                     out.data());
        for (double& score : out) score = 0.0 - std::sqrt(score);  // 0 for equal vectors, not -0
        return;
    }
    kernel.dot_rows(query.data(), rows, dimension_, out.size(), dimension_, out.data());
    if (metric_ == Metric::Cosine) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] /= query_norm * norms_[first + i];
    }
}

}  // namespace braid::dense
