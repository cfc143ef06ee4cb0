#include "braid/ingest/file_work.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <span>

#include "braid/core/sha256.hpp"
#include "braid/core/utf8.hpp"
#include "braid/ingest/document_ids.hpp"
#include "braid/ingest/format.hpp"
#include "braid/ingest/read_source.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kHeadBytes = 8192;
/// The limit for a document stored as one record: a book is found by its parts.
constexpr std::size_t kMostWholeBytes = std::size_t{256} << 10;

Chunk whole_of(const std::string& document_id, const SourceDocument& document) {
    Chunk whole;
    whole.chunk_id = whole.document_id = document_id;
    whole.content = core::cut_at_most(trimmed(document.text), kMostWholeBytes);
    whole.title = document.title;
    whole.created_at = document.created_at;
    whole.metadata = document.metadata;
    return whole;
}

/// Why a file in a folder is passed over if its bytes are of no known format.
std::string reason_against(const std::string& path) {
    const std::string extension = extension_of(path);
    if (extension.empty()) return "of an unsupported format";
    const auto by_name = detect_format(path, "text");
    const bool promises_text = extension == ".txt" || (by_name && by_name->format != Format::Plain);
    return (promises_text ? "not text (" : "unsupported (") + extension + ")";
}

/// The bytes of a file of a known format.
void read_bytes(FileWork& work, std::uint64_t max_bytes) {
    const SourceFile& file = *work.file;
    std::ifstream in(file.path(), std::ios::binary);
    if (!in) return work.settle(FileState::Failed, "it cannot be opened");
    if (file.bytes == 0) return work.settle(FileState::Skipped, "empty");
    std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(file.bytes, kHeadBytes)),
                     '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    const auto format = detect_format(file.path().string(), head);
    if (!format) {
        if (!file.named) {
            return work.settle(FileState::Skipped, reason_against(file.path().string()));
        }
        return work.settle(FileState::Failed, "its format is not supported; braid reads " +
                                                  std::string(supported_formats()));
    }
    work.outcome.format = format_name(format->format);
    if (file.bytes > max_bytes) {
        return work.settle(FileState::Failed, "it has " + std::to_string(file.bytes) +
                                                  " bytes, the limit is " +
                                                  std::to_string(max_bytes));
    }
    work.bytes = std::move(head);
    const std::size_t had = work.bytes.size();
    work.bytes.resize(static_cast<std::size_t>(file.bytes));
    in.read(work.bytes.data() + had, static_cast<std::streamsize>(work.bytes.size() - had));
    if (in.bad()) return work.settle(FileState::Failed, "it cannot be read");
    work.bytes.resize(had + static_cast<std::size_t>(in.gcount()));
}

}  // namespace

void read_file(FileWork& work, std::uint64_t max_bytes, std::string_view settings) {
    read_bytes(work, max_bytes);
    if (work.settled) return;
    const std::string hashed = std::string(settings) + work.bytes;
    work.fingerprint = core::sha256_hex(hashed).substr(0, 32);
}

void cut_file(FileWork& work, const ChunkingOptions& chunking, bool whole) {
    const SourceFile& file = *work.file;
    auto source = read_source(file.path().string(), std::move(work.bytes));
    if (!source) return work.settle(FileState::Failed, source.error().message);
    work.outcome.format = source->format;
    work.outcome.encoding = source->encoding;
    work.warnings = std::move(source->warnings);
    work.failed_lines = std::move(source->failed_lines);
    work.outcome.failed_lines = work.failed_lines.count;
    if (!source->document.title) source->document.title = file.path().stem().string();
    work.chunks = chunk_document(work.stored.document->id, source->document, chunking);
    if (work.chunks.empty()) return work.settle(FileState::Skipped, "without text");
    if (whole) work.whole = whole_of(work.stored.document->id, source->document);
    const auto note_source = [&](Chunk& chunk) {
        chunk.metadata.set(kSource, file.place().generic_string());
        chunk.metadata.set(kSourceRoot, file.root->place.generic_string());
        chunk.metadata.set(kSourcePath, file.below);
        chunk.metadata.set(kSourceKey, work.stored.key);
        chunk.metadata.set(kFingerprintKey, work.fingerprint);
        chunk.metadata.set("source_chunks", work.chunks.size());
        if (work.failed_lines.count > 0) {
            chunk.metadata.set(kFailedLinesKey, work.failed_lines.count);
        }
    };
    for (Chunk& chunk : work.chunks) {
        note_source(chunk);
        work.tokens += chunking.count_tokens ? chunking.count_tokens(chunk.content)
                                             : estimate_tokens(chunk.content);
    }
    if (work.whole) note_source(*work.whole);
    work.outcome.chunks = work.chunks.size();
}

}  // namespace braid::ingest
