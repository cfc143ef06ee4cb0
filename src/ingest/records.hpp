#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "braid/ingest/source_document.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// Rows under the names of their columns, one block each: "name: value" in lines.
void add_row(DocumentBuilder& builder, const std::vector<std::string>& columns,
             const std::vector<std::string>& row, std::uint64_t line);

/// The first row names the columns. Quotes as in RFC 4180; the separator is whichever of "," ";"
/// tab and "|" occurs most in the first row, unless the file's name tells.
SourceDocument parse_csv(std::string_view text, char separator = 0);

/// A JSON file. The members of a list, or of a list inside an object, are records; a record with a
/// text ("text", "content", "page_content", "body") becomes that text under its title, others
/// become lines of "key: value". InvalidArgument if it is not JSON.
Result<SourceDocument> parse_json(std::string_view text);

/// JSON lines: one record each. Lines that are not JSON are skipped and counted in `failed`.
SourceDocument parse_json_lines(std::string_view text, FailedLines& failed);

/// A Jupyter notebook: its Markdown, its code, and what the code printed.
Result<SourceDocument> parse_notebook(std::string_view text);

}  // namespace braid::ingest
