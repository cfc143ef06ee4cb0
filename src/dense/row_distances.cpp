#include "braid/dense/row_distances.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>

#include "braid/core/parallel.hpp"
#include "braid/kernels/dense.hpp"

namespace braid::dense {
namespace {

constexpr std::size_t kLoadedAtOnce = 64;  // rows a thread takes at a time

}  // namespace

std::uint64_t RowDistances::bytes_for(const VectorsReader& reader) noexcept {
    constexpr std::uint64_t kLine = 64;
    const std::uint64_t row = reader.meta().code_dimensions + sizeof(Scale);
    return reader.size() * ((row + kLine - 1) / kLine * kLine);
}

Result<> RowDistances::load(const VectorsReader& reader, std::unique_ptr<store::Scratch> space,
                            const BuildControl& control) {
    const std::uint64_t count = reader.size();
    m_ = reader.transform()->code_dimensions();
    stride_ = count == 0 ? 0 : bytes_for(reader) / count;
    space_ = std::move(space);
    rows_ = reinterpret_cast<std::int8_t*>(space_->bytes().data());
    BRAID_CHECK(reader.transform()->load());
    std::atomic<bool> failed = false;
    const std::uint64_t pieces = (count + kLoadedAtOnce - 1) / kLoadedAtOnce;
    core::run_computing(pieces, [&](std::size_t piece) {
        std::vector<float> room(reader.meta().dimension);
        const std::uint64_t end = std::min(count, (piece + 1) * kLoadedAtOnce);
        for (std::uint64_t row = piece * kLoadedAtOnce; row < end; ++row) {
            if (control.stop.stop_requested()) return;
            if (!load_row(reader, static_cast<std::uint32_t>(row), room)) failed = true;
        }
    });
    if (failed) return fail(ErrorCode::Corruption, "vectors could not be read for the graph");
    return {};
}

bool RowDistances::load_row(const VectorsReader& reader, std::uint32_t row, std::span<float> room) {
    float length = 1;
    if (reader.meta().metric == Metric::Cosine) {
        const auto norm = reader.vectors().norm(row);
        if (!norm) return false;
        length = static_cast<float>(1 / *norm);
    }
    if (!reader.vectors().copy_row(row, room)) return false;
    std::array<float, kernels::kCodeDimensions> projected;
    // By bytes, as a query: of which bytes are made, too.
    reader.transform()->project_by_bytes(room.data(), length, true, projected.data());
    float largest = 0;
    for (std::size_t i = 0; i < m_; ++i) largest = std::max(largest, std::abs(projected[i]));
    if (!(largest < 1e30F)) return false;
    const float unit = largest > 1e-30F ? largest / 127 : 1;
    std::int8_t* to = rows_ + row * stride_;
    constexpr float kRound = 0x1.8p23F;  // the sum has no room for fractions: to nearest, even
    for (std::size_t i = 0; i < m_; ++i) {
        to[i] = static_cast<std::int8_t>(projected[i] / unit + kRound - kRound);
    }
    const auto square = static_cast<float>(kernels::dense_kernels().dot_i8(to, to, m_));
    const Scale scale{unit, unit * unit * square};
    std::memcpy(to + stride_ - sizeof scale, &scale, sizeof scale);
    return true;
}

RowDistances::Scale RowDistances::scale(std::uint32_t row) const noexcept {
    Scale scale{};
    std::memcpy(&scale, bytes(row) + stride_ - sizeof scale, sizeof scale);
    return scale;
}

void RowDistances::multiply(std::uint32_t row, std::span<const std::uint32_t> others,
                            std::int32_t* products) const noexcept {
    kernels::dense_kernels().dot_i8_rows(bytes(row), bytes(0), stride_, others.data(),
                                         others.size(), m_, products);
}

void RowDistances::measure(std::uint32_t row, std::span<const std::uint32_t> others,
                           std::vector<Near>& near) const {
    constexpr std::size_t kTogether = 64;
    std::array<std::int32_t, kTogether> products;
    const Scale own = scale(row);
    for (std::size_t first = 0; first < others.size(); first += kTogether) {
        const auto some = others.subspan(first, std::min(kTogether, others.size() - first));
        multiply(row, some, products.data());
        for (std::size_t i = 0; i < some.size(); ++i) {
            const Scale other = scale(some[i]);
            near.push_back({own.square + other.square -
                                2 * own.unit * other.unit * static_cast<float>(products[i]),
                            some[i]});
        }
    }
}

std::size_t RowDistances::prune(std::span<const Near> near, float slack, Scratch& scratch,
                                std::span<std::uint32_t> kept) const {
    std::size_t left = near.size();
    scratch.rows.resize(left);
    scratch.distances.resize(left);
    scratch.units.resize(left);
    scratch.squares.resize(left);
    scratch.products.resize(left);
    for (std::size_t i = 0; i < left; ++i) {
        const Scale scale = this->scale(near[i].row);
        scratch.rows[i] = near[i].row;
        scratch.distances[i] = near[i].distance;
        scratch.units[i] = scale.unit;
        scratch.squares[i] = scale.square;
    }
    std::uint32_t* const rows = scratch.rows.data();
    float* const distances = scratch.distances.data();
    float* const units = scratch.units.data();
    float* const squares = scratch.squares.data();
    const std::int32_t* const products = scratch.products.data();
    std::size_t count = 0;
    while (left > 0 && count < kept.size()) {
        kept[count++] = rows[0];
        const Scale own{units[0], squares[0]};
        const std::size_t others = left - 1;
        multiply(rows[0], std::span(scratch.rows).subspan(1, others), scratch.products.data());
        left = 0;
        for (std::size_t i = 0; i < others; ++i) {
            const float between = own.square + squares[i + 1] -
                                  2 * own.unit * units[i + 1] * static_cast<float>(products[i]);
            const float distance = distances[i + 1];
            rows[left] = rows[i + 1];
            distances[left] = distance;
            units[left] = units[i + 1];
            squares[left] = squares[i + 1];
            left += slack * between < distance ? 0 : 1;
        }
    }
    return count;
}

void RowDistances::copy(std::uint32_t row, std::span<float> to) const noexcept {
    const float unit = scale(row).unit;
    const std::int8_t* from = bytes(row);
    for (std::size_t i = 0; i < m_; ++i) to[i] = unit * static_cast<float>(from[i]);
}

}  // namespace braid::dense
