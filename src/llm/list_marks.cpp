#include "braid/llm/list_marks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "braid/core/utf8.hpp"
#include "braid/llm/plain_text.hpp"

namespace braid::llm {
namespace {

constexpr std::size_t kMostLabelBytes = 40;
// Each mark may cost a look at the whole line: a line of nothing but marks must not take for ever.
constexpr int kMostMarks = 32;

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_letter(char c) noexcept {
    return lower(c) >= 'a' && lower(c) <= 'z';
}

/// A letter in ASCII, or the first byte of any character beyond.
bool may_start_word(char c) noexcept {
    return is_letter(c) || static_cast<unsigned char>(c) >= 0x80;
}

/// The byte at `at`, or a space beyond the end.
char peek(std::string_view line, std::size_t at) noexcept {
    return at < line.size() ? line[at] : ' ';
}

std::string_view trimmed(std::string_view line) noexcept {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return line.substr(first, line.find_last_not_of(' ') - first + 1);
}

constexpr std::array<std::string_view, 24> kBullets{"•", "◦", "‣", "⁃", "∙", "·", "▪", "▫",
                                                    "■", "□", "●", "○", "◆", "◇", "►", "▶",
                                                    "▸", "➤", "→", "✓", "✔", "–", "—", "**"};

/// The bytes of the bullet a line begins with; 0 if there is none.
std::size_t bullet_size(std::string_view line) noexcept {
    for (const std::string_view bullet : kBullets) {
        if (line.starts_with(bullet)) return bullet.size();
    }
    if (!line.empty()) {
        const core::Decoded first = core::decode_at(line, 0);
        const bool circled = first.code_point >= 0x2460 && first.code_point <= 0x2473;
        if (circled) return first.length;
    }
    const std::size_t hashes = std::min(line.find_first_not_of('#'), line.size());
    if (hashes > 0) return peek(line, hashes) == ' ' ? hashes : 0;
    constexpr std::string_view ascii = "-*+>";
    if (line.empty() || ascii.find(line.front()) == std::string_view::npos) return 0;
    const char next = peek(line, 1);
    constexpr std::string_view openers = " \"'`*";
    return openers.find(next) != std::string_view::npos || may_start_word(next) ? 1 : 0;
}

/// What may stand after the number of a list's item.
std::size_t closer_size(std::string_view rest, bool opened, bool digits) noexcept {
    const char c = peek(rest, 0);
    const char next = peek(rest, 1);
    if (opened) return (c == ')' || c == ']') && next == ' ' ? 1 : 0;
    if (c == ')') return digits || next == ' ' ? 1 : 0;
    if (!digits) return 0;
    if (rest.starts_with(".)")) return 2;
    if (c == '.' && !is_digit(next)) return 1;
    if (c == ':' && next == ' ') return 1;
    for (const std::string_view wide : {"．", "、", "）", "："}) {
        if (rest.starts_with(wide)) return wide.size();
    }
    for (const std::string_view dash : {" - ", " – ", " — "}) {
        if (rest.starts_with(dash)) {
            return may_start_word(peek(rest, dash.size())) ? dash.size() : 0;
        }
    }
    return 0;
}

/// "1.", "2)", "(3)", "a)", "(iv)"; never "1.5", "E. coli", "10:30" or a year.
std::size_t number_size(std::string_view line) noexcept {
    const bool opened = line.starts_with('(') || line.starts_with('[');
    const std::size_t from = opened ? 1 : 0;
    std::size_t end = from;
    while (end < line.size() && is_digit(line[end])) ++end;
    const bool digits = end > from;
    if (digits) {
        if (end - from > 2) return 0;
    } else {
        while (end < line.size() && is_letter(line[end])) ++end;
        const std::string_view letters = line.substr(from, end - from);
        const bool roman =
            letters.size() <= 4 && letters.find_first_not_of("ivxIVX") == std::string_view::npos;
        if (letters.empty() || (letters.size() > 1 && !roman)) return 0;
    }
    const std::size_t closer = closer_size(line.substr(end), opened, digits);
    return closer == 0 ? 0 : end + closer;
}

constexpr std::array<std::string_view, 16> kLabels{
    "alternative", "alternatives", "alternate", "answer",   "hypothetical", "option",
    "paragraph",   "phrasing",     "query",     "question", "reformulated", "reformulation",
    "rephrased",   "rephrasing",   "search",    "variant"};

bool is_label_word(std::string_view word) noexcept {
    return std::ranges::any_of(kLabels, [word](std::string_view label) {
        return std::equal(word.begin(), word.end(), label.begin(), label.end(),
                          [](char a, char b) { return lower(a) == b; });
    });
}

/// "Query:", "Alternative 2:", "**Option #3**:"; every word before the colon must be one of ours.
std::size_t label_size(std::string_view line) noexcept {
    const std::size_t colon = line.substr(0, kMostLabelBytes).find(':');
    if (colon == std::string_view::npos || colon + 1 == line.size()) return 0;
    bool named = false;
    for (std::size_t at = 0; at < colon;) {
        const std::size_t end = std::min(line.find_first_of(" *#:", at), colon);
        const std::string_view word = line.substr(at, end - at);
        at = end + 1;
        if (std::ranges::all_of(word, is_digit)) continue;
        if (!is_label_word(word)) return 0;
        named = true;
    }
    return named ? colon + 1 : 0;
}

struct Quotes {
    std::string_view open;
    std::string_view close;
};

constexpr std::array<Quotes, 14> kQuotes{{{"\"", "\""},
                                          {"'", "'"},
                                          {"`", "`"},
                                          {"**", "**"},
                                          {"*", "*"},
                                          {"“", "”"},
                                          {"”", "”"},
                                          {"„", "“"},
                                          {"‘", "’"},
                                          {"«", "»"},
                                          {"»", "«"},
                                          {"‹", "›"},
                                          {"「", "」"},
                                          {"『", "』"}}};

/// Whether `mark` stands in `text` other than as an apostrophe, between two characters of a word.
bool stands_in(std::string_view mark, std::string_view text) noexcept {
    const bool apostrophe = mark == "'" || mark == "’";
    for (std::size_t at = text.find(mark); at != std::string_view::npos;
         at = text.find(mark, at + mark.size())) {
        const bool inside = at > 0 && text[at - 1] != ' ' && peek(text, at + mark.size()) != ' ';
        if (!apostrophe || !inside) return true;
    }
    return false;
}

/// Without a quote at one end that was never closed, or never opened.
std::string_view without_lone_quote(std::string_view line) noexcept {
    constexpr std::array<std::string_view, 5> marks{"\"", "“", "”", "„", "`"};
    const auto quotes_in = [&](std::string_view text) {
        return std::ranges::any_of(marks,
                                   [&](std::string_view mark) { return stands_in(mark, text); });
    };
    for (const std::string_view mark : marks) {
        if (line.starts_with(mark) && !quotes_in(line.substr(mark.size()))) {
            return line.substr(mark.size());
        }
        if (line.ends_with(mark) && !quotes_in(line.substr(0, line.size() - mark.size()))) {
            return line.substr(0, line.size() - mark.size());
        }
    }
    return line;
}

/// Without the quotes around the whole line, and what follows them in a list; the line itself if it
/// has none.
std::string_view without_quotes(std::string_view line) noexcept {
    std::string_view quoted = line;
    if (!quoted.empty() && std::string_view(",;.").find(quoted.back()) != std::string_view::npos) {
        quoted.remove_suffix(1);
    }
    for (const std::string_view candidate : {line, quoted}) {
        for (const auto& [open, close] : kQuotes) {
            if (candidate.size() < open.size() + close.size() || !candidate.starts_with(open) ||
                !candidate.ends_with(close)) {
                continue;
            }
            const std::string_view inner =
                candidate.substr(open.size(), candidate.size() - open.size() - close.size());
            if (!stands_in(open, inner) && !stands_in(close, inner)) return inner;
        }
    }
    return without_lone_quote(line);
}

bool in_word(char32_t c) noexcept {
    if (c < 0x80) return is_digit(static_cast<char>(c)) || is_letter(static_cast<char>(c));
    const bool punctuation = c < 0xAA || c == 0xAB || c == 0xB7 || c == 0xBB || c == 0xBF ||
                             (c >= 0x2000 && c <= 0x206F) || (c >= 0x2190 && c <= 0x23FF) ||
                             (c >= 0x2500 && c <= 0x25FF) || (c >= 0x2E00 && c <= 0x2E7F) ||
                             (c >= 0x3001 && c <= 0x3003) || (c >= 0x3008 && c <= 0x3020) ||
                             (c >= 0xFE00 && c <= 0xFE6F) || (c >= 0xFF01 && c <= 0xFF0F) ||
                             (c >= 0xFF1A && c <= 0xFF20);
    return !punctuation;
}

}  // namespace

bool has_word(std::string_view line) noexcept {
    while (!line.empty()) {
        const core::Decoded character = core::decode_at(line, 0);
        if (character.valid() && in_word(character.code_point)) return true;
        line.remove_prefix(character.length);
    }
    return false;
}

bool is_announcement(std::string_view line) noexcept {
    while (line.ends_with('*')) line.remove_suffix(1);
    return line.ends_with(':') || line.ends_with("：");
}

std::string_view without_marks(std::string_view line) noexcept {
    bool numbered = false;
    bool labelled = false;
    for (int round = 0; round < kMostMarks; ++round) {
        line = trimmed(line);
        if (const std::string_view bare = without_quotes(line); bare.size() < line.size()) {
            line = bare;
        } else if (const std::size_t bullet = bullet_size(line); bullet > 0) {
            line.remove_prefix(bullet);
        } else if (const std::size_t number = numbered ? 0 : number_size(line); number > 0) {
            line.remove_prefix(number);
            numbered = true;
        } else if (const std::size_t label = labelled ? 0 : label_size(line); label > 0) {
            line.remove_prefix(label);
            labelled = true;
        } else {
            break;
        }
    }
    return trimmed(line);
}

}  // namespace braid::llm
