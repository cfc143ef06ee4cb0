#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "braid/sparse/index_writer.hpp"
#include "braid/sparse/memory_postings.hpp"

namespace braid::sparse {

tl::unexpected<Error> term_too_long(std::string_view term);

/// A row in memory that is to go into an index.
struct MemoryRow {
    std::uint32_t row = 0;  // in the postings
    std::uint32_t label = 0;
    FieldCounts lengths{};
    /// Positions of its terms in byte order, see SourceRow; empty: not known. Borrowed.
    std::span<const std::uint32_t> positions;
};

/// Writes an index of some rows of a MemoryPostings, in a new order, with forward lists if it is to
/// have positions. InvalidArgument if a term is longer than kMaxIndexTermBytes. The postings must
/// not change meanwhile.
Result<> write_memory_index(const MemoryPostings& postings, std::span<const MemoryRow> rows,
                            std::uint32_t fields, bool positions, const WriteOptions& options,
                            store::SectionSink& sink);

}  // namespace braid::sparse
