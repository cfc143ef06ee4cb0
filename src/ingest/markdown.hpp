#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid::ingest {

/// The text between two headings. Views borrow from the parsed text.
struct MarkdownSection {
    std::optional<std::string> heading;    // those above it, below the title, joined by " > "
    std::vector<std::string_view> blocks;  // paragraphs, lists, fenced code
};

struct MarkdownDocument {
    std::optional<std::string> title;  // the first first-level heading, else front matter's `title`
    std::vector<MarkdownSection> sections;
};

/// Finds headings (`# …`, and underlined ones), fenced code and paragraphs; the rest of Markdown is
/// text. Any text is valid. Front matter between `---` lines at the start is not content.
MarkdownDocument parse_markdown(std::string_view text);

/// Runs of lines between blank ones; a fenced code block is one.
std::vector<std::string_view> split_paragraphs(std::string_view text);

}  // namespace braid::ingest
