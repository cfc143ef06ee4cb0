#pragma once

#include <cstdint>
#include <string>

namespace braid::core {

/// 0 to 15 for a hexadecimal digit of either case, otherwise -1.
constexpr int hex_digit(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// The last this many digits, in lower case.
inline std::string hex_of(std::uint64_t number, unsigned digits = 16) {
    std::string text(digits, '0');
    for (auto place = text.rbegin(); place != text.rend(); ++place, number >>= 4U) {
        *place = "0123456789abcdef"[number & 15U];
    }
    return text;
}

}  // namespace braid::core
