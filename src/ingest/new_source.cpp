#include "braid/ingest/new_source.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "braid/ingest/chunker.hpp"
#include "braid/ingest/read_source.hpp"

namespace braid::ingest {

Result<ChunkingOptions> chunking_for(DirectoryTarget& target, ChunkingOptions chunking) {
    BRAID_TRY(const auto counter, target.token_counter());
    if (!counter || chunking.count_tokens) return chunking;
    chunking.count_tokens = counter->count;
    if (counter->limit > 0) chunking.max_tokens = std::min(chunking.max_tokens, counter->limit);
    return chunking;
}

Result<DirectoryReport> ingest_source(DirectoryTarget& target, NewSource source,
                                      const DirectoryOptions& options) {
    BRAID_TRY(const ChunkingOptions chunking, chunking_for(target, options.chunking));
    if (source.document_id.empty()) source.document_id = source.name;
    ReadSource read;
    const bool empty = trimmed(source.bytes).empty();
    if (!empty) {
        BRAID_TRY(read, read_source(source.name, std::move(source.bytes)));
    }
    if (source.title) read.document.title = std::move(source.title);
    std::vector<Chunk> chunks = chunk_document(source.document_id, read.document, chunking);
    for (Chunk& chunk : chunks) {
        for (const auto& [key, value] : source.metadata) chunk.metadata.set(key, value);
    }
    DirectoryReport report;
    report.files = 1;
    report.written = chunks.empty() ? 0 : 1;
    report.chunks = chunks.size();
    FileOutcome& outcome = report.outcomes.emplace_back();
    outcome.path = source.name;
    outcome.document_id = source.document_id;
    outcome.chunks = chunks.size();
    outcome.format = read.format;
    outcome.encoding = read.encoding;
    outcome.failed_lines = report.failed_lines = read.failed_lines.count;
    report.warnings = read.failed_lines.as_warnings(source.name);
    std::ranges::move(read.warnings, std::back_inserter(report.warnings));
    if (chunks.empty()) {
        outcome.state = FileState::Skipped;
        outcome.reason = empty ? "empty" : "without text";
    }
    if (options.dry_run) return report;
    if (chunks.empty()) {
        BRAID_TRY(report.removed, target.remove({source.document_id}));
        return report;
    }
    BRAID_TRY(const WriteReport written, target.replace(std::move(chunks)));
    report.removed = written.removed;
    report.warnings.insert(report.warnings.end(), written.warnings.begin(), written.warnings.end());
    return report;
}

}  // namespace braid::ingest
