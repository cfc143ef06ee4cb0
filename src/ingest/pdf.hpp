#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "braid/ingest/source_document.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

struct ChildLimits {
    std::chrono::seconds time{60};
    std::size_t memory_bytes = std::size_t{2} << 30;
    std::size_t output_bytes = std::size_t{256} << 20;
};

/// Runs a program with `input` on its standard input and returns what it prints. It has no other
/// open files, is subject to the limits, and is killed when it exceeds one: whatever goes wrong in
/// it costs this call only. NotFound if there is no such program, ResourceExhausted if it prints
/// too much, InvalidArgument if it fails or takes too long.
Result<std::string> run_apart(const std::vector<std::string>& command, std::string_view input,
                              const ChildLimits& limits);

/// The text of a PDF, page by page, by poppler's pdftotext, which runs in a separate process. Lines
/// that are clearly larger than most of the text, and rare, are headings, with one level per size.
/// InvalidArgument if it cannot read the file, or is not installed.
Result<SourceDocument> parse_pdf(std::string_view bytes, const ChildLimits& limits = {});

}  // namespace braid::ingest
