#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "braid/ingest/source_document.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// Metadata of a chunk: what its source was, "markdown", and in which encoding, if not in UTF-8.
inline constexpr std::string_view kFormatKey = "source_format";
inline constexpr std::string_view kEncodingKey = "source_encoding";

/// What was read of one source.
struct ReadSource {
    SourceDocument document;  // kFormatKey and kEncodingKey are in its metadata
    std::string format;
    std::string encoding;               // of texts; empty for the others
    std::vector<std::string> warnings;  // about bytes that were replaced
    FailedLines failed_lines;
};

struct ReadLimits {
    /// Of what is packed: gzip, zstd, and the parts of an archive together.
    std::size_t unpacked_bytes = std::size_t{256} << 20;
};

/// From the bytes of a file, a request or a pipe to a document, by what detect_format() finds.
/// `name` is the file's, with or without a path. InvalidArgument for what cannot be read, with the
/// reason; a document without sections holds no text.
Result<ReadSource> read_source(std::string_view name, std::string bytes,
                               const ReadLimits& limits = {});

}  // namespace braid::ingest
