#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "braid/sparse/index_writer.hpp"
#include "braid/sparse/memory_index.hpp"

namespace braid::sparse {

/// A term of a row and how often it occurs in each text field.
struct TermCounts {
    std::string_view term;
    FieldCounts counts{};
    /// Its positions, field by field, ascending; only with positions.
    std::span<const std::uint32_t> positions{};
};

/// Takes rows one after another, numbered from 0, and writes an index of them. Memory grows with
/// the rows: limit how many there are, and merge indexes for more. Not safe for concurrent use.
class IndexBuilder {
public:
    /// Requires 1 <= fields <= kMaxFields.
    explicit IndexBuilder(std::uint32_t fields, bool positions = false) noexcept
        : fields_(fields), with_positions_(positions) {}

    /// Adds the next row. InvalidArgument, with nothing added, if a term is longer than
    /// kMaxIndexTermBytes, is given twice, or occurs nowhere.
    Result<> add(std::uint32_t label, std::span<const std::uint32_t> lengths,
                 std::span<const TermCounts> terms);

    std::uint32_t rows() const noexcept { return static_cast<std::uint32_t>(rows_.size()); }

    Result<> finish(store::SectionSink& sink, const WriteOptions& options = {}) const;

private:
    std::uint32_t fields_;
    bool with_positions_;
    MemoryPostings postings_;
    std::vector<MemoryRow> rows_;
    std::vector<std::vector<std::uint32_t>> positions_;  // of each
};

}  // namespace braid::sparse
