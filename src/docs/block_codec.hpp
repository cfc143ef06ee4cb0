#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "braid/result.hpp"

namespace braid::docs {

using Bytes = std::vector<std::byte>;

/// What similar blocks have in common, so that each need not repeat it; empty if there is too
/// little to learn from. The same samples give the same dictionary.
Bytes train_dictionary(const std::vector<Bytes>& samples, std::size_t max_bytes);

/// Compresses blocks, each on its own, with one dictionary (empty: none). Not safe for concurrent
/// use.
class BlockEncoder {
public:
    BlockEncoder(int level, std::span<const std::byte> dictionary);
    BlockEncoder(const BlockEncoder&) = delete;
    BlockEncoder& operator=(const BlockEncoder&) = delete;
    BlockEncoder(BlockEncoder&&) = delete;
    BlockEncoder& operator=(BlockEncoder&&) = delete;
    ~BlockEncoder();

    Result<Bytes> encode(std::span<const std::byte> raw);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Decompresses what a BlockEncoder with the same dictionary made. Safe for concurrent use.
class BlockDecoder {
public:
    static Result<std::shared_ptr<const BlockDecoder>> create(
        std::span<const std::byte> dictionary);
    BlockDecoder(const BlockDecoder&) = delete;
    BlockDecoder& operator=(const BlockDecoder&) = delete;
    BlockDecoder(BlockDecoder&&) = delete;
    BlockDecoder& operator=(BlockDecoder&&) = delete;
    ~BlockDecoder();

    /// Corruption, naming `source`, if the block is not one or does not hold `raw_size` bytes.
    Result<Bytes> decode(std::span<const std::byte> block, std::uint64_t raw_size,
                         std::string_view source) const;

private:
    BlockDecoder();
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace braid::docs
