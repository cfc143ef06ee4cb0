#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "braid/result.hpp"

namespace braid::ingest {

enum class Compression { None, Gzip, Zstd };

/// Judged by the first bytes.
Compression compression_of(std::string_view head);

/// Unpacks gzip or zstd. InvalidArgument if the data is damaged or would become longer than
/// `max_bytes`: no more memory than that is taken, whatever the data claims.
Result<std::string> decompressed(std::string_view bytes, std::size_t max_bytes);

/// The beginning of it, as far as it can be unpacked from `bytes`, which may end anywhere.
std::string decompressed_head(std::string_view bytes, std::size_t max_bytes);

/// Unpacks a stream of any length piece by piece, in constant memory.
class Unpacker {
public:
    /// `kind` is gzip or zstd.
    explicit Unpacker(Compression kind);
    Unpacker(Unpacker&&) noexcept;
    Unpacker& operator=(Unpacker&&) noexcept;
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;
    ~Unpacker();

    /// Consumes bytes from the front of `in` and returns how many it wrote to `out`; 0: it needs
    /// more input. InvalidArgument if the data is damaged.
    Result<std::size_t> unpack(std::string_view& in, std::span<char> out);
    /// Whether the stream may end here: nothing begun is incomplete.
    bool is_complete() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A raw deflate stream, as zip archives hold it.
Result<std::string> inflated(std::string_view bytes, std::size_t max_bytes);

}  // namespace braid::ingest
