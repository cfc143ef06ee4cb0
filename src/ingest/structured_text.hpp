#pragma once

#include <string_view>

#include "braid/ingest/source_document.hpp"

namespace braid::ingest {

/// reStructuredText: titles by their underlines, levels in order of the marks' first appearance;
/// fields at the start such as ":Author:" become metadata; directives are text.
SourceDocument parse_rst(std::string_view text);

/// Org: "* " headings; "#+TITLE:" and the like become metadata; blocks between "#+BEGIN" and
/// "#+END" stay together.
SourceDocument parse_org(std::string_view text);

/// A mail: subject, sender, date, and its text: the plain one if there is one, otherwise the HTML
/// one. Attachments are named but not read.
SourceDocument parse_mail(std::string_view bytes);

}  // namespace braid::ingest
