#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "braid/value.hpp"

namespace braid::docs {

/// Every name under which something can be found in the metadata, each once: its members, and
/// dotted paths to nested members. Those longer than kMaxPathBytes are left out.
std::set<std::string> metadata_paths(const Object& metadata);

/// What filters and facets call such a path: the path itself, prefixed with "metadata." if it would
/// otherwise name a field of the chunk, an operator ("$or") or nothing ("").
std::string field_of_path(std::string_view path);

/// The fields with a value to filter by, each once: a text, a number, a boolean, or a list with one
/// of these.
std::vector<std::string> fields_with_values(const Object& metadata);

}  // namespace braid::docs
