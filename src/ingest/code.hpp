#pragma once

#include <string_view>

#include "braid/ingest/source_document.hpp"

namespace braid::ingest {

/// Source code in any language: a section for every definition at the left margin, with the comment
/// above it, headed by its first line; blank lines separate the blocks within.
SourceDocument parse_code(std::string_view text, std::string_view language);

}  // namespace braid::ingest
