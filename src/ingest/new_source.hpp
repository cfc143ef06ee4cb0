#pragma once

#include <optional>
#include <string>

#include "braid/ingest/directory.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::ingest {

/// A document that is in no file: bytes or a text, from a pipe or a program.
struct NewSource {
    std::string document_id;  // empty: the name
    std::string name;         // says what the bytes are, where they do not themselves
    std::string bytes;
    std::optional<std::string> title;
    Object metadata;  // of every chunk
};

/// Cuts it into chunks and writes them, in place of all the document had; one without text is left
/// without chunks. InvalidArgument if it cannot be read.
Result<DirectoryReport> ingest_source(DirectoryTarget& target, NewSource source,
                                      const DirectoryOptions& options);
Result<DirectoryReport> ingest_source(Database& database, NewSource source,
                                      const DirectoryOptions& options);

/// How a target's embedder counts, and within what it reads, unless the options say how.
Result<ChunkingOptions> chunking_for(DirectoryTarget& target, ChunkingOptions chunking);

}  // namespace braid::ingest
