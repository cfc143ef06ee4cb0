#pragma once

#include <functional>
#include <string>
#include <vector>

#include "braid/docs/filter_matcher.hpp"
#include "braid/exact/leg_search.hpp"
#include "braid/exact/visible_rows.hpp"
#include "braid/index/tree_scorer.hpp"
#include "braid/result.hpp"

namespace braid::exact {

/// Calls `use(term, list)` for each term that matches a pattern of the tree.
Result<> each_fitting(
    const Partition& partition, const index::WordTree& tree, const CallLimits& limits,
    const std::function<void(const std::string&, const sparse::PostingList&)>& use);

/// The tree of a query with the statistics it brings, or with those of what is visible.
Result<index::TreeScorer> tree_scorer(const VisibleRows& visible, const index::Query& query,
                                      const CallLimits& limits);

/// Like score_sparse, for a query with a tree: evaluates every row that holds one of its words.
Result<std::vector<ScoredRow>> score_tree(const VisibleRows& visible, const index::Query& query,
                                          const docs::FilterMatcher* filter,
                                          const CallLimits& limits);

}  // namespace braid::exact
