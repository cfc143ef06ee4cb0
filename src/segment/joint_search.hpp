#pragma once

#include <optional>
#include <vector>

#include "braid/segment/tree_search.hpp"

namespace braid::segment {

/// The best rows of a tree whose every hit holds certain words, such as `+fox +owl` or `"red fox"`:
/// the lists of these are intersected, what is found is bounded by how often and in how long texts,
/// and scored as long as it can be among the best. None if the tree has no such words, or some that
/// cannot be bounded. Requires search.bound.
Result<std::optional<std::vector<sparse::ScoredRow>>> search_joint(PartTree& tree,
                                                                   const TreeSearch& search,
                                                                   const BitsPtr& allowed);

}  // namespace braid::segment
