#pragma once

#include <cstdint>
#include <vector>

#include "braid/result.hpp"
#include "braid/sparse/index_reader.hpp"

namespace braid::sparse {

/// Bit r % 64 of word r / 64 stands for row r. One word for every 64 rows of the index.
using RowBits = std::vector<std::uint64_t>;

/// Adds the rows that hold a term.
Result<> add_rows(const IndexReader& reader, const TermEntry& term, RowBits& rows);
/// Keeps only rows that hold a term. Looks only where there are some.
Result<> keep_rows(const IndexReader& reader, const TermEntry& term, RowBits& rows);

}  // namespace braid::sparse
