#pragma once

#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/store/bytes.hpp"

namespace braid::docs {

/// Bytes of what is known of a namespace's legs (docs/formats/README.md).
void write_probes(store::ByteWriter& out, const LegProbes& probes);
/// Corruption for what no version of braid writes.
Result<LegProbes> read_probes(store::ByteReader& in);

}  // namespace braid::docs
