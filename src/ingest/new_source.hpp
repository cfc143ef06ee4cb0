#pragma once

#include <optional>
#include <string>

#include "braid/ingest/directory.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::ingest {

/// A document that is not in a file: bytes or a text, from a pipe or a program.
struct NewSource {
    std::string document_id;  // empty: the name
    std::string name;         // tells the format of the bytes if they do not themselves
    std::string bytes;
    std::optional<std::string> title;
    Object metadata;  // added to every chunk
};

/// Cuts it into chunks and writes them, replacing everything the document had; if it has no text,
/// the document is left without chunks. InvalidArgument if it cannot be read.
Result<DirectoryReport> ingest_source(DirectoryTarget& target, NewSource source,
                                      const DirectoryOptions& options);
Result<DirectoryReport> ingest_source(Database& database, NewSource source,
                                      const DirectoryOptions& options);

/// How a target's embedder counts, and how much it reads, unless the options say.
Result<ChunkingOptions> chunking_for(DirectoryTarget& target, ChunkingOptions chunking);

}  // namespace braid::ingest
