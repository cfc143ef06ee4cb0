#include "braid/ingest/markdown.hpp"

#include <algorithm>

namespace braid::ingest {
namespace {

struct Line {
    std::string_view text;  // without its end
    std::size_t begin = 0;
    std::size_t end = 0;  // with it
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

/// Up to three spaces may stand before a mark; four make code.
std::optional<std::string_view> unindented(std::string_view line) {
    const std::size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    if (spaces > 3) return std::nullopt;
    return line.substr(spaces);
}

/// "```" or "~~~", three or more; the mark's length, 0 if it is none.
std::size_t fence_length(std::string_view line) {
    const auto text = unindented(line);
    if (!text || text->empty() || (text->front() != '`' && text->front() != '~')) return 0;
    const std::size_t length = std::min(text->find_first_not_of(text->front()), text->size());
    return length >= 3 ? length : 0;
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
    return !text.empty() && text.find_first_of("#>|`~*+-=") != 0;
}

/// Skips front matter; takes its title.
std::size_t front_matter(const std::vector<Line>& lines, std::optional<std::string>& title) {
    if (lines.empty() || without_blanks(lines[0].text) != "---") return 0;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const std::string_view line = without_blanks(lines[i].text);
        if (line == "---" || line == "...") return i + 1;
        if (line.starts_with("title:")) {
            std::string_view value = without_blanks(line.substr(6));
            if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
                value.back() == value.front()) {
                value = value.substr(1, value.size() - 2);
            }
            if (!value.empty()) title = value;
        }
    }
    title.reset();
    return 0;  // never closed: it is text
}

std::string joined(const std::vector<Heading>& path) {
    std::string text;
    for (const Heading& heading : path) {
        if (!text.empty()) text += " > ";
        text += heading.text;
    }
    return text;
}

}  // namespace

std::vector<std::string_view> split_paragraphs(std::string_view text) {
    std::vector<std::string_view> paragraphs;
    std::size_t begin = 0;
    std::size_t end = 0;  // of the paragraph so far; equal to `begin` while there is none
    std::size_t fence = 0;
    const auto close = [&] {
        if (end > begin) paragraphs.push_back(text.substr(begin, end - begin));
        begin = end;
    };
    for (const Line& line : lines_of(text)) {
        const std::size_t mark = fence_length(line.text);
        if (fence == 0 && mark > 0) {
            close();
            fence = mark;
        } else if (fence > 0 && mark >= fence) {
            end = line.end;
            fence = 0;
            close();
            continue;
        }
        if (fence == 0 && without_blanks(line.text).empty()) {
            close();
            continue;
        }
        if (end <= begin) begin = line.begin;
        end = line.end;
    }
    close();
    return paragraphs;
}

MarkdownDocument parse_markdown(std::string_view text) {
    MarkdownDocument document;
    const std::vector<Line> lines = lines_of(text);
    std::optional<std::string> front_title;
    const std::size_t first = front_matter(lines, front_title);
    std::size_t i = first;
    std::vector<Heading> path;
    std::size_t section_begin = i < lines.size() ? lines[i].begin : text.size();
    std::size_t fence = 0;

    const auto close_section = [&](std::size_t end) {
        auto blocks = split_paragraphs(text.substr(section_begin, end - section_begin));
        if (blocks.empty()) return;
        MarkdownSection& section = document.sections.emplace_back();
        if (!path.empty()) section.heading = joined(path);
        section.blocks = std::move(blocks);
    };
    const auto open_section = [&](Heading heading, std::size_t begin) {
        if (heading.level == 1 && !document.title) {
            document.title = heading.text;
            path.clear();
        } else {
            while (!path.empty() && path.back().level >= heading.level) path.pop_back();
            if (!heading.text.empty()) path.push_back(std::move(heading));
        }
        section_begin = begin;
    };
    for (; i < lines.size(); ++i) {
        const std::size_t mark = fence_length(lines[i].text);
        if (mark > 0 && (fence == 0 || mark >= fence)) fence = fence == 0 ? mark : 0;
        if (fence > 0 || mark > 0) continue;
        if (auto heading = atx_heading(lines[i].text)) {
            close_section(lines[i].begin);
            open_section(*std::move(heading), lines[i].end);
        } else if (i + 1 < lines.size() && is_plain_text(lines[i].text) &&
                   underline_level(lines[i + 1].text) > 0 &&
                   (i == first || without_blanks(lines[i - 1].text).empty())) {
            close_section(lines[i].begin);
            open_section(
                {underline_level(lines[i + 1].text), std::string(without_blanks(lines[i].text))},
                lines[i + 1].end);
            ++i;
        }
    }
    close_section(text.size());
    if (!document.title) document.title = std::move(front_title);
    return document;
}

}  // namespace braid::ingest
