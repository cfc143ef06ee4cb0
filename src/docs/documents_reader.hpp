#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/core/lru_cache.hpp"
#include "braid/docs/block_codec.hpp"
#include "braid/docs/packed_ints.hpp"
#include "braid/docs/string_table.hpp"
#include "braid/result.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/sections.hpp"

namespace braid::docs {

struct SizeOfBlock {
    std::size_t operator()(const std::shared_ptr<const Bytes>& block) const noexcept {
        return block->size();
    }
};
/// Decompressed blocks, shared by any number of readers and bounded in bytes.
using BlockCache = core::LruCache<std::shared_ptr<const Bytes>, SizeOfBlock>;

/// Reads what a DocumentsBuilder wrote. Opening reads a few headers; reading one row costs one
/// block. Borrows from the source. Every failure is Corruption of what was asked for. Safe for
/// concurrent use.
class DocumentsReader {
public:
    /// Without a cache every row is decompressed again.
    static Result<DocumentsReader> open(const store::SectionSource& source, std::string_view prefix,
                                        std::shared_ptr<BlockCache> cache = nullptr);

    std::uint64_t rows() const noexcept { return ids_.size(); }
    std::uint64_t documents() const noexcept { return documents_.size(); }

    /// The chunk without its vector.
    Result<Chunk> chunk(std::uint64_t row) const;
    /// The row of a chunk id, if there is one.
    Result<std::optional<std::uint64_t>> find(std::string_view chunk_id) const {
        return ids_.find(chunk_id);
    }
    Result<std::string> chunk_id(std::uint64_t row) const { return ids_.at(row); }
    Result<std::string> document_id(std::uint64_t row) const;
    /// In order of chunk_index; rows without one come last. Empty if there is no such document.
    Result<std::vector<std::uint64_t>> document_rows(std::string_view document_id) const;

    Result<std::optional<Timestamp>> created_at(std::uint64_t row) const;
    Result<Version> version(std::uint64_t row) const { return versions_.at(row); }

    /// For scans: one number per row.
    const PackedInts& versions() const noexcept { return versions_; }
    const PackedInts& created_known() const noexcept { return created_known_; }
    /// In time order (`from_ordered_bits`); an arbitrary number where no time is known.
    const PackedInts& created_bits() const noexcept { return created_; }
    const PackedInts& labels() const noexcept { return labels_; }
    const PackedInts& lengths() const noexcept { return lengths_; }
    /// In ascending order; the number of a chunk id is its row.
    const StringTable& chunk_ids() const noexcept { return ids_; }
    /// In ascending order, and the number of each row's document.
    const StringTable& document_ids() const noexcept { return documents_; }
    const PackedInts& document_of() const noexcept { return document_of_; }

    /// Rows that expire, soonest first, and when each does.
    const PackedInts& expiring_rows() const noexcept { return expiring_rows_; }
    Result<Timestamp> expiry(std::uint64_t i) const;
    /// How many of them have expired by then.
    Result<std::uint64_t> expired(Timestamp now) const;

    /// For the mapping, to be asked after a search: see BlockGuard.
    Result<> intact() const { return blocks_.intact(); }

    /// The dictionary of its blocks; empty: none. A merge reuses it. Borrowed.
    Result<std::span<const std::byte>> dictionary() const { return dictionary_.bytes(); }

private:
    friend class RowStream;

    struct BlockEntry {
        std::uint64_t number = 0;
        std::uint64_t offset = 0;
        std::uint32_t stored_bytes = 0;
        std::uint32_t raw_bytes = 0;
        std::uint64_t first_row = 0;
    };

    DocumentsReader() = default;
    Result<> read_index(const store::Section& index);
    Result<BlockEntry> entry(std::uint64_t number) const;
    Result<std::uint64_t> first_row(std::uint64_t number) const;
    Result<BlockEntry> block_of(std::uint64_t row) const;
    Result<std::shared_ptr<const Bytes>> decoded(const BlockEntry& entry) const;
    /// From the cache, or through it.
    Result<std::shared_ptr<const Bytes>> block(const BlockEntry& entry) const;

    store::Section blocks_;
    store::Section dictionary_;
    store::Section index_;  // without its header
    std::uint64_t block_count_ = 0;
    std::shared_ptr<const BlockDecoder> decoder_;
    std::shared_ptr<BlockCache> cache_;
    std::uint64_t cache_id_ = 0;

    StringTable ids_;
    StringTable documents_;
    PackedInts document_of_;
    PackedInts starts_;
    PackedInts order_;
    PackedInts created_known_;
    PackedInts created_;
    PackedInts versions_;
    PackedInts labels_;
    PackedInts lengths_;
    PackedInts expiring_rows_;
    PackedInts expiries_;
};

/// The rows of a reader as stored, in order. Holds one block. The reader must outlive it.
class RowStream {
public:
    explicit RowStream(const DocumentsReader& reader) noexcept : reader_(&reader) {}

    /// The bytes that write_chunk produced, without what has a place of its own; valid until the
    /// next call. Rows must be asked for in ascending order.
    Result<std::span<const std::byte>> at(std::uint64_t row);

private:
    const DocumentsReader* reader_;
    std::shared_ptr<const Bytes> block_;
    std::uint64_t next_block_ = 0;
    std::uint64_t next_row_ = 0;  // that `rest_` begins with
    store::ByteReader rest_{{}};
};

}  // namespace braid::docs
