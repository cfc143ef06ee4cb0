#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/store/bytes.hpp"

namespace braid::docs {

/// How many objects and lists metadata may nest, itself included. Whoever writes chunks must see to
/// that: anything nested deeper cannot be read back.
inline constexpr std::size_t kMaxMetadataDepth = 1024;

/// Bytes of one JSON value, as stored in a chunk's metadata.
void write_value(store::ByteWriter& out, const Value& value);
Result<Value> read_value(store::ByteReader& in);
/// If these are the bytes of a text: that text.
std::optional<std::string_view> text_of_value(std::string_view bytes);

/// Bytes of a chunk in a log record (docs/formats/records.md), without its version.
void write_chunk(store::ByteWriter& out, const Chunk& chunk);
Result<Chunk> read_chunk(store::ByteReader& in);
/// Only its chunk_index. Reads no further.
Result<std::optional<std::int64_t>> read_chunk_index(store::ByteReader& in);
/// How many bytes write_chunk produces for it.
std::size_t chunk_bytes(const Chunk& chunk);

void write_update(store::ByteWriter& out, const MetadataUpdate& update);
Result<MetadataUpdate> read_update(store::ByteReader& in);

/// Merges `patch` into `target` as RFC 7396 does.
void merge_patch(Object& target, const Object& patch);

}  // namespace braid::docs
