#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/collection.hpp"
#include "braid/ingest/chunker.hpp"
#include "braid/ingest/file_outcome.hpp"
#include "braid/ingest/stored_files.hpp"
#include "braid/ingest/walk.hpp"

namespace braid::ingest {

/// One file being processed.
struct FileWork {
    const SourceFile* file = nullptr;
    std::string bytes;
    std::string fingerprint;
    StoredFile stored;
    std::vector<Chunk> chunks;
    std::optional<Chunk> whole;  // the document as one record
    std::uint64_t tokens = 0;    // of the chunks
    std::vector<std::string> warnings;
    FailedLines failed_lines;
    FileOutcome outcome;
    bool settled = false;  // the outcome is known; nothing is to be stored
    bool noted = false;    // it is in the report

    void settle(FileState state, std::string reason) {
        outcome.state = state;
        outcome.reason = std::move(reason);
        settled = true;
    }
};

/// Reads the bytes of a file in a known format, and computes its fingerprint from them and
/// `settings`.
void read_file(FileWork& work, std::uint64_t max_bytes, std::string_view settings);

/// Makes chunks of the bytes, under the document id found for the file, and `whole`, one record of
/// all of it.
void cut_file(FileWork& work, const ChunkingOptions& chunking, bool whole);

}  // namespace braid::ingest
