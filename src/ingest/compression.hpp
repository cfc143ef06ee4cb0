#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "braid/result.hpp"

namespace braid::ingest {

enum class Compression { None, Gzip, Zstd };

/// By the first bytes.
Compression compression_of(std::string_view head);

/// What gzip or zstd packed. InvalidArgument if it is damaged, or would be longer than `max_bytes`:
/// no more memory than that is taken, whatever the bytes claim.
Result<std::string> decompressed(std::string_view bytes, std::size_t max_bytes);

/// The start of it, as far as `bytes`, which may end anywhere, hold it.
std::string decompressed_head(std::string_view bytes, std::size_t max_bytes);

/// A raw deflate stream, as zip archives hold it.
Result<std::string> inflated(std::string_view bytes, std::size_t max_bytes);

}  // namespace braid::ingest
