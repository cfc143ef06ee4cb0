#pragma once

#include <span>
#include <vector>

#include "braid/result.hpp"

namespace braid {

/// Vectors compared as the engine compares them: in double precision, summed in one fixed order.

/// From -1 to 1; 0 if one of them is all zeros. InvalidArgument if their lengths differ.
Result<double> cosine_similarity(std::span<const float> a, std::span<const float> b);

/// InvalidArgument if their lengths differ.
Result<double> euclidean_distance(std::span<const float> a, std::span<const float> b);

/// A copy scaled to length 1; all zeros stay zeros.
std::vector<float> normalize(std::span<const float> vector);

}  // namespace braid
