#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace braid::dense {

/// Numbers that depend only on the seed (splitmix64).
class SeededNumbers {
public:
    explicit SeededNumbers(std::uint64_t seed) noexcept : state_(seed) {}
    std::uint64_t next() noexcept;
    /// Roughly normally distributed: a sum of twelve uniform numbers.
    float normal() noexcept;

private:
    std::uint64_t state_;
};

/// `count` orthonormal rows of `length` numbers, in random directions. Requires count <= length.
std::vector<float> random_directions(std::size_t count, std::size_t length, SeededNumbers& numbers);

/// `count` orthonormal rows that come close to spanning the subspace in which the sample (rows of
/// `dimension` numbers) varies most about `mean`, in random directions within it. None if stopped.
/// Requires count <= dimension.
std::optional<std::vector<float>> principal_directions(std::span<const float> sample,
                                                       std::span<const float> mean,
                                                       std::size_t count, SeededNumbers& numbers,
                                                       const std::function<bool()>& stopped);

}  // namespace braid::dense
