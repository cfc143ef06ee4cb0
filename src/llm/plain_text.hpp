#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace braid::llm {

/// Foreign text as lines fit to be searched for or shown: control characters, bytes that are not
/// UTF-8 and every kind of white space become single spaces, invisible characters (marks of
/// direction, tags, byte order marks) vanish, line ends of every kind separate; lines are trimmed
/// and blank ones left out. Always valid UTF-8.
std::vector<std::string> harmless_lines(std::string_view text);

/// The same on one line, cut to at most `max_bytes` between two characters.
std::string harmless_line(std::string_view text, std::size_t max_bytes);

}  // namespace braid::llm
