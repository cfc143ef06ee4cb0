#pragma once

#include <string_view>
#include <vector>

#include "braid/rank/model.hpp"
#include "braid/result.hpp"

namespace braid::rank {

/// The trees of a model in LightGBM's text form (version v4), trained on this version's features
/// without missing or categorical values. InvalidArgument for anything else.
Result<std::vector<Tree>> read_lightgbm(std::string_view text);

}  // namespace braid::rank
