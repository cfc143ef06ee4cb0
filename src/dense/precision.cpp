#include "braid/dense/precision.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace braid::dense {
namespace {

/// What 1 stands for: the largest number divided by 127, of its 24 bits the first 17. Cut off, not
/// rounded, so that the largest becomes 127 again whenever that is done.
float unit_of(std::span<const float> vector) noexcept {
    constexpr std::uint32_t kKept = 0xffff'ff80U;
    float largest = 0;
    for (const float x : vector) largest = std::max(largest, std::abs(x));
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(largest / 127) & kKept);
}

/// Returns what 1 stands for; 0 where all numbers are too small for any.
float round_to_bytes(std::span<const float> vector, std::int8_t* to) noexcept {
    constexpr float kRound = 0x1.8p23F;  // the sum has no room for fractions: to nearest, even
    const float unit = unit_of(vector);
    if (unit == 0) {
        std::fill_n(to, vector.size(), std::int8_t{0});
        return 0;
    }
    for (std::size_t i = 0; i < vector.size(); ++i) {
        // Of the smallest floats the unit may lack more than its last bits.
        const float steps = std::clamp(vector[i] / unit, -127.0F, 127.0F);
        to[i] = static_cast<std::int8_t>(steps + kRound - kRound);
    }
    return unit;
}

}  // namespace

void round_to(Precision precision, std::span<float> vector) {
    const kernels::DenseKernels& kernel = kernels::dense_kernels();
    if (precision == Precision::F16) {
        std::vector<std::uint16_t> halves(vector.size());
        kernel.narrow(vector.data(), vector.size(), halves.data());
        kernel.widen(halves.data(), halves.size(), vector.data());
    } else if (precision == Precision::Int8) {
        std::vector<std::int8_t> bytes(vector.size());
        const float unit = round_to_bytes(vector, bytes.data());
        kernel.widen_bytes(bytes.data(), unit, bytes.size(), vector.data());
    }
}

void store_row(Precision precision, std::span<const float> vector, std::vector<std::byte>& to) {
    const std::size_t at = to.size();
    to.resize(at + row_bytes(precision, vector.size()));
    std::byte* const row = to.data() + at;
    switch (precision) {
        case Precision::F32:
            std::ranges::copy(std::as_bytes(vector), row);
            break;
        case Precision::F16: {
            std::vector<std::uint16_t> halves(vector.size());
            kernels::dense_kernels().narrow(vector.data(), vector.size(), halves.data());
            std::ranges::copy(std::as_bytes(std::span(halves)), row);
            break;
        }
        case Precision::Int8: {
            const float unit = round_to_bytes(vector, reinterpret_cast<std::int8_t*>(row));
            std::memcpy(row + vector.size(), &unit, sizeof unit);
            break;
        }
    }
}

void widen_row(Precision precision, std::span<const std::byte> row, std::span<float> to) noexcept {
    switch (precision) {
        case Precision::F32:
            std::copy_n(reinterpret_cast<const float*>(row.data()), to.size(), to.data());
            break;
        case Precision::F16:
            kernels::dense_kernels().widen(reinterpret_cast<const std::uint16_t*>(row.data()),
                                           to.size(), to.data());
            break;
        case Precision::Int8: {
            float unit = 0;
            std::memcpy(&unit, row.data() + to.size(), sizeof unit);
            kernels::dense_kernels().widen_bytes(reinterpret_cast<const std::int8_t*>(row.data()),
                                                 unit, to.size(), to.data());
            break;
        }
    }
}

std::string_view rounded_as(Precision precision) noexcept {
    return precision == Precision::Int8 ? "as 8-bit numbers" : "as 16-bit numbers";
}

}  // namespace braid::dense
