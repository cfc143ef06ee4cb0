#include "braid/llm/plain_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "braid/core/utf8.hpp"

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

Kind kind_of(const core::Decoded& character) noexcept {
    const char32_t c = character.code_point;
    if (!character.valid()) return Kind::Space;
    if (c > 0x20 && c < 0x7F) return Kind::Keep;
    if (in(kLineEnds, c)) return Kind::LineEnd;
    if (in(kSpaces, c)) return Kind::Space;
    if (in(kInvisible, c) || (c & 0xFFFEU) == 0xFFFEU) return Kind::Drop;
    return Kind::Keep;
}

}  // namespace

std::vector<std::string> harmless_lines(std::string_view text) {
    std::vector<std::string> lines;
    std::string line;
    bool space = false;  // owed before the next character
    const auto end_line = [&] {
        if (!line.empty()) lines.push_back(std::exchange(line, {}));
        space = false;
    };
    while (!text.empty()) {
        const core::Decoded character = core::decode_at(text, 0);
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
    joined.resize(core::cut_at_most(joined, max_bytes).size());
    return joined;
}

}  // namespace braid::llm
