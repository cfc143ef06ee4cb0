#include "braid/ingest/code.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "braid/core/utf8.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kMostHeading = 120;  // bytes of a definition's first line

constexpr auto kDefiningWords = std::to_array<std::string_view>(
    {"def",       "class",     "async",    "function", "export", "fn",           "pub",
     "impl",      "trait",     "struct",   "enum",     "union",  "func",         "type",
     "interface", "namespace", "template", "static",   "public", "private",      "protected",
     "abstract",  "final",     "module",   "sub",      "proc",   "defmodule",    "object",
     "case",      "data",      "create",   "CREATE",   "inline", "constexpr",    "extern",
     "void",      "int",       "bool",     "auto",     "const",  "macro_rules!", "message",
     "service",   "let",       "val",      "fun"});

struct CodeLine {
    std::size_t begin = 0;
    std::size_t end = 0;    // including its line end
    std::string_view text;  // without the line end
};

std::vector<CodeLine> code_lines(std::string_view text) {
    std::vector<CodeLine> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
        std::string_view line = text.substr(begin, end - begin);
        while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
        lines.push_back({begin, end, line});
        begin = end;
    }
    return lines;
}

bool is_comment_or_mark(std::string_view line) {
    for (const std::string_view mark : {"#", "//", "/*", " *", "--", ";", "@", "\"\"\"", "%"}) {
        if (line.starts_with(mark)) return true;
    }
    return false;
}

bool defines(std::string_view line) {
    if (line.empty() || line.front() == ' ' || line.front() == '\t' || line.ends_with(';')) {
        return false;
    }
    const std::string_view word = line.substr(0, line.find_first_of(" \t(<:{"));
    if (std::ranges::find(kDefiningWords, word) != kDefiningWords.end()) return true;
    // "Result<int> name(…) {", "name() {"
    return line.find('(') != std::string_view::npos && line.ends_with('{');
}

std::string heading_of(std::string_view line) {
    line = trimmed(line);
    while (!line.empty() && (line.back() == '{' || line.back() == ':' || line.back() == ' ')) {
        line.remove_suffix(1);
    }
    return squeezed(core::cut_at_most(line, kMostHeading));
}

}  // namespace

SourceDocument parse_code(std::string_view text, std::string_view language) {
    SourceDocument document;
    document.text = text;
    document.verbatim = true;
    if (!language.empty()) document.metadata.set("language", language);
    const std::vector<CodeLine> lines = code_lines(text);
    Section section;
    bool open = false;                  // the last block still takes lines
    std::size_t headed = lines.size();  // the line that heads the section
    const auto close = [&] {
        if (!section.blocks.empty()) document.sections.push_back(std::move(section));
        section = {};
        open = false;
    };
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const CodeLine& line = lines[i];
        if (trimmed(line.text).empty()) {
            open = false;
            continue;
        }
        // A comment or decorator at the margin belongs to what it precedes.
        std::size_t next = i;
        while (!open && next < lines.size() && is_comment_or_mark(lines[next].text)) ++next;
        if (next < lines.size() && next != headed && defines(lines[next].text)) {
            close();
            headed = next;
            section.heading = heading_of(lines[next].text);
        }
        if (!open) {
            section.blocks.push_back({line.begin, line.end, 0});
            open = true;
        }
        section.blocks.back().end = line.end;
    }
    close();
    return document;
}

}  // namespace braid::ingest
