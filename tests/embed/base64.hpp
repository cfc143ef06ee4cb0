#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace braid::embed {

/// Base64 of the little-endian bytes of `floats`, padded.
inline std::string base64_of(const std::vector<float>& floats) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::vector<std::uint8_t> bytes;
    for (const float x : floats) {
        const auto bits = std::bit_cast<std::uint32_t>(x);
        for (unsigned b = 0; b < 4; ++b)
            bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * b)));
    }
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t group = 0;
        for (std::size_t b = 0; b < 3; ++b) {
            group = (group << 8U) | (at + b < bytes.size() ? bytes[at + b] : 0U);
        }
        for (unsigned c = 0; c < 4; ++c) {
            const bool beyond = at + c > bytes.size();
            text += beyond ? '=' : alphabet[(group >> (18 - 6 * c)) & 63U];
        }
    }
    return text;
}

}  // namespace braid::embed
