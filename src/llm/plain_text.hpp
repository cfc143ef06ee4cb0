#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace braid::llm {

/// The code point of a text's first character, and its bytes; `valid` is false where they are no
/// UTF-8.
struct Character {
    char32_t code_point;
    std::size_t length;
    bool valid;
};

/// Requires a text that is not empty.
Character first_character(std::string_view text) noexcept;

/// Foreign text as lines fit to be searched for or shown: control characters, bytes that are not
/// UTF-8 and every kind of white space become single spaces, invisible characters (marks of
/// direction, tags, byte order marks) vanish, line ends of every kind separate; lines are trimmed
/// and blank ones left out. Always valid UTF-8.
std::vector<std::string> harmless_lines(std::string_view text);

/// The same on one line, cut to at most `max_bytes` between two characters.
std::string harmless_line(std::string_view text, std::size_t max_bytes);

/// The longest beginning of at most `max_bytes` bytes that ends between two characters.
std::string_view cut_to(std::string_view text, std::size_t max_bytes) noexcept;

/// Where the first byte that is not UTF-8 stands; npos if there is none.
std::size_t find_invalid_utf8(std::string_view text) noexcept;

}  // namespace braid::llm
