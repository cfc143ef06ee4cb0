#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/store/bytes.hpp"

namespace braid::local {

// Kinds of log records (docs/formats/records.md).
inline constexpr std::uint8_t kUpsert = 1;
inline constexpr std::uint8_t kUpdate = 2;
inline constexpr std::uint8_t kRemove = 3;
inline constexpr std::uint8_t kCopy = 4;  // an upsert that gives each chunk's version
/// An upsert plus ids to delete: documents replaced as a whole. Needs format 2 of the manifest.
inline constexpr std::uint8_t kReplace = 5;
/// All chunks of the namespace are deleted; no items follow. Needs format 6 of the manifest.
inline constexpr std::uint8_t kDropNamespace = 6;

/// How every record begins; `count` items of the kind follow.
inline store::ByteWriter start_record(std::uint8_t kind, const std::string& namespace_,
                                      std::size_t count) {
    store::ByteWriter out;
    out.u8(kind);
    out.string(namespace_);
    out.varint(count);
    return out;
}

/// How many, and which: the end of a replacement.
inline void write_removals(store::ByteWriter& out, const std::vector<std::string>& ids) {
    out.varint(ids.size());
    for (const std::string& id : ids) out.string(id);
}

/// A decoded record: one of the three lists is filled; for a replacement, the first and the last.
struct LogRecord {
    std::string namespace_;
    std::vector<Chunk> upserts;  // with version 0, except that those of a copy have their own
    std::vector<MetadataUpdate> updates;
    std::vector<std::string> removals;  // chunk ids
    bool drops_namespace = false;       // if so, nothing else is set
};

/// Corruption for anything that no version of braid writes.
Result<LogRecord> decode_record(std::span<const std::byte> payload);

}  // namespace braid::local
