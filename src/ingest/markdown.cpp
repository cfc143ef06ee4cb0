#include "braid/ingest/markdown.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "braid/ingest/front_matter.hpp"

namespace braid::ingest {
namespace {

struct Line {
    std::string_view text;  // without its line end
    std::size_t begin = 0;
    std::size_t end = 0;  // including its line end
};

std::vector<Line> lines_of(std::string_view text) {
    std::vector<Line> lines;
    std::size_t begin = 0;
    while (begin < text.size()) {
        std::size_t end = text.find('\n', begin);
        end = end == std::string_view::npos ? text.size() : end + 1;
        std::string_view line = text.substr(begin, end - begin);
        while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) {
            line.remove_suffix(1);
        }
        lines.push_back({line, begin, end});
        begin = end;
    }
    return lines;
}

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// Up to three spaces may precede a mark; four make it code.
std::optional<std::string_view> unindented(std::string_view line) {
    const std::size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    if (spaces > 3) return std::nullopt;
    return line.substr(spaces);
}

/// "```" or "~~~", three or more of them.
struct Fence {
    char mark = 0;
    std::size_t length = 0;  // 0: not a fence
    bool bare = false;       // nothing follows the marks

    bool closes(const Fence& open) const {
        return mark == open.mark && length >= open.length && bare;
    }
};

Fence fence_in(std::string_view line) {
    const auto text = unindented(line);
    if (!text || text->empty() || (text->front() != '`' && text->front() != '~')) return {};
    const char mark = text->front();
    const std::size_t length = std::min(text->find_first_not_of(mark), text->size());
    const std::string_view info = without_blanks(text->substr(length));
    // `a` in a line of text is inline code, not a fence.
    if (length < 3 || (mark == '`' && info.find('`') != std::string_view::npos)) return {};
    return {mark, length, info.empty()};
}

struct Heading {
    std::size_t level = 0;
    std::string text;
};

std::optional<Heading> atx_heading(std::string_view line) {
    const auto text = unindented(line);
    if (!text) return std::nullopt;
    const std::size_t level = std::min(text->find_first_not_of('#'), text->size());
    if (level < 1 || level > 6) return std::nullopt;
    if (level < text->size() && (*text)[level] != ' ' && (*text)[level] != '\t') {
        return std::nullopt;
    }
    std::string_view rest = without_blanks(text->substr(level));
    const std::size_t last = rest.find_last_not_of('#');  // closing marks
    if (last == std::string_view::npos) {
        rest = {};
    } else if (last + 1 < rest.size() && rest[last] == ' ') {
        rest = without_blanks(rest.substr(0, last + 1));
    }
    if (rest.size() > kMostHeadingBytes) return std::nullopt;
    return Heading{level, std::string(rest)};
}

/// 1 for a line of "=", 2 for one of "-", else 0.
std::size_t underline_level(std::string_view line) {
    const auto text = unindented(line);
    if (!text) return 0;
    const std::string_view marks = without_blanks(*text);
    if (marks.size() < 2) return 0;
    if (marks.find_first_not_of('=') == std::string_view::npos) return 1;
    if (marks.find_first_not_of('-') == std::string_view::npos) return 2;
    return 0;
}

bool is_plain_text(std::string_view line) {
    const std::string_view text = without_blanks(line);
    return !text.empty() && text.size() <= kMostHeadingBytes &&
           text.find_first_of("#>|`~*+-=") != 0;
}

std::string joined(const std::vector<Heading>& path) {
    std::string text;
    for (const Heading& heading : path) join_heading(text, heading.text);
    return text;
}

/// The paragraphs of text[begin, end).
std::vector<Block> paragraphs_in(std::string_view text, std::size_t first, std::size_t last) {
    std::vector<Block> paragraphs;
    std::size_t begin = 0;
    std::size_t end = 0;  // of the paragraph so far; equal to `begin` if there is none
    Fence fence;
    const auto close = [&] {
        if (end > begin) paragraphs.push_back({first + begin, first + end, 0});
        begin = end;
    };
    for (const Line& line : lines_of(text.substr(first, last - first))) {
        const Fence mark = fence_in(line.text);
        if (fence.length == 0 && mark.length > 0) {
            close();
            fence = mark;
        } else if (fence.length > 0 && mark.closes(fence)) {
            end = line.end;
            fence = {};
            close();
            continue;
        }
        if (fence.length == 0 && without_blanks(line.text).empty()) {
            close();
            continue;
        }
        if (end <= begin) begin = line.begin;
        end = line.end;
    }
    close();
    return paragraphs;
}

}  // namespace

SourceDocument parse_plain(std::string_view text) {
    SourceDocument document;
    document.text = text;
    document.verbatim = true;
    auto blocks = paragraphs_in(text, 0, text.size());
    if (!blocks.empty()) document.sections.push_back({std::nullopt, std::move(blocks), 0});
    return document;
}

SourceDocument parse_markdown(std::string_view text) {
    SourceDocument document;
    document.text = text;
    document.verbatim = true;
    const FrontMatter front = read_front_matter(text);
    document.metadata = front.metadata;
    document.created_at = front.date;
    if (!front.title.empty()) document.title = front.title;
    std::vector<Heading> path;
    std::size_t section_begin = front.bytes;
    Fence fence;

    struct Bare {
        std::size_t level;
        Block line;
    };
    std::optional<Bare> bare;  // the last heading, while nothing is below it
    const auto add_section = [&](std::vector<Block> blocks) {
        bare.reset();
        Section& section = document.sections.emplace_back();
        if (!path.empty()) section.heading = joined(path);
        section.blocks = std::move(blocks);
    };
    const auto close_section = [&](std::size_t end) {
        auto blocks = paragraphs_in(text, section_begin, end);
        if (!blocks.empty()) add_section(std::move(blocks));
    };
    const auto open_section = [&](Heading heading, const Line& line, std::size_t begin) {
        // So that a heading with nothing below it can still be found.
        if (bare && heading.level <= bare->level) add_section({bare->line});
        const std::size_t at = line.text.find(heading.text);
        if (!heading.text.empty() && at != std::string_view::npos) {
            bare = Bare{heading.level, {line.begin + at, line.begin + at + heading.text.size(), 0}};
        }
        if (heading.level == 1 && document.title.value_or(heading.text) == heading.text) {
            document.title = heading.text;
            path.clear();
        } else {
            while (!path.empty() && path.back().level >= heading.level) path.pop_back();
            if (!heading.text.empty()) path.push_back(std::move(heading));
        }
        section_begin = begin;
    };
    std::vector<Line> lines = lines_of(text.substr(front.bytes));
    for (Line& line : lines) {
        line.begin += front.bytes;
        line.end += front.bytes;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const Fence mark = fence_in(lines[i].text);
        if (fence.length > 0) {
            if (mark.closes(fence)) fence = {};
            continue;
        }
        if (mark.length > 0) {
            fence = mark;
            continue;
        }
        if (auto heading = atx_heading(lines[i].text)) {
            close_section(lines[i].begin);
            open_section(*std::move(heading), lines[i], lines[i].end);
        } else if (i + 1 < lines.size() && is_plain_text(lines[i].text) &&
                   underline_level(lines[i + 1].text) > 0 &&
                   (i == 0 || without_blanks(lines[i - 1].text).empty())) {
            close_section(lines[i].begin);
            open_section(
                {underline_level(lines[i + 1].text), std::string(without_blanks(lines[i].text))},
                lines[i], lines[i + 1].end);
            ++i;
        }
    }
    close_section(text.size());
    if (bare) add_section({bare->line});
    return document;
}

}  // namespace braid::ingest
