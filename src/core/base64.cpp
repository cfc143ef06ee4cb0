#include "braid/core/base64.hpp"

#include <array>
#include <bit>

namespace braid::core {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> kBase64 = [] {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
        values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
    }
    return values;
}();

/// -1 for what is not a digit.
std::int8_t digit_of(char c) noexcept {
    return kBase64[static_cast<unsigned char>(c)];
}

/// Six bits at a time in, eight out.
class Digits {
public:
    std::optional<std::uint8_t> take(std::int8_t digit) noexcept {
        bits_ = (bits_ << 6U) | static_cast<std::uint32_t>(digit);
        held_ += 6;
        if (held_ < 8) return std::nullopt;
        held_ -= 8;
        return static_cast<std::uint8_t>(bits_ >> held_ & 0xffU);
    }

private:
    std::uint32_t bits_ = 0;
    unsigned held_ = 0;
};

}  // namespace

std::string encode_base64(std::span<const std::byte> bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const std::byte byte : bytes) {
        bits = (bits << 8U) | std::to_integer<std::uint32_t>(byte);
        held += 8;
        while (held >= 6) {
            held -= 6;
            text.push_back(kAlphabet[(bits >> held) & 63U]);
        }
    }
    if (held > 0) text.push_back(kAlphabet[(bits << (6 - held)) & 63U]);
    while (text.size() % 4 != 0) text.push_back('=');
    return text;
}

std::optional<std::vector<std::byte>> decode_base64(std::string_view text) {
    if (text.ends_with("==")) {
        text.remove_suffix(2);
        if (text.size() % 4 != 2) return std::nullopt;
    } else if (text.ends_with('=')) {
        text.remove_suffix(1);
        if (text.size() % 4 != 3) return std::nullopt;
    }
    if (text.size() % 4 == 1) return std::nullopt;
    std::vector<std::byte> bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    Digits digits;
    for (const char c : text) {
        if (digit_of(c) < 0) return std::nullopt;
        if (const auto byte = digits.take(digit_of(c))) bytes.push_back(std::byte{*byte});
    }
    return bytes;
}

std::string decode_mail_base64(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    Digits digits;
    for (const char c : text) {
        if (digit_of(c) < 0) continue;
        if (const auto byte = digits.take(digit_of(c))) bytes += static_cast<char>(*byte);
    }
    return bytes;
}

std::string floats_to_base64(std::span<const float> floats) {
    std::vector<std::byte> bytes;
    bytes.reserve(floats.size() * sizeof(float));
    for (const float x : floats) {
        const auto bits = std::bit_cast<std::uint32_t>(x);
        for (unsigned b = 0; b < sizeof(float); ++b) {
            bytes.push_back(static_cast<std::byte>(bits >> (8 * b) & 0xffU));
        }
    }
    return encode_base64(bytes);
}

std::optional<std::vector<float>> floats_from_base64(std::string_view text) {
    const auto bytes = decode_base64(text);
    if (!bytes || bytes->size() % sizeof(float) != 0) return std::nullopt;
    std::vector<float> floats;
    floats.reserve(bytes->size() / sizeof(float));
    for (std::size_t at = 0; at < bytes->size(); at += sizeof(float)) {
        std::uint32_t bits = 0;
        for (std::size_t b = 0; b < sizeof(float); ++b) {
            bits |= std::to_integer<std::uint32_t>((*bytes)[at + b]) << (8 * b);
        }
        floats.push_back(std::bit_cast<float>(bits));
    }
    return floats;
}

}  // namespace braid::core
