#include "braid/text/accents.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <utf8proc.h>

#include "braid/core/utf8.hpp"

namespace braid::text {
namespace {

enum class Alphabet : std::uint8_t { Other, LatinOrGreek, Cyrillic, Hebrew, Arabic };

Alphabet alphabet_of(char32_t c) noexcept {
    if (c < 0x0300) return Alphabet::LatinOrGreek;
    if (c >= 0x0370 && c < 0x0400) return Alphabet::LatinOrGreek;
    if (c >= 0x0400 && c < 0x0530) return Alphabet::Cyrillic;
    if (c >= 0x0590 && c < 0x0600) return Alphabet::Hebrew;
    if (c >= 0x0600 && c < 0x0700) return Alphabet::Arabic;
    if (c >= 0x1E00 && c < 0x2000) return Alphabet::LatinOrGreek;
    return Alphabet::Other;
}

bool is_mark(char32_t c) noexcept {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_MN;
}

constexpr char32_t kAlef = 0x0627;

/// Whether a mark after `base` says nothing a query must repeat.
bool is_optional(char32_t mark, char32_t base) noexcept {
    switch (alphabet_of(base)) {
        case Alphabet::LatinOrGreek:
        case Alphabet::Cyrillic:
        case Alphabet::Hebrew:
            return true;
        case Alphabet::Arabic: {
            const bool hamza = mark >= 0x0653 && mark <= 0x0655;
            return !hamza || base == kAlef;
        }
        case Alphabet::Other:
            return false;
    }
    return false;
}

/// The plain form of a letter that has one without being composed of a letter and a mark.
std::string_view plain_letter(char32_t c) noexcept {
    switch (c) {
        case 0x00E6:
            return "ae";
        case 0x0153:
            return "oe";
        case 0x00F8:
            return "o";
        case 0x0142:
            return "l";
        case 0x0111:
        case 0x00F0:
            return "d";
        case 0x00FE:
            return "th";
        case 0x0127:
            return "h";
        case 0x0167:
            return "t";
        case 0x0131:
            return "i";
        case 0x0451:  // Cyrillic io
        case 0x0450:  // ie with grave
            return "\u0435";
        case 0x045D:  // i with grave
            return "\u0438";
        case 0x0622:  // alef with madda
        case 0x0623:  // with hamza above
        case 0x0625:  // with hamza below
        case 0x0671:  // wasla
            return "\u0627";
        default:
            return {};
    }
}

void append_plain(std::string& out, char32_t c) {
    if (const std::string_view plain = plain_letter(c); !plain.empty()) {
        out += plain;
    } else {
        core::append_utf8(out, c);
    }
}

/// Appends the base letter of a composed Latin or Greek one.
void append_base(std::string& out, char32_t c) {
    static constexpr std::size_t kMax = 8;
    std::array<utf8proc_int32_t, kMax> parts{};
    int boundclass = 0;
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(), kMax,
                                               UTF8PROC_DECOMPOSE, &boundclass);
    for (std::size_t i = 0; i < kMax && static_cast<utf8proc_ssize_t>(i) < count; ++i) {
        const auto part = static_cast<char32_t>(parts[i]);
        if (!is_mark(part)) append_plain(out, part);
    }
}

struct NativeLetters {
    std::string_view language;
    std::u32string_view letters;
};

constexpr NativeLetters kNativeLetters[] = {
    {"arabic", U"\u0622\u0623\u0625\u0671"},  // alef with madda, hamza or wasla
    {"basque", U"ñ"},
    {"catalan", U"àáèéíïòóúüç"},
    {"danish", U"æøå"},
    {"finnish", U"äöåšž"},
    {"french", U"âàçëéêèïîôûùüÿœæ"},
    {"german", U"äöü"},
    {"hungarian", U"áéíóöőüúű"},
    {"irish", U"áéíóú"},
    {"italian", U"àáèéìíòóùú"},
    {"lithuanian", U"ąčęėįšųūž"},
    {"norwegian", U"æøå"},
    {"portuguese", U"áàâãéêíóôõúüç"},
    {"romanian", U"ăâîşșţț"},
    {"serbian", U"čćđšž"},
    {"spanish", U"áéíóúüñ"},
    {"swedish", U"åäö"},
    {"turkish", U"çğıöşüâîû"},
};

}  // namespace

std::u32string_view native_letters(std::string_view language) noexcept {
    const auto* found = std::ranges::find(kNativeLetters, language, &NativeLetters::language);
    return found == std::end(kNativeLetters) ? std::u32string_view() : found->letters;
}

void fold_accents(std::string& word, std::string& buffer, std::u32string_view native) {
    const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    if (std::ranges::all_of(word, is_ascii)) return;
    buffer.clear();
    char32_t base = 0;
    for (std::size_t at = 0; at < word.size();) {
        const auto [c, length] = core::decode_at(word, at);
        if (c < 0x80) {
            base = c;
            buffer.push_back(word[at]);
        } else if (is_mark(c)) {
            if (!is_optional(c, base)) core::append_utf8(buffer, c);
        } else if (native.find(c) != std::u32string_view::npos) {
            base = c;
            core::append_utf8(buffer, c);
        } else {
            base = c;
            if (alphabet_of(c) == Alphabet::LatinOrGreek) {
                append_base(buffer, c);
            } else {
                append_plain(buffer, c);
            }
        }
        at += length;
    }
    word.swap(buffer);
}

}  // namespace braid::text
