#include "braid/json/utf8.hpp"

namespace braid::json {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) noexcept {
    return static_cast<unsigned char>(text[i]);
}

std::size_t length_by_lead(unsigned lead) noexcept {
    if (lead < 0xE0) return 2;
    return lead < 0xF0 ? 3 : 4;
}

}  // namespace

Sequence first_sequence(std::string_view text) noexcept {
    const unsigned lead = byte_at(text, 0);
    if (lead < 0x80) return {1, true};
    if (lead < 0xC2 || lead > 0xF4) return {1, false};
    // The second byte is limited further where the code point would be overlong, a surrogate or
    // above U+10FFFF (Unicode, table 3-7).
    unsigned low = 0x80;
    unsigned high = 0xBF;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    const std::size_t length = length_by_lead(lead);
    for (std::size_t i = 1; i < length; ++i) {
        if (i >= text.size() || byte_at(text, i) < low || byte_at(text, i) > high) {
            return {i, false};
        }
        low = 0x80;
        high = 0xBF;
    }
    return {length, true};
}

void append_utf8(std::string& out, char32_t code_point) {
    const auto continuation = [&](unsigned shift) {
        out += static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU));
    };
    if (code_point < 0x80) {
        out += static_cast<char>(code_point);
    } else if (code_point < 0x800) {
        out += static_cast<char>(0xC0U | (code_point >> 6U));
        continuation(0);
    } else if (code_point < 0x10000) {
        out += static_cast<char>(0xE0U | (code_point >> 12U));
        continuation(6);
        continuation(0);
    } else {
        out += static_cast<char>(0xF0U | (code_point >> 18U));
        continuation(12);
        continuation(6);
        continuation(0);
    }
}

}  // namespace braid::json
