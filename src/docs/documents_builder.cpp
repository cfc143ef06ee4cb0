#include "braid/docs/documents_builder.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "braid/docs/chunk_codec.hpp"
#include "braid/docs/documents_format.hpp"
#include "braid/docs/packed_ints.hpp"

namespace braid::docs {
namespace {

constexpr std::size_t kMaxDictionaryBytes = 32 * 1024;
// Below this a dictionary cannot earn its own bytes.
constexpr std::size_t kMinSampleBytes = 256 * 1024;
// So many blocks tell whether it does.
constexpr std::size_t kTrialBlocks = 16;

/// Of some blocks, spread over all of them.
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

DocumentsBuilder::DocumentsBuilder(store::SectionSink& sink, std::string prefix,
                                   DocumentsOptions options)
    : sink_(sink), prefix_(std::move(prefix)), options_(std::move(options)) {}

Result<> DocumentsBuilder::add(Chunk chunk, std::uint32_t label, std::uint32_t length) {
    const std::uint64_t row = rows();
    if (row >= kMaxRows) return invalid_argument("a segment cannot hold more rows");
    auto added = ids_.add(chunk.chunk_id);
    if (!added) return fail("chunk ids of a segment", std::move(added).error());
    documents_[chunk.document_id].push_back({row, chunk.chunk_index});
    versions_.push_back(chunk.version);
    labels_.push_back(label);
    lengths_.push_back(length);
    if (chunk.expires_at) expiring_.emplace_back(ordered_bits(chunk.expires_at->micros), row);
    created_.push_back(chunk.created_at ? std::optional(chunk.created_at->micros) : std::nullopt);

    // What has a place of its own is not kept twice.
    chunk.chunk_id.clear();
    chunk.document_id.clear();
    chunk.created_at.reset();
    chunk.vector.clear();
    store::ByteWriter payload;
    write_chunk(payload, chunk);
    if (begun_.size() > 0 && begun_.size() + payload.size() > options_.block_bytes) {
        BRAID_CHECK(end_block());
    }
    if (begun_.size() == 0) begun_row_ = row;
    begun_.varint(payload.size());
    begun_.bytes(payload.view());
    return {};
}

Result<> DocumentsBuilder::end_block() {
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

Result<> DocumentsBuilder::choose_dictionary() {
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
    BRAID_CHECK(sink_.begin(name(kBlocksSection)));
    for (const auto& [row, raw] : held_) BRAID_CHECK(write_block(raw, row));
    held_ = {};
    return {};
}

Result<> DocumentsBuilder::write_block(std::span<const std::byte> raw, std::uint64_t first_row) {
    BRAID_TRY(const Bytes block, encoder_->encode(raw));
    blocks_.push_back({sink_.offset(), static_cast<std::uint32_t>(block.size()),
                       static_cast<std::uint32_t>(raw.size()), first_row});
    return sink_.write(block);
}

Result<> DocumentsBuilder::write_index() {
    store::ByteWriter index;
    index.u64(rows());
    index.u64(blocks_.size());
    for (const BlockEntry& block : blocks_) {
        index.u64(block.offset);
        index.u32(block.stored_bytes);
        index.u32(block.raw_bytes);
        index.u64(block.first_row);
    }
    BRAID_CHECK(sink_.begin(name(kIndexSection)));
    BRAID_CHECK(sink_.write(index.view()));
    BRAID_CHECK(sink_.begin(name(kDictionarySection)));
    BRAID_CHECK(sink_.write(dictionary_));
    return ids_.write(sink_, name(kIdsSection));
}

Result<> DocumentsBuilder::write_documents() {
    StringTableBuilder names;
    std::vector<std::uint64_t> document_of(rows());
    std::vector<std::uint64_t> starts;
    std::vector<std::uint64_t> ordered;
    for (auto& [id, places] : documents_) {
        // Rows without an index come last, in their own order.
        std::ranges::sort(places, {}, [](const Place& place) {
            return std::tuple(!place.chunk_index, place.chunk_index.value_or(0), place.row);
        });
        starts.push_back(ordered.size());
        for (const Place& place : places) {
            document_of[place.row] = names.size();
            ordered.push_back(place.row);
        }
        BRAID_CHECK(names.add(id));
    }
    starts.push_back(ordered.size());
    BRAID_CHECK(names.write(sink_, name(kDocumentsSection)));
    BRAID_CHECK(write_packed(sink_, name(kDocumentOfSection), document_of));
    BRAID_CHECK(write_packed(sink_, name(kStartsSection), starts));
    return write_packed(sink_, name(kOrderSection), ordered);
}

Result<> DocumentsBuilder::write_columns() {
    std::vector<std::uint64_t> known;
    std::vector<std::uint64_t> times;
    // A row without a time takes one that costs no bits.
    std::int64_t filling = 0;
    for (const auto& time : created_) {
        if (time) filling = *time;
    }
    for (const auto& time : created_) {
        known.push_back(time ? 1 : 0);
        times.push_back(ordered_bits(time.value_or(filling)));
    }
    BRAID_CHECK(write_packed(sink_, name(kCreatedKnownSection), known));
    BRAID_CHECK(write_packed(sink_, name(kCreatedSection), times));
    BRAID_CHECK(write_packed(sink_, name(kVersionsSection), versions_));
    BRAID_CHECK(write_packed(sink_, name(kLabelsSection), labels_));
    BRAID_CHECK(write_packed(sink_, name(kLengthsSection), lengths_));
    if (expiring_.empty()) return {};
    std::ranges::sort(expiring_);
    std::vector<std::uint64_t> expiries;
    std::vector<std::uint64_t> rows;
    for (const auto& [time, row] : expiring_) {
        expiries.push_back(time);
        rows.push_back(row);
    }
    BRAID_CHECK(write_packed(sink_, name(kExpiringRowsSection), rows));
    return write_packed(sink_, name(kExpiriesSection), expiries);
}

Result<> DocumentsBuilder::finish() {
    BRAID_CHECK(end_block());
    if (!chosen_) BRAID_CHECK(choose_dictionary());
    BRAID_CHECK(write_index());
    BRAID_CHECK(write_documents());
    return write_columns();
}

}  // namespace braid::docs
