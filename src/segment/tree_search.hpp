#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "braid/segment/part_tree.hpp"
#include "braid/sparse/query.hpp"

namespace braid::segment {

/// Sums taken in another order: a bound may fall below the score by less than this share.
inline constexpr double kRounding = 1e-9;

/// Finds the best rows of a part.
struct TreeSearch {
    const index::TreeScorer& scorer;
    const Schema& schema;
    /// The plain search that finds every row, best first or nearly so; none: every row has to be
    /// looked at.
    const std::optional<sparse::Query>& bound;
    bool bound_is_score = false;
    std::size_t depth = 0;
    bool count_all = false;
    double threshold = 0;  // rows below are not hits
    /// Continues after the last row of an earlier answer.
    std::optional<sparse::ScoredRow> after;
    const CallLimits& limits;
};
struct TreeFound {
    std::vector<sparse::ScoredRow> rows;  // the best, in no order
    std::uint64_t matched = 0;            // if all were to be counted
};
Result<TreeFound> search_part(const PartView& view, const TreeSearch& search);

}  // namespace braid::segment
