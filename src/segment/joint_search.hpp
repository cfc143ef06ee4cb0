#pragma once

#include <optional>
#include <vector>

#include "braid/segment/tree_search.hpp"

namespace braid::segment {

/// The best rows of a tree whose every hit holds certain words, such as `+fox +owl` or `"red fox"`.
/// Intersects the lists of those words, bounds the score of each row found by how often it has them
/// and how long its texts are, and scores rows as long as one can still be among the best. None if
/// the tree has no such words, or some that cannot be bounded. Requires search.bound.
Result<std::optional<std::vector<sparse::ScoredRow>>> search_joint(PartTree& tree,
                                                                   const TreeSearch& search,
                                                                   const BitsPtr& allowed);

}  // namespace braid::segment
