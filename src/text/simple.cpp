#include "braid/text/simple.hpp"

#include <algorithm>
#include <array>

#include <utf8proc.h>

#include "braid/core/utf8.hpp"

namespace braid::text {
namespace {

constexpr char32_t kCapitalSigma = 0x03A3;
constexpr char32_t kFinalSigma = 0x03C2;
constexpr char32_t kSmallSigma = 0x03C3;
constexpr char32_t kCapitalIWithDot = 0x0130;

utf8proc_category_t category_of(char32_t c) noexcept {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_word(char32_t c) noexcept {
    if (c < 0x80) {
        return (c >= U'a' && c <= U'z') || (c >= U'0' && c <= U'9') || c == U'_';
    }
    switch (category_of(c)) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_NO:
            return true;
        default:
            return false;
    }
}

/// Unicode's Case_Ignorable: what the rule of the final sigma looks past.
bool is_case_ignorable(char32_t c) noexcept {
    static constexpr auto kPunctuation =
        std::to_array<char32_t>({0x00B7, 0x0387, 0x055F, 0x05F4, 0x2018, 0x2019, 0x2024, 0x2027,
                                 0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A});
    if (c < 0x80) return c == U'\'' || c == U'.' || c == U':' || c == U'^' || c == U'`';
    switch (category_of(c)) {
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_ME:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_SK:
            return true;
        default:
            return std::ranges::binary_search(kPunctuation, c);
    }
}

/// Unicode's Cased, for a character that is not Case_Ignorable.
bool is_cased(char32_t c) noexcept {
    if (c < 0x80) return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
    switch (category_of(c)) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
            return true;
        default:
            return c == 0x00AA || c == 0x00BA ||      // ordinal indicators
                   (c >= 0x2160 && c <= 0x217F) ||    // Roman numerals
                   (c >= 0x24B6 && c <= 0x24E9) ||    // circled letters
                   (c >= 0x1F130 && c <= 0x1F149) ||  // squared
                   (c >= 0x1F150 && c <= 0x1F169) ||  // negative circled
                   (c >= 0x1F170 && c <= 0x1F189);    // negative squared
    }
}

/// Whether a letter follows at `at`, looking past what is case-ignorable.
bool letter_follows(std::string_view text, std::size_t at) noexcept {
    while (at < text.size()) {
        const auto [c, length] = core::decode_at(text, at);
        if (c == core::kInvalidBytes) return false;
        if (!is_case_ignorable(c)) return is_cased(c);
        at += length;
    }
    return false;
}

/// The lower-case form of one character; U+0130 is left to the caller.
char32_t lower_of(char32_t c) noexcept {
    if (c < 0x80) return c >= U'A' && c <= U'Z' ? c + 0x20 : c;
    return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

constexpr char lower_ascii(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 0x20) : c;
}

constexpr bool is_ascii_word(char c) noexcept {
    const char lower = lower_ascii(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

void simple_words(std::string_view text, TokenWriter& writer, std::string& scratch) {
    std::uint32_t position = 0;
    std::size_t begin = 0;
    bool after_letter = false;  // the last character that is not case-ignorable was cased
    scratch.clear();
    const auto flush = [&](std::size_t end) {
        if (scratch.empty()) return;
        writer.write(scratch, position++, static_cast<std::uint32_t>(begin),
                     static_cast<std::uint32_t>(end));
        scratch.clear();
    };
    for (std::size_t at = 0; at < text.size();) {
        if (is_ascii_word(text[at])) {
            // The same as below for a whole run of them.
            if (scratch.empty()) begin = at;
            for (; at < text.size() && is_ascii_word(text[at]); ++at) {
                if (scratch.size() <= kMaxTermBytes) scratch.push_back(lower_ascii(text[at]));
            }
            after_letter = is_cased(static_cast<unsigned char>(text[at - 1]));
            continue;
        }
        const auto [c, length] = core::decode_at(text, at);
        const std::size_t next = at + length;
        char32_t lower = c;
        if (c == kCapitalSigma) {
            lower = after_letter && !letter_follows(text, next) ? kFinalSigma : kSmallSigma;
        } else if (c != core::kInvalidBytes) {
            lower = lower_of(c);
        }
        if (c == core::kInvalidBytes) {
            after_letter = false;
            flush(at);
        } else {
            if (!is_case_ignorable(c)) after_letter = is_cased(c);
            if (is_word(lower)) {
                if (scratch.empty()) begin = at;
                if (scratch.size() <= kMaxTermBytes) core::append_utf8(scratch, lower);
                // U+0130 becomes an i and a dot above, and a mark is no part of a word.
                if (c == kCapitalIWithDot) flush(next);
            } else {
                flush(at);
            }
        }
        at = next;
    }
    flush(text.size());
}

}  // namespace braid::text
