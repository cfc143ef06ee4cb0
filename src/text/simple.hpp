#pragma once

#include <string>
#include <string_view>

#include "braid/text/token_writer.hpp"

namespace braid::text {

/// The `simple` analyzer: the words that Python's `re.findall(r'\w+', text.lower())` finds. `\w` is
/// the underscore and every letter and number of Unicode; combining marks are not. `scratch` keeps
/// its memory from call to call.
void simple_words(std::string_view text, TokenWriter& writer, std::string& scratch);

}  // namespace braid::text
