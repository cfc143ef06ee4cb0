#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "braid/kernels/dense.hpp"
#include "braid/types.hpp"

/// How a vector's numbers are stored. They are rounded once, when the vector is written: what was
/// rounded before is stored as it is, and comes back as it was.
namespace braid::dense {

using braid::Precision;

/// Bytes of a stored vector.
constexpr std::uint64_t row_bytes(Precision precision, std::uint64_t dimension) noexcept {
    switch (precision) {
        case Precision::F32:
            return 4 * dimension;
        case Precision::F16:
            return 2 * dimension;
        case Precision::Int8:
            break;
    }
    return kernels::byte_row_size(dimension);
}

/// Makes each number the nearest one that is stored. F16: infinity beyond the largest. Int8: the
/// largest number of the vector is 127 times the one that 1 stands for, which has 17 bits so that
/// all products are floats. Requires finite numbers.
void round_to(Precision precision, std::span<float> vector);

/// Appends what is stored of a vector.
void store_row(Precision precision, std::span<const float> vector, std::vector<std::byte>& to);

/// A stored vector's numbers as floats: those that round_to leaves. Requires as many bytes as
/// row_bytes says.
void widen_row(Precision precision, std::span<const std::byte> row, std::span<float> to) noexcept;

/// "as 16-bit numbers": begins the message about a vector that cannot be compared once it is
/// rounded.
std::string_view rounded_as(Precision precision) noexcept;

}  // namespace braid::dense
