#pragma once

#include <string_view>
#include <vector>

#include "braid/ingest/source_document.hpp"

namespace braid::ingest {

/// Finds headings (`# …`, and underlined ones), fenced code and paragraphs; the rest of Markdown is
/// text. Any text is valid. The title is the first first-level heading, otherwise the front
/// matter's: YAML between `---` lines at the start, which is metadata rather than content
/// (front_matter.hpp).
SourceDocument parse_markdown(std::string_view text);

/// Text without headings: runs of lines separated by blank ones; a fenced code block counts as one.
SourceDocument parse_plain(std::string_view text);

}  // namespace braid::ingest
