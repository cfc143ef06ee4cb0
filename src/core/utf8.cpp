#include "braid/core/utf8.hpp"

#include <cstring>

namespace braid::core {
namespace {

/// What the first byte of a character says: its length, its payload bits, and the range of the
/// second byte that leaves out overlong forms, surrogates and values above U+10FFFF.
struct Lead {
    std::uint32_t length = 0;  // 0: no character starts with this byte
    unsigned char payload = 0;
    unsigned char second_min = 0x80;
    unsigned char second_max = 0xBF;
};

constexpr Lead lead_of(unsigned char byte) noexcept {
    if (byte < 0xC2) return {};
    if (byte < 0xE0) return {2, static_cast<unsigned char>(byte & 0x1FU)};
    if (byte < 0xF0) {
        Lead lead{3, static_cast<unsigned char>(byte & 0x0FU)};
        if (byte == 0xE0) lead.second_min = 0xA0;
        if (byte == 0xED) lead.second_max = 0x9F;
        return lead;
    }
    if (byte > 0xF4) return {};
    Lead lead{4, static_cast<unsigned char>(byte & 0x07U)};
    if (byte == 0xF0) lead.second_min = 0x90;
    if (byte == 0xF4) lead.second_max = 0x8F;
    return lead;
}

/// The length of the stretch of ASCII at `at`, in steps of eight bytes.
std::size_t ascii_run(std::string_view text, std::size_t at) noexcept {
    const std::size_t start = at;
    while (text.size() - at >= sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, sizeof word);
        if ((word & 0x8080808080808080U) != 0) break;
        at += sizeof word;
    }
    return at - start;
}

}  // namespace

Decoded decode_at(std::string_view text, std::size_t at) noexcept {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80) return {first, 1};
    const Lead lead = lead_of(first);
    if (lead.length == 0) return {kInvalidBytes, 1};
    char32_t code_point = lead.payload;
    for (std::uint32_t i = 1; i < lead.length; ++i) {
        if (at + i >= text.size()) return {kInvalidBytes, i};
        const auto byte = static_cast<unsigned char>(text[at + i]);
        const bool fits = i == 1 ? byte >= lead.second_min && byte <= lead.second_max
                                 : continues_character(static_cast<char>(byte));
        if (!fits) return {kInvalidBytes, i};
        code_point = (code_point << 6U) | (byte & 0x3FU);
    }
    return {code_point, lead.length};
}

void append_utf8(std::string& out, char32_t code_point) {
    const auto tail = [code_point](unsigned shift) {
        return static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU));
    };
    if (code_point < 0x80) {
        out.push_back(static_cast<char>(code_point));
    } else if (code_point < 0x800) {
        const char bytes[] = {static_cast<char>(0xC0U | (code_point >> 6U)), tail(0)};
        out.append(bytes, sizeof bytes);
    } else if (code_point < 0x10000) {
        const char bytes[] = {static_cast<char>(0xE0U | (code_point >> 12U)), tail(6), tail(0)};
        out.append(bytes, sizeof bytes);
    } else {
        const char bytes[] = {static_cast<char>(0xF0U | (code_point >> 18U)), tail(12), tail(6),
                              tail(0)};
        out.append(bytes, sizeof bytes);
    }
}

std::size_t valid_utf8_prefix(std::string_view text) noexcept {
    std::size_t at = 0;
    while (at < text.size()) {
        at += ascii_run(text, at);
        if (at == text.size()) break;
        const Decoded step = decode_at(text, at);
        if (!step.valid()) break;
        at += step.length;
    }
    return at;
}

std::size_t find_invalid_utf8(std::string_view text) noexcept {
    const std::size_t valid = valid_utf8_prefix(text);
    return valid == text.size() ? std::string_view::npos : valid;
}

bool is_valid_utf8(std::string_view text) noexcept {
    return valid_utf8_prefix(text) == text.size();
}

Result<> require_utf8(std::string_view text, std::string_view what) {
    const std::size_t valid = valid_utf8_prefix(text);
    if (valid == text.size()) return {};
    static constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(text[valid]);
    std::string message(what);
    message += " is not valid UTF-8: byte 0x";
    message += kHex[byte >> 4U];
    message += kHex[byte & 0x0FU];
    message += " at offset " + std::to_string(valid);
    return invalid_argument(std::move(message));
}

std::size_t count_code_points(std::string_view text) noexcept {
    std::size_t count = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t ascii = ascii_run(text, at);
        count += ascii;
        at += ascii;
        if (at == text.size()) break;
        at += decode_at(text, at).length;
        ++count;
    }
    return count;
}

std::string_view first_code_points(std::string_view text, std::size_t count) noexcept {
    if (count >= text.size()) return text;
    std::size_t at = 0;
    for (std::size_t i = 0; i < count && at < text.size(); ++i) at += decode_at(text, at).length;
    return text.substr(0, at);
}

std::string_view cut_at_most(std::string_view text, std::size_t bytes) noexcept {
    if (text.size() <= bytes) return text;
    // A character has at most three continuation bytes: more of them in a row are not UTF-8, and
    // any cut is as good as another.
    for (std::size_t back = 0; back < 4 && back <= bytes; ++back) {
        if (!continues_character(text[bytes - back])) {
            return text.substr(0, bytes - back);
        }
    }
    return text.substr(0, bytes);
}

}  // namespace braid::core
