#include "braid/cli/view/terminal.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include "braid/core/utf8.hpp"
#include "braid/text/display_width.hpp"

namespace braid::cli {
namespace {

struct CodeRange {
    char32_t first;
    char32_t last;
};

// Direction marks, embeddings, overrides and isolates; the byte order mark.
constexpr auto kDropped = std::to_array<CodeRange>({
    {0x061C, 0x061C},
    {0x200E, 0x200F},
    {0x202A, 0x202E},
    {0x2066, 0x2069},
    {0xFEFF, 0xFEFF},
});

template <std::size_t N>
bool is_in(const std::array<CodeRange, N>& ranges, char32_t c) {
    return std::ranges::any_of(ranges,
                               [&](const CodeRange& r) { return c >= r.first && c <= r.last; });
}

bool is_space_or_control(char32_t c) {
    return c <= 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
           c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

constexpr std::size_t kMore = 2;  // columns of " …"

/// What is shown as one unit: a character and the marks on it.
struct Glyph {
    std::string text;
    std::size_t width = 1;
    bool marked = false;

    bool is_space() const { return text == " "; }
};

/// Collects characters as plain() shows them.
class GlyphLine {
public:
    void add(std::string_view text, bool marked) {
        for (std::size_t at = 0; at < text.size();) {
            const core::Decoded step = core::decode_at(text, at);
            const std::string_view bytes = text.substr(at, step.length);
            at += step.length;
            if (!step.valid() || is_in(kDropped, step.code_point)) {
                continue;
            }
            if (is_space_or_control(step.code_point)) {
                if (!glyphs_.empty() && !glyphs_.back().is_space()) {
                    glyphs_.push_back({" ", 1, marked});
                }
                continue;
            }
            const std::size_t width = text::display_width(step.code_point);
            if (width == 0 && !glyphs_.empty()) {
                glyphs_.back().text += bytes;
            } else {
                glyphs_.push_back({std::string(bytes), width, marked});
            }
        }
    }

    std::vector<Glyph> take() {
        if (!glyphs_.empty() && glyphs_.back().is_space()) glyphs_.pop_back();
        return std::move(glyphs_);
    }

private:
    std::vector<Glyph> glyphs_;
};

std::vector<Glyph> glyphs_of(std::string_view text) {
    GlyphLine line;
    line.add(text, false);
    return line.take();
}

/// Puts asterisks around marked stretches.
std::vector<Glyph> with_asterisks(const std::vector<Glyph>& glyphs) {
    std::vector<Glyph> out;
    bool marked = false;
    for (const Glyph& glyph : glyphs) {
        if (glyph.marked != marked) out.push_back({"*", 1, false});
        marked = glyph.marked;
        out.push_back(glyph);
    }
    if (marked) out.push_back({"*", 1, false});
    return out;
}

/// Index after the last glyph of the line that starts at `begin`.
std::size_t line_end(const std::vector<Glyph>& glyphs, std::size_t begin, std::size_t width) {
    std::size_t used = 0;
    std::size_t after_break = begin;  // the line may end before this glyph
    for (std::size_t i = begin; i < glyphs.size(); ++i) {
        if (i > begin && (glyphs[i].is_space() || glyphs[i - 1].is_space() ||
                          glyphs[i].width == 2 || glyphs[i - 1].width == 2)) {
            after_break = i;
        }
        used += glyphs[i].width;
        if (used > width) return after_break > begin ? after_break : std::max(begin + 1, i);
    }
    return glyphs.size();
}

std::string rendered(const std::vector<Glyph>& glyphs, std::size_t begin, std::size_t end,
                     const Style& style) {
    std::string out;
    bool marked = false;
    for (std::size_t i = begin; i < end; ++i) {
        if (glyphs[i].marked != marked && style.colored()) {
            out += glyphs[i].marked ? style.match : style.reset;
        }
        marked = glyphs[i].marked;
        out += glyphs[i].text;
    }
    if (marked && style.colored()) out += style.reset;
    return out;
}

}  // namespace

std::string plain(std::string_view text) {
    std::string out;
    for (const Glyph& glyph : glyphs_of(text)) out += glyph.text;
    return out;
}

Style Style::colors() {
    return {.bold = "\x1b[1m",
            .dim = "\x1b[2m",
            .accent = "\x1b[36m",
            .match = "\x1b[1;33m",
            .warning = "\x1b[33m",
            .reset = "\x1b[0m"};
}

std::vector<std::string> wrapped(const std::vector<Piece>& pieces, std::size_t width,
                                 std::size_t max_lines, const Style& style) {
    GlyphLine line;
    for (const Piece& piece : pieces) line.add(piece.text, piece.marked);
    std::vector<Glyph> glyphs = line.take();
    if (!style.colored()) glyphs = with_asterisks(glyphs);

    std::vector<std::string> lines;
    std::size_t begin = 0;
    while (begin < glyphs.size() && lines.size() < max_lines) {
        while (begin < glyphs.size() && glyphs[begin].is_space()) ++begin;
        std::size_t end = line_end(glyphs, begin, width);
        const bool cut = lines.size() + 1 == max_lines && end < glyphs.size();
        if (cut) end = line_end(glyphs, begin, std::max(width, kMore + 1) - kMore);
        std::size_t shown = end;
        while (shown > begin && glyphs[shown - 1].is_space()) --shown;
        lines.push_back(rendered(glyphs, begin, shown, style) + (cut ? " …" : ""));
        begin = end;
    }
    return lines;
}

std::vector<std::string> text_lines(std::string_view text, std::size_t width) {
    constexpr std::size_t tab = 4;
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        std::size_t indent = 0;
        std::size_t at = 0;
        for (; at < line.size() && (line[at] == ' ' || line[at] == '\t'); ++at) {
            indent += line[at] == '\t' ? tab : 1;
        }
        indent = std::min(indent, width / 2);
        const auto parts = wrapped({{std::string(line.substr(at)), false}}, width - indent,
                                   line.size() + 1, Style::none());
        if (parts.empty()) lines.emplace_back();
        for (const std::string& part : parts) lines.push_back(std::string(indent, ' ') + part);
    }
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    return lines;
}

std::size_t terminal_width(int descriptor) {
    std::size_t width = 80;
    winsize size{};
    const char* const columns = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe): start-up
    if (columns != nullptr) {
        const std::string_view text(columns);
        std::size_t number = 0;
        const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
        if (result.ec == std::errc() && number > 0) width = number;
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): POSIX
    } else if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        width = size.ws_col;
    }
    return std::clamp<std::size_t>(width, 40, 200);
}

}  // namespace braid::cli
