#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "braid/dense/vectors_options.hpp"
#include "braid/dense/vectors_reader.hpp"
#include "braid/result.hpp"
#include "braid/store/scratch.hpp"

namespace braid::dense {

/// A row, and the square of its distance from another.
struct Near {
    float distance;
    std::uint32_t row;

    friend bool operator<(const Near& a, const Near& b) noexcept {
        return a.distance != b.distance ? a.distance < b.distance : a.row < b.row;
    }
};

/// Distances between the rows of an index with codes, by their rotated vectors as bytes. What a row
/// needs stands together. Safe for concurrent use once loaded.
class RowDistances {
public:
    /// Memory that one call after another uses.
    struct Scratch {
        std::vector<std::uint32_t> rows;
        std::vector<float> distances;
        std::vector<float> units;
        std::vector<float> squares;
        std::vector<std::int32_t> products;
    };

    /// Bytes of memory that `load` needs for so many rows.
    static std::uint64_t bytes_for(const VectorsReader& reader) noexcept;
    /// Uses all cores. Stops early, without an error, if told to.
    Result<> load(const VectorsReader& reader, std::unique_ptr<store::Scratch> space,
                  const BuildControl& control);
    Result<> intact() const { return space_->intact(); }

    /// Appends the squared distance from `row` of each of the others.
    void measure(std::uint32_t row, std::span<const std::uint32_t> others,
                 std::vector<Near>& near) const;
    /// Keeps of rows that come nearest first those to which no kept one is much nearer: whose
    /// distance from it, times `slack`, is below their own. Returns how many it put into `kept`.
    std::size_t prune(std::span<const Near> near, float slack, Scratch& scratch,
                      std::span<std::uint32_t> kept) const;
    /// The row as it would come as a query. Requires room for the dimensions of codes.
    void copy(std::uint32_t row, std::span<float> to) const noexcept;

private:
    struct Scale {
        float unit;
        float square;
    };

    const std::int8_t* bytes(std::uint32_t row) const noexcept { return rows_ + row * stride_; }
    Scale scale(std::uint32_t row) const noexcept;
    void multiply(std::uint32_t row, std::span<const std::uint32_t> others,
                  std::int32_t* products) const noexcept;
    bool load_row(const VectorsReader& reader, std::uint32_t row, std::span<float> room);

    std::size_t m_ = 0;
    std::size_t stride_ = 0;
    std::unique_ptr<store::Scratch> space_;
    std::int8_t* rows_ = nullptr;
};

}  // namespace braid::dense
