#pragma once

#include <cstddef>
#include <memory>
#include <span>
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

/// Unpacks a stream of any length piece by piece, in memory that does not depend on it.
class Unpacker {
public:
    /// `kind` is gzip or zstd.
    explicit Unpacker(Compression kind);
    Unpacker(Unpacker&&) noexcept;
    Unpacker& operator=(Unpacker&&) noexcept;
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;
    ~Unpacker();

    /// Takes bytes from the front of `in` and says how many it wrote to `out`; none: it needs more.
    /// InvalidArgument if they are damaged.
    Result<std::size_t> unpack(std::string_view& in, std::span<char> out);
    /// Whether the stream may end here: nothing that was begun is missing.
    bool is_complete() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A raw deflate stream, as zip archives hold it.
Result<std::string> inflated(std::string_view bytes, std::size_t max_bytes);

}  // namespace braid::ingest
