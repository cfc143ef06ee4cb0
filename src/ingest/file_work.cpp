#include "braid/ingest/file_work.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <span>

#include "braid/core/sha256.hpp"
#include "braid/ingest/document_ids.hpp"
#include "braid/ingest/format.hpp"
#include "braid/ingest/read_source.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kHeadBytes = 8192;

/// The bytes of a file of a known format.
void read_bytes(FileWork& work, std::uint64_t max_bytes) {
    const SourceFile& file = *work.file;
    std::ifstream in(file.path, std::ios::binary);
    if (!in) return work.settle(FileState::Failed, "it cannot be opened");
    if (file.bytes == 0) return work.settle(FileState::Skipped, "empty");
    std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(file.bytes, kHeadBytes)),
                     '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    const auto format = detect_format(file.path.string(), head);
    if (!format) {
        const std::string extension = extension_of(file.path.string());
        if (!file.named) {
            return work.settle(FileState::Skipped, extension.empty()
                                                       ? "of an unsupported format"
                                                       : "unsupported (" + extension + ")");
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
    work.fingerprint = core::sha256_hex(std::as_bytes(std::span(hashed))).substr(0, 32);
}

void cut_file(FileWork& work, const ChunkingOptions& chunking) {
    const SourceFile& file = *work.file;
    auto source = read_source(file.path.string(), std::move(work.bytes));
    if (!source) return work.settle(FileState::Failed, source.error().message);
    work.outcome.format = source->format;
    work.outcome.encoding = source->encoding;
    work.warnings = std::move(source->warnings);
    if (!source->document.title) source->document.title = file.path.stem().string();
    work.chunks = chunk_document(work.stored.document->id, source->document, chunking);
    if (work.chunks.empty()) return work.settle(FileState::Skipped, "without text");
    for (Chunk& chunk : work.chunks) {
        chunk.metadata.set(kSource, file.place.generic_string());
        chunk.metadata.set(kSourceRoot, file.root.generic_string());
        chunk.metadata.set(kSourcePath, file.below);
        chunk.metadata.set(kSourceKey, work.stored.key);
        chunk.metadata.set(kFingerprintKey, work.fingerprint);
        chunk.metadata.set("source_chunks", work.chunks.size());
    }
    work.outcome.chunks = work.chunks.size();
}

}  // namespace braid::ingest
