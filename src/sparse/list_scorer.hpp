#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "braid/sparse/query_bounds.hpp"
#include "braid/sparse/window_scratch.hpp"

namespace braid::sparse {

/// Exact scores of rows for one query, from the lists and columns of its terms: the same additions
/// in the same order as RowScorer, which is asked where a row has a term more often than its list
/// can say.
class ListScorer {
public:
    /// The arguments must outlive this.
    ListScorer(RowScorer& scorer, const QueryBounds& bounds) noexcept;

    /// False where lists do not say enough: with unequal field weights, or terms without bounds.
    /// Nothing else may be called then.
    bool usable() const noexcept { return usable_; }
    /// Whether finding a row in each list is likely to be cheaper than reading the row's own terms.
    bool finds_fast() const noexcept { return finds_fast_; }

    /// The score if it is at least `least`, otherwise some number below `least`.
    Result<double> score(std::uint32_t row, double least);

    /// The same for several rows of a window, in one walk over its part of each list. Requires a
    /// scratch that has entered the window, and at most kMostSlots rows.
    Result<> score_all(const WindowSpan& window, std::span<const std::uint32_t> rows, double least,
                       WindowScratch& scratch, double* scores);

    static constexpr std::size_t kMostTerms = 32;
    static constexpr std::size_t kMostSlots = 255;
    /// The cost of finding a row in a list, in entries that could be walked instead.
    static constexpr std::size_t kFindCost = 24;

private:
    static constexpr std::uint32_t kMore = 0xFFFFFFFF;

    /// How often the row has the term; kMore if the list does not say.
    std::uint32_t tf_of(const BoundedTerm& term, std::uint32_t row) const noexcept;
    double length_norm_of(std::uint32_t row) const noexcept;
    double sum(std::size_t terms, const std::array<double, kMostTerms>& parts) const noexcept;

    RowScorer* scorer_;
    const QueryBounds* bounds_;
    /// For each term in the order of the query, its place among the bounds.
    std::array<std::uint8_t, kMostTerms> order_{};
    bool usable_ = false;
    bool finds_fast_ = false;
};

}  // namespace braid::sparse
