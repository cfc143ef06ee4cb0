#include "braid/llm/plain_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "braid/json/utf8.hpp"

namespace braid::llm {
namespace {

enum class Kind { Keep, Space, LineEnd, Drop };

struct Range {
    char32_t first;
    char32_t last;
};

template <std::size_t N>
bool in(const std::array<Range, N>& ranges, char32_t c) noexcept {
    return std::any_of(ranges.begin(), ranges.end(),
                       [c](const Range& range) { return c >= range.first && c <= range.last; });
}

constexpr std::array kLineEnds{Range{0x0A, 0x0D}, Range{0x85, 0x85}, Range{0x2028, 0x2029}};
// Controls, spaces of every width, and U+FFFD, which stands for lost bytes.
constexpr std::array kSpaces{Range{0x00, 0x20},     Range{0x7F, 0xA0},     Range{0x1680, 0x1680},
                             Range{0x2000, 0x200B}, Range{0x202F, 0x202F}, Range{0x205F, 0x205F},
                             Range{0x3000, 0x3000}, Range{0xFFFD, 0xFFFD}};
// Nothing to see: soft hyphen, directions, invisible operators, byte order mark, annotations,
// tags, and code points that are no characters. Joiners stay: scripts and pictographs need them.
constexpr std::array kInvisible{
    Range{0xAD, 0xAD},     Range{0x200E, 0x200F}, Range{0x202A, 0x202E}, Range{0x2060, 0x206F},
    Range{0xFDD0, 0xFDEF}, Range{0xFEFF, 0xFEFF}, Range{0xFFF9, 0xFFFB}, Range{0xE0000, 0xE0FFF}};

Kind kind_of(const Character& character) noexcept {
    const char32_t c = character.code_point;
    if (!character.valid) return Kind::Space;
    if (c > 0x20 && c < 0x7F) return Kind::Keep;
    if (in(kLineEnds, c)) return Kind::LineEnd;
    if (in(kSpaces, c)) return Kind::Space;
    if (in(kInvisible, c) || (c & 0xFFFEU) == 0xFFFEU) return Kind::Drop;
    return Kind::Keep;
}

}  // namespace

Character first_character(std::string_view text) noexcept {
    const json::Sequence sequence = json::first_sequence(text);
    const auto lead = static_cast<unsigned char>(text.front());
    if (!sequence.valid) return {0xFFFD, sequence.length, false};
    if (sequence.length == 1) return {lead, 1, true};
    char32_t code_point = lead & (0x7FU >> sequence.length);
    for (std::size_t i = 1; i < sequence.length; ++i) {
        code_point = (code_point << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
    }
    return {code_point, sequence.length, true};
}

std::vector<std::string> harmless_lines(std::string_view text) {
    std::vector<std::string> lines;
    std::string line;
    bool space = false;  // owed before the next character
    const auto end_line = [&] {
        if (!line.empty()) lines.push_back(std::exchange(line, {}));
        space = false;
    };
    while (!text.empty()) {
        const Character character = first_character(text);
        switch (kind_of(character)) {
            case Kind::LineEnd:
                end_line();
                break;
            case Kind::Space:
                space = !line.empty();
                break;
            case Kind::Drop:
                break;
            case Kind::Keep:
                if (std::exchange(space, false)) line += ' ';
                line += text.substr(0, character.length);
        }
        text.remove_prefix(character.length);
    }
    end_line();
    return lines;
}

std::string harmless_line(std::string_view text, std::size_t max_bytes) {
    std::string joined;
    for (const std::string& line : harmless_lines(text)) {
        if (joined.size() > max_bytes) break;
        if (!joined.empty()) joined += ' ';
        joined += line;
    }
    joined.resize(cut_to(joined, max_bytes).size());
    return joined;
}

std::string_view cut_to(std::string_view text, std::size_t max_bytes) noexcept {
    if (text.size() <= max_bytes) return text;
    std::size_t size = max_bytes;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80) --size;
    return text.substr(0, size);
}

std::size_t find_invalid_utf8(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size();) {
        const json::Sequence sequence = json::first_sequence(text.substr(at));
        if (!sequence.valid) return at;
        at += sequence.length;
    }
    return std::string_view::npos;
}

}  // namespace braid::llm
