#include "braid/ingest/structured_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace braid::ingest {
namespace {

std::vector<std::string_view> text_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// The mark of an underline of two or more; 0 for any other line.
char underline_mark(std::string_view line) {
    if (line.size() < 2 ||
        std::string_view("=-`:'\"~^_*+#<>.").find(line[0]) == std::string_view::npos) {
        return 0;
    }
    return line.find_first_not_of(line[0]) == std::string_view::npos ? line[0] : '\0';
}

/// Turns paragraphs into a document.
class Paragraphs {
public:
    explicit Paragraphs(DocumentBuilder& builder) : builder_(builder) {}

    void add(std::string_view line, std::uint64_t number) {
        if (text_.empty()) first_ = number;
        text_ += line;
        text_ += '\n';
    }
    void end() {
        builder_.block(text_, first_);
        text_.clear();
    }

private:
    DocumentBuilder& builder_;
    std::string text_;
    std::uint64_t first_ = 0;
};

/// "Author" and "date" become metadata, and so do the others.
void note_field(DocumentBuilder& builder, std::string_view key, std::string_view value) {
    const std::string name = lower_ascii(key);
    if (name == "title") return builder.set_title(value);
    if (name == "date") return builder.date(value);
    if (name == "author" || name == "description" || name == "language" || name == "keywords" ||
        name == "version") {
        builder.note(name, value);
    }
}

}  // namespace

SourceDocument parse_rst(std::string_view text) {
    DocumentBuilder builder;
    Paragraphs paragraph(builder);
    const auto lines = text_lines(text);
    std::string marks;  // in order of level; in upper position if with an overline
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = lines[i];
        const bool over = underline_mark(line) != 0 && i + 2 < lines.size() &&
                          underline_mark(lines[i + 2]) == underline_mark(line) &&
                          !trimmed(lines[i + 1]).empty();
        const std::size_t at = over ? i + 1 : i;
        const char mark = at + 1 < lines.size() ? underline_mark(lines[at + 1]) : '\0';
        const std::string_view title = trimmed(lines[at]);
        const bool free = i == 0 || trimmed(lines[i - 1]).empty();
        if (mark != 0 && !title.empty() && (over || (free && underline_mark(line) == 0)) &&
            lines[at + 1].size() + 1 >= std::min<std::size_t>(title.size(), 4)) {
            paragraph.end();
            const char key = over ? static_cast<char>(mark | 0x80) : mark;
            if (marks.find(key) == std::string::npos) marks += key;
            builder.heading(marks.find(key) + 1, title);
            i = at + 1;
            continue;
        }
        if (trimmed(line).empty()) {
            // Whatever is indented below continues the paragraph: a directive and its content.
            const bool goes_on = i > 0 && i + 1 < lines.size() && lines[i + 1].starts_with(' ') &&
                                 (lines[i - 1].starts_with("..") || lines[i - 1].starts_with(' '));
            if (goes_on) {
                paragraph.add("", i + 1);
            } else {
                paragraph.end();
            }
            continue;
        }
        const std::size_t close =
            line.starts_with(':') ? line.find(": ", 1) : std::string_view::npos;
        if (close != std::string_view::npos && close > 1) {
            note_field(builder, line.substr(1, close - 1), line.substr(close + 1));
        }
        paragraph.add(line, i + 1);
    }
    paragraph.end();
    return builder.take();
}

SourceDocument parse_org(std::string_view text) {
    DocumentBuilder builder;
    Paragraphs paragraph(builder);
    const auto lines = text_lines(text);
    bool in_block = false;
    bool in_drawer = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = lines[i];
        const std::string lower = lower_ascii(trimmed(line));
        if (in_block) {
            paragraph.add(line, i + 1);
            if (lower.starts_with("#+end")) {
                in_block = false;
                paragraph.end();
            }
            continue;
        }
        if (lower == ":properties:" || in_drawer) {
            in_drawer = lower != ":end:";
            continue;
        }
        if (lower.starts_with("#+begin")) {
            paragraph.end();
            in_block = true;
            paragraph.add(line, i + 1);
            continue;
        }
        const std::size_t colon = lower.find(':');
        if (lower.starts_with("#+") && colon != std::string::npos) {
            note_field(builder, lower.substr(2, colon - 2), trimmed(line).substr(colon + 1));
            continue;
        }
        const std::size_t stars = std::min(line.find_first_not_of('*'), line.size());
        if (stars > 0 && stars < line.size() && line[stars] == ' ') {
            paragraph.end();
            // A first-level heading is a section: the title is "#+TITLE:".
            builder.heading(stars + 1, line.substr(stars + 1));
            continue;
        }
        if (trimmed(line).empty()) {
            paragraph.end();
        } else {
            paragraph.add(line, i + 1);
        }
    }
    paragraph.end();
    return builder.take();
}

}  // namespace braid::ingest
