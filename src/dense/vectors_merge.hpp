#pragma once

#include <cstdint>
#include <span>

#include "braid/dense/vectors_options.hpp"
#include "braid/dense/vectors_reader.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

/// A row that a merge leaves out.
inline constexpr std::uint32_t kDroppedRow = 0xFFFFFFFF;

/// An index to be merged, with the new number of each of its rows.
struct VectorsInput {
    const VectorsReader* reader = nullptr;
    std::span<const std::uint32_t> numbers;
};

/// Writes one index of the rows of several. The new numbers of the rows that stay are 0, 1, 2 and
/// so on, each used once, increasing along each input. Vectors and their lengths are copied bit for
/// bit. The transform is that of the largest input that has one, whose codes are then copied; it is
/// learned anew if no input has one, or if at least four times as many rows are merged as it was
/// learned from. Holds a few megabytes, 8 bytes per row, and 34 for each row that is coded anew.
/// InvalidArgument if numbers, dimensions, metrics or precisions do not match; Cancelled if told to
/// stop.
Result<> merge_vectors(std::span<const VectorsInput> inputs, const VectorsOptions& options,
                       store::SectionSink& sink, const BuildControl& control = {});

}  // namespace braid::dense
