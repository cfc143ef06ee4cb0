#pragma once

#include <string_view>

#include "braid/ingest/source_document.hpp"

namespace braid::ingest {

/// reStructuredText: titles by their underlines, levels in the order the marks first appear; fields
/// such as ":Author:" at the start are metadata; directives are text.
SourceDocument parse_rst(std::string_view text);

/// Org: "* " headings, "#+TITLE:" and its kind are metadata, blocks between "#+BEGIN" and "#+END"
/// stay together.
SourceDocument parse_org(std::string_view text);

/// A mail: subject, sender, date, and its text: the plain one if there is one, else the HTML one.
/// Attachments are named, and not read.
SourceDocument parse_mail(std::string_view bytes);

}  // namespace braid::ingest
