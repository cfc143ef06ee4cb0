#pragma once

#include <cstdint>
#include <string_view>

#include "braid/result.hpp"
#include "braid/store/bytes.hpp"

namespace braid::store {

/// The beginning of a small file: its magic number, its version, and a checksum of everything that
/// follows. Requires an empty writer; seal() fills in the checksum.
void begin_sealed(ByteWriter& out, std::uint32_t magic, std::uint32_t version);
/// Call it at the end, with the version given to begin_sealed().
void seal(ByteWriter& out, std::uint32_t version);

/// Reads the beginning. Corruption, "this is not <what>", unless all three are correct.
Result<> open_sealed(ByteReader& in, std::uint32_t magic, std::uint32_t version,
                     std::string_view what);

}  // namespace braid::store
