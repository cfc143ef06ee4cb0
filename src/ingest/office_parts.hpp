#pragma once

#include <string_view>

#include "braid/ingest/source_document.hpp"
#include "braid/ingest/zip_archive.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// Title, author, date and language from the Dublin Core elements of a part; none if it is missing.
Result<> read_properties(DocumentBuilder& builder, ZipArchive& archive, std::string_view part);

/// The same, from the part's text.
void note_properties(DocumentBuilder& builder, std::string_view xml);

}  // namespace braid::ingest
