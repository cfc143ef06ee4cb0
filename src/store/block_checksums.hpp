#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "braid/result.hpp"
#include "braid/store/mapped_file.hpp"
#include "braid/store/sections.hpp"

namespace braid::store {

/// How much one checksum covers in files written now. Files tell by their version how much it is in
/// them: docs/formats/segment.md.
inline constexpr std::uint64_t kBlockBytes = 16 * 1024;

/// How many blocks `size` bytes make; the last may be shorter.
constexpr std::uint64_t block_count(std::uint64_t size, std::uint64_t block_bytes) noexcept {
    return size / block_bytes + (size % block_bytes != 0 ? 1 : 0);
}

/// The checksum of one block; equal bytes elsewhere have another: a block written to the wrong
/// place, or taken from another file, does not pass.
std::uint64_t block_checksum(std::span<const std::byte> block, std::uint64_t generation,
                             std::uint64_t number) noexcept;

/// Computes the checksums of bytes that arrive piece by piece.
class BlockSummer {
public:
    explicit BlockSummer(std::uint64_t generation, std::uint64_t block_bytes = kBlockBytes) noexcept
        : generation_(generation), block_bytes_(static_cast<std::size_t>(block_bytes)) {}

    void add(std::span<const std::byte> bytes);
    /// Of all blocks, including the one begun last.
    std::vector<std::uint64_t> finish();

private:
    void sum(std::span<const std::byte> block);

    std::uint64_t generation_;
    std::size_t block_bytes_;
    std::vector<std::byte> begun_;
    std::vector<std::uint64_t> sums_;
};

/// Checks each block of a mapping once, when it is first asked for.
class CheckedBlocks final : public BlockGuard {
public:
    /// Guards the first `size` bytes of the mapping. `sums` are their checksums, eight bytes each,
    /// one per block of `block_bytes`, somewhere in the mapping.
    CheckedBlocks(std::shared_ptr<const MappedFile> mapping, std::uint64_t size,
                  std::span<const std::byte> sums, std::uint64_t generation,
                  std::uint64_t block_bytes);

    Result<> verify(std::uint64_t offset, std::uint64_t length) const override;
    Result<> intact() const override { return mapping_->intact(); }

    /// Checks one block, whether or not it was checked before. Requires that it exists.
    Result<> verify_block(std::uint64_t block) const;

private:
    bool is_verified(std::uint64_t block) const noexcept;

    std::shared_ptr<const MappedFile> mapping_;
    std::span<const std::byte> guarded_;
    std::span<const std::byte> sums_;
    std::uint64_t generation_;
    std::uint64_t block_bytes_;
    mutable std::vector<std::atomic<std::uint64_t>> verified_;  // bit b of word w: block 64 w + b
};

}  // namespace braid::store
