#include "braid/dense/codes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace braid::dense {
namespace {

constexpr std::size_t kPlaneBytes = 60;
constexpr float kLargestHalf = 65504;

std::int16_t q15(float value) noexcept {
    return static_cast<std::int16_t>(std::lrint(std::clamp(value * 32767, 0.0F, 32767.0F)));
}

void put_half(float value, std::uint8_t* to) noexcept {
    const float kept = std::clamp(value, -kLargestHalf, kLargestHalf);
    std::uint16_t half = 0;
    kernels::dense_kernels().narrow(&kept, 1, &half);
    to[0] = static_cast<std::uint8_t>(half & 255U);
    to[1] = static_cast<std::uint8_t>(half >> 8);
}

void put_word(std::int16_t value, std::uint8_t* to) noexcept {
    to[0] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(value) & 255U);
    to[1] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(value) >> 8);
}

std::int16_t word_at(const std::byte* from) noexcept {
    return static_cast<std::int16_t>(std::to_integer<unsigned>(from[0]) |
                                     std::to_integer<unsigned>(from[1]) << 8);
}

unsigned code_of(const Code& code, std::size_t dimension) noexcept {
    return code.line[dimension % kPlaneBytes] >> (2 * (dimension / kPlaneBytes)) & 3U;
}

}  // namespace

RawCode quantise(const Transform& transform, const float* vector, std::span<const float> projected,
                 Code& code) {
    constexpr float kStep =
        0.98F;  // of the root mean square: optimal for normally distributed numbers in four steps
    const std::size_t m = transform.code_dimensions();
    double square = 0;
    for (std::size_t i = 0; i < m; ++i) square += double{projected[i]} * double{projected[i]};
    const auto step = static_cast<float>(kStep * std::sqrt(square / static_cast<double>(m)));
    double by_line = 0;
    double by_sign = 0;
    for (std::size_t i = 0; i < m; ++i) {
        const float magnitude = std::abs(projected[i]);
        const bool large = magnitude > step;
        const unsigned bits = projected[i] >= 0 ? 2U + unsigned{large} : 1U - unsigned{large};
        code.line[i % kPlaneBytes] =
            static_cast<std::uint8_t>(code.line[i % kPlaneBytes] | bits << (2 * (i / kPlaneBytes)));
        by_line += double{magnitude} * (large ? 1.5 : 0.5);
        by_sign += double{magnitude};
    }
    RawCode raw;
    if (by_sign > 0 && std::isfinite(square)) {
        raw.line_factor = static_cast<float>(square / by_line);
        raw.block_factor = static_cast<float>(square / by_sign);
    }
    if (transform.metric() == Metric::Euclidean) {
        raw.offset = static_cast<float>(std::min(transform.half_square(vector), 1e38));
    }
    return raw;
}

Code encode(const Transform& transform, const float* vector, double norm) {
    const std::size_t m = transform.code_dimensions();
    const float scale = transform.metric() == Metric::Cosine ? static_cast<float>(1 / norm) : 1.0F;
    std::array<float, kernels::kCodeDimensions> projected;
    transform.project_by_bytes(vector, scale, true, projected.data());
    const Transform::Scales& scales = transform.scales();
    Code code;
    const RawCode raw = quantise(transform, vector, std::span(projected).first(m), code);
    put_half(raw.line_factor / scales.line_factor, code.line.data() + kFactorPlace);
    put_half(raw.offset / scales.offset, code.line.data() + kOffsetPlace);
    code.factor = q15(raw.block_factor / scales.block_factor);
    code.offset = q15(raw.offset / scales.offset);
    return code;
}

void put_into_block(const Code& code, std::size_t place, std::size_t dimensions, bool offsets,
                    std::span<std::uint8_t> block) {
    for (std::size_t row = 0; row < dimensions / 8; ++row) {
        unsigned bits = 0;
        for (std::size_t i = 0; i < 8; ++i) bits |= (code_of(code, row * 8 + i) >> 1) << i;
        block[row * kernels::kBlockVectors + kernels::place_in_row(place)] =
            static_cast<std::uint8_t>(bits);
    }
    std::uint8_t* words = block.data() + dimensions / 8 * kernels::kBlockVectors;
    put_word(code.factor, words + 2 * place);
    if (offsets) put_word(code.offset, words + 2 * (kernels::kBlockVectors + place));
}

Code read_code(std::span<const std::byte> line, std::span<const std::byte> block, std::size_t place,
               std::size_t dimensions, bool offsets) noexcept {
    Code code;
    std::memcpy(code.line.data(), line.data(), code.line.size());
    const std::byte* words = block.data() + dimensions / 8 * kernels::kBlockVectors;
    code.factor = word_at(words + 2 * place);
    if (offsets) code.offset = word_at(words + 2 * (kernels::kBlockVectors + place));
    return code;
}

std::optional<CodeQuery> prepare_query(const Transform& transform, std::span<const float> query,
                                       double norm) {
    const bool euclidean = transform.metric() == Metric::Euclidean;
    std::array<float, kernels::kCodeDimensions> projected{};
    const auto scale = euclidean || norm == 0 ? 1.0F : static_cast<float>(1 / norm);
    transform.project_by_bytes(query.data(), scale, euclidean, projected.data());
    return prepare_projected(transform, std::span(projected).first(transform.code_dimensions()));
}

std::optional<CodeQuery> prepare_projected(const Transform& transform,
                                           std::span<const float> projected) {
    const std::size_t m = projected.size();
    const bool euclidean = transform.metric() == Metric::Euclidean;
    float largest = 0;
    float largest_chunk = 0;
    for (std::size_t chunk = 0; chunk < m; chunk += kernels::kCodeChunk) {
        float sum = 0;
        for (std::size_t i = chunk; i < chunk + kernels::kCodeChunk; ++i) {
            sum += std::abs(projected[i]);
            largest = std::max(largest, std::abs(projected[i]));
        }
        largest_chunk = sum <= largest_chunk ? largest_chunk : sum;  // a NaN is kept
    }
    if (!(largest_chunk < 1e30F)) return std::nullopt;
    const float line_unit = largest > 1e-30F ? largest / 127 : 1;
    // Rounding adds at most one half for each of the 48 numbers of a chunk.
    const float block_unit = largest_chunk > 1e-30F ? largest_chunk / 231 : 1;
    CodeQuery query;
    std::array<std::int16_t, kernels::kCodeDimensions> weights{};
    for (std::size_t i = 0; i < m; ++i) {
        const auto weight = static_cast<std::int8_t>(std::lrint(projected[i] / line_unit));
        query.line.weights[i / kPlaneBytes][i % kPlaneBytes] = weight;
        query.line.bias += 3 * weight;
        weights[i] = static_cast<std::int16_t>(std::lrint(projected[i] / block_unit));
    }
    const Transform::Scales& scales = transform.scales();
    query.line.scale = line_unit * scales.line_factor;
    query.line.offset_scale = euclidean ? scales.offset : 0;
    query.block.byte_rows = m / 8;
    query.block.offsets = euclidean;
    if (euclidean) {
        // Both terms in the same unit, and small enough for 16 bits.
        const float ratio = 16 * scales.offset / (block_unit * scales.block_factor);
        const float shrink = std::min(1.0F, 32000 / std::max(ratio, 1.0F));
        query.block.alpha = static_cast<std::int16_t>(std::lrint(shrink * 32767));
        query.block.beta =
            static_cast<std::int16_t>(std::lrint(std::min(shrink * ratio, 32000.0F)));
    }
    kernels::dense_kernels().prepare_blocks(weights.data(), query.block);
    return query;
}

}  // namespace braid::dense
