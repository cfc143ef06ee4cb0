#pragma once

#include <string>
#include <string_view>

#include "braid/collection.hpp"
#include "braid/result.hpp"

namespace braid::index {

/// Of ids, namespaces and scopes, those that are stored already included: 1 to 512 bytes of UTF-8.
Result<> check_id(std::string_view id, std::string_view what);

/// Of new ones: no control characters (U+0000 to U+001F, U+007F), which cut texts short, break
/// lines of logs and runs, and make two ids look like one.
Result<> check_characters(std::string_view id, std::string_view what);
/// Of the ids and scopes of a new chunk.
Result<> check_characters(const Chunk& chunk);

/// The id for a message: its beginning, on one line.
std::string shown(std::string_view id);

}  // namespace braid::index
