#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "braid/result.hpp"

namespace braid::core {

/// One step through a text. Where the bytes are not UTF-8, `code_point` is kInvalidBytes and
/// `length` covers the bytes to skip (one to three, never a byte that starts a character).
struct Decoded {
    char32_t code_point;
    std::uint32_t length;

    constexpr bool valid() const noexcept;
};

/// No code point: it lies outside of Unicode.
inline constexpr char32_t kInvalidBytes = 0xFFFFFFFFU;

constexpr bool Decoded::valid() const noexcept {
    return code_point != kInvalidBytes;
}

/// A byte that stands inside a character, not at its start.
constexpr bool continues_character(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Decodes the character at `at`. Requires at < text.size(). Overlong forms, surrogates and values
/// above U+10FFFF are invalid. Walking from 0 by `length` visits every character once.
Decoded decode_at(std::string_view text, std::size_t at) noexcept;

/// Appends the UTF-8 form of `code_point`, which must be a Unicode scalar value.
void append_utf8(std::string& out, char32_t code_point);

/// The number of leading bytes that are valid UTF-8, character for character.
std::size_t valid_utf8_prefix(std::string_view text) noexcept;

/// The position of the first byte that is not UTF-8; npos if there is none.
std::size_t find_invalid_utf8(std::string_view text) noexcept;

bool is_valid_utf8(std::string_view text) noexcept;

/// InvalidArgument "<what> is not valid UTF-8: byte 0xff at offset 17", if it is not.
Result<> require_utf8(std::string_view text, std::string_view what);

/// Characters of `text`; each stretch of invalid bytes that decode_at steps over counts as one.
std::size_t count_code_points(std::string_view text) noexcept;

/// The first `count` code points, or the whole text if it has no more.
std::string_view first_code_points(std::string_view text, std::size_t count) noexcept;

/// The longest prefix of at most `bytes` bytes that does not end inside a character.
std::string_view cut_at_most(std::string_view text, std::size_t bytes) noexcept;

}  // namespace braid::core
