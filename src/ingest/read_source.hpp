#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "braid/ingest/source_document.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// Metadata of a chunk: its source's format, "markdown", and its encoding if that is not UTF-8.
inline constexpr std::string_view kFormatKey = "source_format";
inline constexpr std::string_view kEncodingKey = "source_encoding";

/// What was read from one source.
struct ReadSource {
    SourceDocument document;  // kFormatKey and kEncodingKey are in its metadata
    std::string format;
    std::string encoding;               // of texts; empty for other formats
    std::vector<std::string> warnings;  // about replaced bytes
    FailedLines failed_lines;
};

struct ReadLimits {
    /// For packed data: gzip, zstd, and the parts of an archive together.
    std::size_t unpacked_bytes = std::size_t{256} << 20;
};

/// Turns the bytes of a file, a request or a pipe into a document, as detect_format() decides.
/// `name` is the file's, with or without a path. InvalidArgument, with the reason, for what cannot
/// be read; a document without sections holds no text.
Result<ReadSource> read_source(std::string_view name, std::string bytes,
                               const ReadLimits& limits = {});

}  // namespace braid::ingest
