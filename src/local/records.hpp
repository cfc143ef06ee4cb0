#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "braid/store/bytes.hpp"

namespace braid::local {

// Kinds of log records (docs/formats/records.md).
inline constexpr std::uint8_t kUpsert = 1;
inline constexpr std::uint8_t kUpdate = 2;
inline constexpr std::uint8_t kRemove = 3;
inline constexpr std::uint8_t kCopy = 4;  // an upsert that says which version each chunk has

/// What every record begins with; `count` items of the kind follow.
inline store::ByteWriter start_record(std::uint8_t kind, const std::string& namespace_,
                                      std::size_t count) {
    store::ByteWriter out;
    out.u8(kind);
    out.string(namespace_);
    out.varint(count);
    return out;
}

}  // namespace braid::local
