#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "braid/backend.hpp"
#include "braid/json/fields.hpp"
#include "braid/result.hpp"
#include "braid/service/caller.hpp"

namespace braid::service {

/// "collection" and "namespace", for a caller that has the right.
Result<ReadScope> read_scope(json::Fields& fields, const Caller& caller, Access access,
                             std::string_view default_collection = kDefaultCollection);

/// The same, with "filter".
Result<ReadScope> read_filtered_scope(json::Fields& fields, const Caller& caller);

/// A required list of 1 to `limit` strings.
Result<std::vector<std::string>> read_ids(json::Fields& fields, std::string_view key,
                                          std::size_t limit);

/// "if_version".
Result<WriteOptions> read_write_options(json::Fields& fields);

/// A required string that is not blank, of at most `limit` bytes.
Result<std::string> read_text(json::Fields& fields, std::string_view key, std::size_t limit);

/// An integer from `min` to `max`, else `otherwise`.
Result<std::size_t> read_size(json::Fields& fields, std::string_view key, std::size_t otherwise,
                              std::size_t min, std::size_t max);

Array strings_to_array(const std::vector<std::string>& strings);

}  // namespace braid::service
