#include "braid/store/block_checksums.hpp"

#include <algorithm>
#include <utility>

#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"

namespace braid::store {
namespace {

constexpr std::uint64_t kBitsPerWord = 64;

}  // namespace

std::uint64_t block_checksum(std::span<const std::byte> block, std::uint64_t generation,
                             std::uint64_t number) noexcept {
    return checksum(block, (generation << 32) ^ number);
}

void BlockSummer::sum(std::span<const std::byte> block) {
    sums_.push_back(block_checksum(block, generation_, sums_.size()));
}

void BlockSummer::add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        if (begun_.empty() && bytes.size() >= block_bytes_) {
            sum(bytes.first(block_bytes_));
            bytes = bytes.subspan(block_bytes_);
            continue;
        }
        const std::size_t taken = std::min(bytes.size(), block_bytes_ - begun_.size());
        begun_.insert(begun_.end(), bytes.begin(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(taken));
        bytes = bytes.subspan(taken);
        if (begun_.size() < block_bytes_) return;
        sum(begun_);
        begun_.clear();
    }
}

std::vector<std::uint64_t> BlockSummer::finish() {
    if (!begun_.empty()) sum(begun_);
    begun_ = {};
    return std::exchange(sums_, {});
}

CheckedBlocks::CheckedBlocks(std::shared_ptr<const MappedFile> mapping, std::uint64_t size,
                             std::span<const std::byte> sums, std::uint64_t generation,
                             std::uint64_t block_bytes)
    : mapping_(std::move(mapping)),
      guarded_(mapping_->bytes().first(static_cast<std::size_t>(size))),
      sums_(sums),
      generation_(generation),
      block_bytes_(block_bytes),
      verified_(static_cast<std::size_t>((block_count(size, block_bytes) + kBitsPerWord - 1) /
                                         kBitsPerWord)) {}

bool CheckedBlocks::is_verified(std::uint64_t block) const noexcept {
    const std::uint64_t word = verified_[block / kBitsPerWord].load(std::memory_order_relaxed);
    return (word >> (block % kBitsPerWord) & 1) != 0;
}

Result<> CheckedBlocks::verify_block(std::uint64_t block) const {
    const std::uint64_t begin = block * block_bytes_;
    const auto bytes = guarded_.subspan(begin, std::min(block_bytes_, guarded_.size() - begin));
    ByteReader reader(sums_.subspan(block * sizeof(std::uint64_t)), mapping_->path());
    BRAID_TRY(const std::uint64_t expected, reader.u64("block checksum"));
    if (block_checksum(bytes, generation_, block) != expected) {
        BRAID_CHECK(intact());  // gives more detail where it can
        return fail(ErrorCode::Corruption, mapping_->path() + " is damaged: bytes " +
                                               std::to_string(begin) + " to " +
                                               std::to_string(begin + bytes.size()) +
                                               " do not have the checksum they were written with");
    }
    verified_[block / kBitsPerWord].fetch_or(std::uint64_t{1} << (block % kBitsPerWord),
                                             std::memory_order_relaxed);
    return {};
}

Result<> CheckedBlocks::verify(std::uint64_t offset, std::uint64_t length) const {
    if (length == 0) return {};
    const std::uint64_t last = (offset + length - 1) / block_bytes_;
    for (std::uint64_t block = offset / block_bytes_; block <= last; ++block) {
        // For a large section that was read before: checks a word of blocks at a time.
        while (block % kBitsPerWord == 0 && block + kBitsPerWord <= last + 1 &&
               verified_[block / kBitsPerWord].load(std::memory_order_relaxed) ==
                   ~std::uint64_t{0}) {
            block += kBitsPerWord;
        }
        if (block > last) break;
        if (!is_verified(block)) BRAID_CHECK(verify_block(block));
    }
    return {};
}

}  // namespace braid::store
