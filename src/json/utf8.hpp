#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace braid::json {

/// The UTF-8 sequence a text begins with, or, if it is ill-formed, the bytes that one U+FFFD stands
/// for (the longest beginning of some well-formed sequence, at least one byte).
struct Sequence {
    std::size_t length;
    bool valid;
};

/// Requires a text that is not empty.
Sequence first_sequence(std::string_view text) noexcept;

/// Requires a code point up to U+10FFFF that is no surrogate.
void append_utf8(std::string& out, char32_t code_point);

}  // namespace braid::json
