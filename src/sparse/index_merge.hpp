#pragma once

#include <cstdint>
#include <span>

#include "braid/sparse/index_reader.hpp"
#include "braid/sparse/index_writer.hpp"

namespace braid::sparse {

/// A row that a merge leaves out.
inline constexpr std::uint32_t kDroppedRow = 0xFFFFFFFF;

/// An index to be merged, with the new number of each of its rows.
struct MergeInput {
    const IndexReader* reader = nullptr;
    std::span<const std::uint32_t> numbers;
};

/// Writes one index of the rows of several. The new numbers of the rows that stay are 0, 1, 2 and
/// so on, each used once, increasing along each input. Memory is bounded by the options plus a few
/// bytes per row and term. InvalidArgument if the row numbers or the numbers of fields do not
/// match.
Result<> merge_indexes(std::span<const MergeInput> inputs, const WriteOptions& options,
                       store::SectionSink& sink);

}  // namespace braid::sparse
