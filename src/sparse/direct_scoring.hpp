#pragma once

#include <cstdint>
#include <span>

#include "braid/sparse/row_scorer.hpp"
#include "braid/sparse/top_rows.hpp"

namespace braid::sparse {

/// The best score any of the queries gives a row; Okapi's may be negative.
Result<double> best_score(std::span<RowScorer> scorers, std::uint32_t row);

/// Scores every allowed row: cheapest when there are few and, with forward lists, the last resort
/// for queries with very many terms. Returns how many score more than 0.
Result<std::uint64_t> score_allowed(const IndexReader& reader, std::span<RowScorer> scorers,
                                    std::span<const std::uint64_t> allowed, RowSink& sink);

/// The same by walking the lists of all terms: for many rows without forward lists.
Result<std::uint64_t> score_everything(const IndexReader& reader, std::span<RowScorer> scorers,
                                       std::span<const std::uint64_t> allowed, RowSink& sink);

}  // namespace braid::sparse
