#include "braid/text/char_info.hpp"

#include <algorithm>

#include <utf8proc.h>

namespace braid::text {
namespace {

constexpr char32_t kFractionSlash = 0x2044;

PairScript pair_script_of(char32_t c) noexcept {
    const auto within = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
    if (c < 0x0E00) return PairScript::None;
    if (within(0x0E00, 0x0E7F)) return PairScript::Thai;
    if (within(0x0E80, 0x0EFF)) return PairScript::Lao;
    if (within(0x1000, 0x109F) || within(0xA9E0, 0xA9FF) || within(0xAA60, 0xAA7F)) {
        return PairScript::Myanmar;
    }
    if (within(0x1780, 0x17FF) || within(0x19E0, 0x19FF)) return PairScript::Khmer;
    if (within(0x1100, 0x11FF) || within(0xA960, 0xA97F) || within(0xAC00, 0xD7FF)) {
        return PairScript::Hangul;
    }
    if (within(0x3041, 0x309F) || within(0x1B001, 0x1B11F)) return PairScript::Hiragana;
    // U+30FC, the sound mark that lengthens a vowel, counts as Katakana: it is rare in Hiragana.
    if (within(0x30A0, 0x30FF) || within(0x31F0, 0x31FF)) return PairScript::Katakana;
    if (within(0x3005, 0x3007) || within(0x3021, 0x3029) || within(0x3105, 0x312F) ||
        within(0x3400, 0x4DBF) || within(0x4E00, 0x9FFF) || within(0xF900, 0xFAFF) ||
        within(0x20000, 0x3FFFD)) {
        return PairScript::Han;
    }
    if (within(0x1F1E6, 0x1F1FF)) return PairScript::Flags;
    return PairScript::None;
}

/// The value of a decimal digit of any script. Unicode encodes each set as ten code points in a
/// row, so the number of decimal digits right before `c` is its value.
char32_t ascii_digit(char32_t c) noexcept {
    char32_t value = 0;
    while (value < 9 && utf8proc_category(static_cast<utf8proc_int32_t>(c - value - 1)) ==
                            UTF8PROC_CATEGORY_ND) {
        ++value;
    }
    return U'0' + value;
}

/// Turns the variants of a joiner into the ASCII one; 0 for other characters.
char32_t joiner_of(char32_t c) noexcept {
    switch (c) {
        case U'\'':
        case 0x2019:  // right single quotation mark, the usual apostrophe
        case 0x02BC:  // modifier letter apostrophe
            return U'\'';
        case U'-':
        case 0x2010:  // hyphen; the non-breaking one folds to it
            return U'-';
        case U'.':
        case U',':
        case U'_':
        case U'@':
        case U':':
        case U'&':
        case U'+':
        case U'#':
            return c;
        default:
            return 0;
    }
}

bool is_pictograph(char32_t c) noexcept {
    // Below stand (c), (r) and arrows, which Unicode counts as pictographs as well.
    static constexpr char32_t kFirst = 0x231A;
    return c >= kFirst && utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->boundclass ==
                              UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

/// Hangul vowels and finals that follow an initial consonant: one syllable in several characters.
bool is_trailing_jamo(char32_t c) noexcept {
    return (c >= 0x1160 && c <= 0x11FF) || (c >= 0xD7B0 && c <= 0xD7FB);
}

/// Classifies a character that is folded already.
CharInfo classify(char32_t c) noexcept {
    if (const char32_t joiner = joiner_of(c); joiner != 0) return {joiner, CharKind::Joiner};
    if (is_trailing_jamo(c)) return {c, CharKind::Mark};
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_NO: {
            const PairScript script = pair_script_of(c);
            if (script != PairScript::None) {
                return {c, CharKind::Pair, LetterCase::None, script};
            }
            const bool number =
                utf8proc_category(static_cast<utf8proc_int32_t>(c)) >= UTF8PROC_CATEGORY_ND;
            return {c, number ? CharKind::Digit : CharKind::Letter};
        }
        case UTF8PROC_CATEGORY_ND:
            return {c < 0x80 ? c : ascii_digit(c), CharKind::Digit};
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_MC:
            return {c, CharKind::Mark};
        case UTF8PROC_CATEGORY_ME:  // keycaps and the like
            return {c, CharKind::Ignored};
        case UTF8PROC_CATEGORY_PC:
            return {U'_', CharKind::Joiner};
        case UTF8PROC_CATEGORY_SO:
            if (pair_script_of(c) == PairScript::Flags) {
                return {c, CharKind::Pair, LetterCase::None, PairScript::Flags};
            }
            return {c, is_pictograph(c) ? CharKind::Symbol : CharKind::Separator};
        default:
            return {c, CharKind::Separator};
    }
}

LetterCase case_of(char32_t c) noexcept {
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LT:
            return LetterCase::Upper;
        case UTF8PROC_CATEGORY_LL:
            return LetterCase::Lower;
        default:
            return LetterCase::None;
    }
}

/// Characters whose folding, or the lack of one, would not serve a search. Others: expands = true.
CharInfo special(char32_t c) noexcept {
    switch (c) {
        case 0x200B:  // zero width space: between words of Thai or Khmer
        case 0x2120:  // service mark, else "sm" at the end of a name
        case 0x2122:  // trade mark, else "tm"
            return {c, CharKind::Separator};
        case 0x0640:  // Arabic tatweel only stretches a word
            return {c, CharKind::Ignored};
        default: {
            CharInfo other;
            other.expands = true;
            return other;
        }
    }
}

struct Decomposition {
    std::array<utf8proc_int32_t, kMaxExpansion> chars{};
    std::size_t size = 0;
};

Decomposition fold(char32_t c) noexcept {
    Decomposition out;
    int boundclass = 0;
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): flags, meant to be combined
    static constexpr auto kOptions = static_cast<utf8proc_option_t>(
        UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
    auto size = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), out.chars.data(),
                                        kMaxExpansion - 1, kOptions, &boundclass);
    size = std::clamp<utf8proc_ssize_t>(size, 0, kMaxExpansion - 1);
    if (size > 1) {
        size = utf8proc_normalize_utf32(out.chars.data(), size, UTF8PROC_COMPOSE);
        size = std::max<utf8proc_ssize_t>(size, 0);
    }
    out.size = static_cast<std::size_t>(size);
    return out;
}

CharInfo compute_info(char32_t c) noexcept {
    if (const CharInfo info = special(c); !info.expands) return info;
    const Decomposition folded = fold(c);
    if (folded.size == 0) return {c, CharKind::Ignored};
    if (folded.size > 1) {
        CharInfo info;
        info.expands = true;
        return info;
    }
    CharInfo info = classify(static_cast<char32_t>(folded.chars[0]));
    info.letter_case = case_of(c);
    return info;
}

/// The answers for a stretch of code points that most texts are made of.
template <char32_t First, char32_t Last>
class InfoTable {
public:
    InfoTable() noexcept {
        for (char32_t c = First; c < Last; ++c) infos_[c - First] = compute_info(c);
    }
    const CharInfo& operator[](char32_t c) const noexcept { return infos_[c - First]; }

private:
    std::array<CharInfo, Last - First> infos_;
};

}  // namespace

CharInfo char_info(char32_t code_point) noexcept {
    static constexpr char32_t kAlphabetsEnd =
        0x1000;  // alphabets, abjads, abugidas of India, Thai, Lao
    static constexpr char32_t kExtrasFirst = 0x1E00;  // Latin and Greek with accents,
    static constexpr char32_t kExtrasEnd = 0x2100;    // punctuation, currencies
    static const InfoTable<0, kAlphabetsEnd> kAlphabets;
    static const InfoTable<kExtrasFirst, kExtrasEnd> kExtras;
    if (code_point < kAlphabetsEnd) return kAlphabets[code_point];
    if (code_point >= kExtrasFirst && code_point < kExtrasEnd) return kExtras[code_point];
    // Nearly all of East Asian text; none of these decomposes, or is composed already.
    if ((code_point >= 0x4E00 && code_point <= 0x9FFF) ||
        (code_point >= 0xAC00 && code_point <= 0xD7A3)) {
        return {code_point, CharKind::Pair, LetterCase::None,
                code_point < 0xAC00 ? PairScript::Han : PairScript::Hangul};
    }
    return compute_info(code_point);
}

Expansion expand(char32_t code_point) noexcept {
    Expansion out;
    const Decomposition folded = fold(code_point);
    const auto end = folded.chars.begin() + static_cast<std::ptrdiff_t>(folded.size);
    if (std::find(folded.chars.begin(), end, static_cast<utf8proc_int32_t>(kFractionSlash)) !=
        end) {
        // "3½" is no "31/2".
        out.chars[out.size++] = {U' ', CharKind::Separator};
    }
    LetterCase letter_case = case_of(code_point);
    for (auto c = folded.chars.begin(); c != end; ++c) {
        CharInfo info = classify(static_cast<char32_t>(*c));
        info.letter_case = letter_case;
        if (letter_case == LetterCase::Upper) letter_case = LetterCase::Lower;
        out.chars[out.size++] = info;
    }
    return out;
}

std::size_t compose(char32_t* code_points, std::size_t count) noexcept {
    static constexpr std::size_t kMax = 128;
    std::array<utf8proc_int32_t, kMax> chars{};
    utf8proc_ssize_t size = 0;
    for (std::size_t i = 0; i < count; ++i) {
        int boundclass = 0;
        const auto added = utf8proc_decompose_char(
            static_cast<utf8proc_int32_t>(code_points[i]), chars.data() + size,
            static_cast<utf8proc_ssize_t>(kMax) - size, UTF8PROC_DECOMPOSE, &boundclass);
        if (added < 0 || size + added > static_cast<utf8proc_ssize_t>(kMax)) return count;
        size += added;
    }
    const auto combining_class = [](utf8proc_int32_t c) {
        return utf8proc_get_property(c)->combining_class;
    };
    // Canonical order: marks sorted by class, none past a character of class 0.
    for (utf8proc_ssize_t i = 1; i < size; ++i) {
        const auto moving = combining_class(chars[static_cast<std::size_t>(i)]);
        for (auto k = static_cast<std::size_t>(i);
             moving != 0 && k > 0 && combining_class(chars[k - 1]) > moving; --k) {
            std::swap(chars[k], chars[k - 1]);
        }
    }
    size = utf8proc_normalize_utf32(chars.data(), size, UTF8PROC_COMPOSE);
    if (size < 0 || static_cast<std::size_t>(size) > count) return count;
    std::copy_n(chars.begin(), size, code_points);
    return static_cast<std::size_t>(size);
}

}  // namespace braid::text
