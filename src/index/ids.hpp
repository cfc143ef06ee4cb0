#pragma once

#include <string>
#include <string_view>

#include "braid/collection.hpp"
#include "braid/result.hpp"

namespace braid::index {

/// For ids, namespaces and scopes, including stored ones: 1 to 512 bytes of UTF-8.
Result<> check_id(std::string_view id, std::string_view what);

/// For new ones: no control characters (U+0000 to U+001F, U+007F), which cut texts short, break
/// lines of logs and runs, and make two ids look alike.
Result<> check_characters(std::string_view id, std::string_view what);
/// For the ids and scopes of a new chunk.
Result<> check_characters(const Chunk& chunk);

/// The id as a message shows it: its beginning, on one line.
std::string shown(std::string_view id);

}  // namespace braid::index
