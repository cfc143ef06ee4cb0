#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/filter.hpp"
#include "braid/json/fields.hpp"
#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/requests.hpp"

namespace braid::service {

/// "collection" and "namespace".
Result<Place> read_place(json::Fields& fields,
                         std::string_view default_collection = kDefaultCollection);
/// The same, for a caller that has the right.
Result<ReadScope> read_scope(json::Fields& fields, const Caller& caller, Access access,
                             std::string_view default_collection = kDefaultCollection);

/// "filter"; none if it is absent or null.
Result<std::optional<Filter>> read_filter(json::Fields& fields);

/// A required list of 1 to `limit` strings.
Result<std::vector<std::string>> read_ids(json::Fields& fields, std::string_view key,
                                          std::size_t limit);

/// "if_version".
Result<std::optional<Version>> read_if_version(json::Fields& fields);

/// A required string that is not blank, of at most `limit` bytes.
Result<std::string> read_text(json::Fields& fields, std::string_view key, std::size_t limit);

/// An integer from `min` to `max`, else `otherwise`.
Result<std::size_t> read_size(json::Fields& fields, std::string_view key, std::size_t otherwise,
                              std::size_t min, std::size_t max);

Array strings_to_array(const std::vector<std::string>& strings);

}  // namespace braid::service
