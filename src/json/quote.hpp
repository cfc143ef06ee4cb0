#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace braid::json {

/// Appends `text` as a JSON string, with its quotes.
void append_quoted(std::string& out, std::string_view text);

/// `text` as a JSON string for messages: cut after `max_code_points`, "…" in place of the rest.
std::string quoted(std::string_view text, std::size_t max_code_points = 40);

}  // namespace braid::json
