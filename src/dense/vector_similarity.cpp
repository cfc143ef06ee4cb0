#include "braid/vector_similarity.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "braid/dense/exact_rows.hpp"
#include "braid/kernels/kernels.hpp"

namespace braid {
namespace {

Result<> check_lengths(std::span<const float> a, std::span<const float> b) {
    if (a.size() == b.size()) return {};
    return invalid_argument("vectors of " + std::to_string(a.size()) + " and " +
                            std::to_string(b.size()) + " numbers cannot be compared");
}

}  // namespace

Result<double> cosine_similarity(std::span<const float> a, std::span<const float> b) {
    BRAID_CHECK(check_lengths(a, b));
    const double lengths = dense::norm(a) * dense::norm(b);
    if (!(lengths > 0)) return 0.0;
    return std::clamp(kernels::kernels().dot(a.data(), b.data(), a.size()) / lengths, -1.0, 1.0);
}

Result<double> euclidean_distance(std::span<const float> a, std::span<const float> b) {
    BRAID_CHECK(check_lengths(a, b));
    return std::sqrt(kernels::kernels().squared_distance(a.data(), b.data(), a.size()));
}

std::vector<float> normalize(std::span<const float> vector) {
    std::vector<float> out(vector.begin(), vector.end());
    const double length = dense::norm(vector);
    if (!(length > 0)) return out;
    for (float& value : out) value = static_cast<float>(static_cast<double>(value) / length);
    return out;
}

}  // namespace braid
