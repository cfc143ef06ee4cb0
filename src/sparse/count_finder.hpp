#pragma once

#include <cstdint>
#include <vector>

#include "braid/sparse/index_reader.hpp"

namespace braid::sparse {

/// Finds how often rows have one term, in an index without forward lists. The reader must outlive
/// it.
class CountFinder {
public:
    /// Finds nothing.
    CountFinder() = default;
    static Result<CountFinder> create(const IndexReader& reader, const TermEntry& entry);

    /// False if the row does not hold the term. Requires row < rows().
    bool find(std::uint32_t row, FieldCounts& counts) const noexcept;

private:
    ListView list_;
    // For a run, which is read only once:
    std::vector<std::uint32_t> rows_;
    std::vector<FieldCounts> counts_;
};

}  // namespace braid::sparse
