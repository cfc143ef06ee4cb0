#pragma once

#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/store/bytes.hpp"

namespace braid::docs {

/// Bytes of a schema, as they stand in a manifest (docs/formats/manifest.md).
void write_schema(store::ByteWriter& out, const Schema& schema);
/// Corruption for what no version of braid writes. Does not validate().
Result<Schema> read_schema(store::ByteReader& in);

}  // namespace braid::docs
