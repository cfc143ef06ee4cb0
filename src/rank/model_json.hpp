#pragma once

#include <string>
#include <string_view>

#include "braid/rank/model.hpp"
#include "braid/result.hpp"

namespace braid::rank {

/// The model as a file holds it: JSON, one line; docs/ranking.md.
std::string write_model(const Model& model);

/// Reads what write_model wrote, of this version or an older one. InvalidArgument says what is
/// wrong; Unsupported if it was trained on features that this version does not compute.
Result<Model> read_model(std::string_view text);

}  // namespace braid::rank
