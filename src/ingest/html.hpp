#pragma once

#include <string>
#include <string_view>

#include "braid/ingest/source_document.hpp"

namespace braid::ingest {

/// The main text of a page: headings, paragraphs, lists, tables and preformatted text in order; no
/// menus, footers or scripts. If there is a <main>, only its content. The title is <title>,
/// otherwise the first heading; author, date and address come from <meta> and <link>.
SourceDocument parse_html(std::string_view text);

/// Adds a page to a document made of several, such as an e-book.
void add_html(DocumentBuilder& builder, std::string_view text);

/// The texts of an XML file's elements, one block each.
SourceDocument parse_xml(std::string_view text);

/// The encoding declared at the start of a page or an XML file; empty: none.
std::string declared_encoding(std::string_view bytes);

}  // namespace braid::ingest
