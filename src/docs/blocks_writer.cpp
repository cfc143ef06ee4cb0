#include "braid/docs/blocks_writer.hpp"

#include <algorithm>
#include <limits>

#include "braid/docs/documents_format.hpp"

namespace braid::docs {
namespace {

constexpr std::size_t kMaxDictionaryBytes = 32 * 1024;
// Below this a dictionary cannot make up for its own bytes.
constexpr std::size_t kMinSampleBytes = 256 * 1024;
// This many blocks tell whether it does.
constexpr std::size_t kTrialBlocks = 16;

/// A sample of blocks, spread over all of them.
Result<std::size_t> size_encoded(const std::vector<std::pair<std::uint64_t, Bytes>>& blocks,
                                 int level, std::span<const std::byte> dictionary) {
    BlockEncoder encoder(level, dictionary);
    std::size_t size = 0;
    const std::size_t step = (blocks.size() + kTrialBlocks - 1) / kTrialBlocks;
    for (std::size_t i = 0; i < blocks.size(); i += step) {
        BRAID_TRY(const Bytes block, encoder.encode(blocks[i].second));
        size += block.size() * step;
    }
    return size;
}

}  // namespace

BlocksWriter::BlocksWriter(store::SectionSink& sink, std::string prefix, DocumentsOptions options)
    : sink_(sink), prefix_(std::move(prefix)), options_(std::move(options)) {}

Result<> BlocksWriter::add(std::span<const std::byte> row) {
    if (begun_.size() > 0 && begun_.size() + row.size() > options_.block_bytes) {
        BRAID_CHECK(end_block());
    }
    if (begun_.size() == 0) begun_row_ = rows_;
    begun_.varint(row.size());
    begun_.bytes(row);
    ++rows_;
    return {};
}

Result<> BlocksWriter::end_block() {
    if (begun_.size() == 0) return {};
    Bytes raw = begun_.take();
    if (raw.size() > std::numeric_limits<std::uint32_t>::max()) {
        return invalid_argument("a chunk is too large to be stored");
    }
    if (chosen_) return write_block(raw, begun_row_);
    held_bytes_ += raw.size();
    held_.emplace_back(begun_row_, std::move(raw));
    return held_bytes_ >= options_.sample_bytes ? choose_dictionary() : Result<>();
}

Result<> BlocksWriter::choose_dictionary() {
    chosen_ = true;
    dictionary_ = std::exchange(options_.dictionary, {});
    if (!dictionary_.empty()) options_.sample_bytes = 0;
    if (options_.sample_bytes > 0 && held_bytes_ >= kMinSampleBytes) {
        std::vector<Bytes> samples;
        samples.reserve(held_.size());
        for (const auto& [row, raw] : held_) samples.push_back(raw);
        const std::size_t bytes = std::min(kMaxDictionaryBytes, held_bytes_ / 64);
        dictionary_ = train_dictionary(samples, bytes);
        BRAID_TRY(const std::size_t with, size_encoded(held_, options_.level, dictionary_));
        BRAID_TRY(const std::size_t without, size_encoded(held_, options_.level, {}));
        if (with + dictionary_.size() >= without) dictionary_.clear();
    }
    encoder_.emplace(options_.level, dictionary_);
    BRAID_CHECK(sink_.begin(prefix_ + std::string(kBlocksSection)));
    for (const auto& [row, raw] : held_) BRAID_CHECK(write_block(raw, row));
    held_ = {};
    return {};
}

Result<> BlocksWriter::write_block(std::span<const std::byte> raw, std::uint64_t first_row) {
    BRAID_TRY(const Bytes block, encoder_->encode(raw));
    blocks_.push_back({sink_.offset(), static_cast<std::uint32_t>(block.size()),
                       static_cast<std::uint32_t>(raw.size()), first_row});
    return sink_.write(block);
}

Result<> BlocksWriter::finish() {
    BRAID_CHECK(end_block());
    if (!chosen_) BRAID_CHECK(choose_dictionary());
    store::ByteWriter index;
    index.u64(rows_);
    index.u64(blocks_.size());
    for (const BlockEntry& block : blocks_) {
        index.u64(block.offset);
        index.u32(block.stored_bytes);
        index.u32(block.raw_bytes);
        index.u64(block.first_row);
    }
    BRAID_CHECK(sink_.begin(prefix_ + std::string(kIndexSection)));
    BRAID_CHECK(sink_.write(index.view()));
    BRAID_CHECK(sink_.begin(prefix_ + std::string(kDictionarySection)));
    return sink_.write(dictionary_);
}

}  // namespace braid::docs
