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

/// Where in a line its factor and its offset stand.
inline constexpr std::size_t kFactorPlace = 60;
inline constexpr std::size_t kOffsetPlace = 62;

/// The code of one vector: two bits a dimension and the factors that make of a code's product with
/// a query an estimate of the vector's (as RaBitQ does: Gao and Long, SIGMOD 2024).
struct Code {
    std::array<std::uint8_t, kernels::kLineBytes> line{};
    std::int16_t factor = 0;  // of the high bits alone, for the blocks
    std::int16_t offset = 0;
};

/// A code before its factors are rounded.
struct RawCode {
    float line_factor = 0;
    float block_factor = 0;
    float offset = 0;
};

/// The codes of vectors of these lengths. Requires transform.load().
std::array<Code, 4> encode_four(const Transform& transform,
                                const std::array<const float*, 4>& vectors,
                                const std::array<double, 4>& norms);
/// What encode_four rounds, of a vector and its projection about the mean; fills in the line's
/// bits.
RawCode quantise(const Transform& transform, const float* vector, std::span<const float> projected,
                 Code& code);

/// Sets the bits and factors of vector `place` of a block that was all zero.
void put_into_block(const Code& code, std::size_t place, std::size_t dimensions, bool offsets,
                    std::span<std::uint8_t> block);

/// The code that was written as that line and put into that place of the block.
Code read_code(std::span<const std::byte> line, std::span<const std::byte> block, std::size_t place,
               std::size_t dimensions, bool offsets) noexcept;

/// A query as the kernels want it.
struct CodeQuery {
    kernels::LineQuery line{};
    kernels::BlockQuery block{};
};

/// Nothing where the numbers are too large for floats. Requires transform.load().
std::optional<CodeQuery> prepare_query(const Transform& transform, std::span<const float> query,
                                       double norm);
/// The same for a vector that was projected already (about the mean, where the metric is
/// Euclidean).
std::optional<CodeQuery> prepare_projected(const Transform& transform,
                                           std::span<const float> projected);

}  // namespace braid::dense
