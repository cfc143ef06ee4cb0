#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/result.hpp"

namespace braid::local {

/// The format of manifest and records together: an older braid refuses what it would misread.
inline constexpr std::uint32_t kManifestFormat = 3;
/// From these formats on: the log may hold replacements of documents; the log has a mark of its
/// length.
inline constexpr std::uint32_t kReplacingFormat = 2;
inline constexpr std::uint32_t kMarkedFormat = 3;

/// For a manifest that names segments or more than one log. Others keep their format, so that an
/// older braid can read them.
inline constexpr std::uint32_t kSegmentsFormat = 4;
/// Like that one, and chunks may expire.
inline constexpr std::uint32_t kExpiringFormat = 5;
/// Like that one, and namespaces may be dropped as a whole.
inline constexpr std::uint32_t kDroppingFormat = 6;
/// Like that one, for a schema that asks for positions, or for vectors in 16 bits.
inline constexpr std::uint32_t kPositionsFormat = 7;
/// As that, of a schema that asks for vectors in 8 bits.
inline constexpr std::uint32_t kBytesFormat = 8;
inline constexpr std::uint32_t kNewestFormat = kBytesFormat;

/// A file of chunks and indexes: "segment-000042", see docs/formats/segment.md.
struct SegmentEntry {
    std::uint64_t generation = 0;
    std::uint64_t rows = 0;   // including rows deleted since
    std::uint64_t bytes = 0;  // of the file

    friend bool operator==(const SegmentEntry&, const SegmentEntry&) = default;
};

/// What a collection's directory holds (docs/formats/manifest.md). Replaced as a whole when it
/// changes.
struct Manifest {
    Schema schema;
    std::string log;           // file name of the log being written
    Version version_base = 0;  // a write's version is its sequence number plus this
    /// Logs whose records precede those of `log`, oldest first: they are removed once they are
    /// flushed.
    std::vector<std::string> older_logs;
    std::uint64_t flushed = 0;               // the last record that is in segments and in no log
    std::vector<SegmentEntry> segments;      // oldest first
    std::uint64_t deletes = 0;               // the file of their dead rows; 0: none
    std::uint64_t next_generation = 1;       // no file has this number yet, or a higher one
    std::uint32_t format = kManifestFormat;  // of the file, not of its content

    /// All of them, oldest first.
    std::vector<std::string> logs() const {
        std::vector<std::string> all = older_logs;
        all.push_back(log);
        return all;
    }
    friend bool operator==(const Manifest& a, const Manifest& b) {
        return a.schema == b.schema && a.log == b.log && a.version_base == b.version_base &&
               a.older_logs == b.older_logs && a.flushed == b.flushed && a.segments == b.segments &&
               a.deletes == b.deletes && a.next_generation == b.next_generation;
    }
};

inline constexpr std::string_view kManifestName = "manifest";
/// The same bytes again, or those of a little earlier: see manifest_recovery.hpp.
inline constexpr std::string_view kManifestCopyName = "manifest-copy";
/// Counts of what the segments hold that a manifest names; derived from them, never needed.
inline constexpr std::string_view kCountsName = "counts";
/// An empty file beside it while the collection is being filled: see begin_collection.
inline constexpr std::string_view kUnfinishedMark = "unfinished";
/// The manifest of a rewrite that has not yet taken the collection's place.
inline constexpr std::string_view kNextManifestName = "manifest-next";
/// The manifest of a compaction that has not yet taken the collection's place.
inline constexpr std::string_view kCompactManifestName = "manifest-compact";

/// "log-000001"
std::string log_name(std::uint64_t number);
/// The number in a log's name; none if it is not one.
std::optional<std::uint64_t> log_number(std::string_view name);
/// The log that a file belongs to: the log itself, or the one whose mark it is.
std::optional<std::string> log_of_file(std::string_view name);
/// The generation of a segment file ("segment-000042", "deletes-000043", "graph-000042"); none if
/// it is not one.
std::optional<std::uint64_t> generation_of_file(std::string_view name);
/// Names of the segment files that a manifest names.
std::vector<std::string> segment_files(const Manifest& manifest);
/// Names of files that may stand beside them and are derived from them: never needed.
std::vector<std::string> derived_files(const Manifest& manifest);

std::vector<std::byte> write_manifest(const Manifest& manifest);
/// Whether these are all the bytes of a manifest of some version, this one or a newer one.
bool is_whole_manifest(std::span<const std::byte> bytes);
/// Corruption for damaged bytes, Unsupported for a newer format. `source` names them in messages.
Result<Manifest> read_manifest(std::span<const std::byte> bytes, std::string_view source);

}  // namespace braid::local
