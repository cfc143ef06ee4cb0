#pragma once

#include <cstddef>
#include <string_view>

#include "braid/ingest/source_document.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// Documents that are zip archives of XML. InvalidArgument for a damaged or encrypted one, and for
/// one that unpacks to more than `max_bytes`. Titles, authors and dates come from their properties.
///
/// A text document: headings by style, paragraphs, lists, tables, notes.
Result<SourceDocument> parse_docx(std::string_view bytes, std::size_t max_bytes);
Result<SourceDocument> parse_odt(std::string_view bytes, std::size_t max_bytes);
/// A presentation: a page for each slide, headed by its title; notes too.
Result<SourceDocument> parse_pptx(std::string_view bytes, std::size_t max_bytes);
/// A workbook: a section for each sheet; rows under the column names in the first one.
Result<SourceDocument> parse_xlsx(std::string_view bytes, std::size_t max_bytes);
/// An e-book: its chapters in reading order.
Result<SourceDocument> parse_epub(std::string_view bytes, std::size_t max_bytes);

}  // namespace braid::ingest
