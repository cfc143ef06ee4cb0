#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "braid/dense/transform.hpp"
#include "braid/kernels/dense.hpp"

namespace braid::dense {

/// Where a line holds its factor and its offset.
inline constexpr std::size_t kFactorPlace = 60;
inline constexpr std::size_t kOffsetPlace = 62;

/// The code of one vector: two bits per dimension, and the factors that turn a code's product with
/// a query into an estimate of the vector's (as in RaBitQ: Gao and Long, SIGMOD 2024).
struct Code {
    std::array<std::uint8_t, kernels::kLineBytes> line{};
    std::int16_t factor = 0;  // for the high bits alone, in blocks
    std::int16_t offset = 0;
};

/// A code before its factors are rounded.
struct RawCode {
    float line_factor = 0;
    float block_factor = 0;
    float offset = 0;
};

/// The code of a vector of that length. Requires transform.load().
Code encode(const Transform& transform, const float* vector, double norm);
/// What encode rounds, of a vector and its projection about the mean; fills in the line's
/// bits.
RawCode quantise(const Transform& transform, const float* vector, std::span<const float> projected,
                 Code& code);

/// Sets the bits and factors of the vector at `place` in a block that was all zero.
void put_into_block(const Code& code, std::size_t place, std::size_t dimensions, bool offsets,
                    std::span<std::uint8_t> block);

/// The code that was written as this line and at this place of the block.
Code read_code(std::span<const std::byte> line, std::span<const std::byte> block, std::size_t place,
               std::size_t dimensions, bool offsets) noexcept;

/// A query in the form that the kernels need.
struct CodeQuery {
    kernels::LineQuery line{};
    kernels::BlockQuery block{};
};

/// None where the numbers are too large for floats. Requires transform.load().
std::optional<CodeQuery> prepare_query(const Transform& transform, std::span<const float> query,
                                       double norm);
/// The same for a vector that is projected already (about the mean, if the metric is Euclidean).
std::optional<CodeQuery> prepare_projected(const Transform& transform,
                                           std::span<const float> projected);

}  // namespace braid::dense
