#pragma once

#include <string>
#include <string_view>

#include "braid/ingest/source_document.hpp"

namespace braid::ingest {

/// The main text of a page: headings, paragraphs, lists, tables and preformatted text in the order
/// they stand; not menus, footers, scripts. If there is a <main>, only what is in it. The title is
/// <title>, else the first heading; author, date and address come from <meta> and <link>.
SourceDocument parse_html(std::string_view text);

/// Adds a page to a document that has several, such as an e-book.
void add_html(DocumentBuilder& builder, std::string_view text);

/// The texts of an XML file's elements, a block each.
SourceDocument parse_xml(std::string_view text);

/// The encoding that the start of a page or an XML file declares; empty: none.
std::string declared_encoding(std::string_view bytes);

}  // namespace braid::ingest
