#include "braid/docs/documents_reader.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "braid/docs/chunk_codec.hpp"
#include "braid/docs/documents_format.hpp"

namespace braid::docs {
namespace {

/// Tells apart readers that share a cache.
std::uint64_t next_reader() {
    static std::atomic<std::uint64_t> next{0};
    return next.fetch_add(1, std::memory_order_relaxed);
}

std::string cache_key(std::uint64_t reader, std::uint64_t block) {
    const std::array<std::uint64_t, 2> numbers{reader, block};
    std::string key(sizeof(numbers), '\0');
    std::memcpy(key.data(), numbers.data(), sizeof(numbers));
    return key;
}

auto corrupt(const store::Section& section, const std::string& problem) {
    return fail(ErrorCode::Corruption,
                "section \"" + std::string(section.name()) + "\" is damaged: " + problem);
}

}  // namespace

Result<DocumentsReader> DocumentsReader::open(const store::SectionSource& source,
                                              std::string_view prefix,
                                              std::shared_ptr<BlockCache> cache) {
    const auto section = [&](std::string_view name) {
        return source.section(std::string(prefix) + std::string(name));
    };
    DocumentsReader reader;
    reader.cache_ = std::move(cache);
    reader.cache_id_ = next_reader();
    BRAID_TRY(reader.blocks_, section(kBlocksSection));
    BRAID_TRY(const auto ids, section(kIdsSection));
    BRAID_TRY(reader.ids_, StringTable::open(ids));
    BRAID_TRY(const auto index, section(kIndexSection));
    BRAID_CHECK(reader.read_index(index));
    BRAID_TRY(reader.dictionary_, section(kDictionarySection));
    BRAID_TRY(const auto dictionary, reader.dictionary());
    BRAID_TRY(reader.decoder_, BlockDecoder::create(dictionary));
    BRAID_TRY(const auto documents, section(kDocumentsSection));
    BRAID_TRY(reader.documents_, StringTable::open(documents));

    const auto packed = [&](std::string_view name, std::uint64_t count) -> Result<PackedInts> {
        BRAID_TRY(const auto numbers, section(name));
        return PackedInts::open(numbers, count);
    };
    const std::uint64_t rows = reader.rows();
    BRAID_TRY(reader.document_of_, packed(kDocumentOfSection, rows));
    BRAID_TRY(reader.starts_, packed(kStartsSection, reader.documents() + 1));
    BRAID_TRY(reader.order_, packed(kOrderSection, rows));
    BRAID_TRY(reader.created_known_, packed(kCreatedKnownSection, rows));
    BRAID_TRY(reader.created_, packed(kCreatedSection, rows));
    BRAID_TRY(reader.versions_, packed(kVersionsSection, rows));
    BRAID_TRY(reader.labels_, packed(kLabelsSection, rows));
    BRAID_TRY(reader.lengths_, packed(kLengthsSection, rows));
    const auto expiring = section(kExpiringRowsSection);
    if (!expiring && expiring.error().code == ErrorCode::NotFound) return reader;
    if (!expiring) return tl::unexpected(expiring.error());
    BRAID_TRY(reader.expiring_rows_, PackedInts::open(*expiring));
    BRAID_TRY(reader.expiries_, packed(kExpiriesSection, reader.expiring_rows_.size()));
    return reader;
}

Result<> DocumentsReader::read_index(const store::Section& index) {
    BRAID_TRY(const auto header, index.bytes(0, kIndexHeaderBytes));
    store::ByteReader in(header, index.name());
    BRAID_TRY(const std::uint64_t rows, in.u64("number of rows"));
    BRAID_TRY(block_count_, in.u64("number of blocks"));
    const std::uint64_t entries = index.size() - kIndexHeaderBytes;
    if (rows != this->rows() || rows > kMaxRows) {
        return corrupt(index, "it declares " + std::to_string(rows) + " rows, but there are " +
                                  std::to_string(this->rows()) + " ids");
    }
    if (entries % kIndexEntryBytes != 0 || entries / kIndexEntryBytes != block_count_ ||
        (rows > 0) != (block_count_ > 0)) {
        return corrupt(index, "it does not hold " + std::to_string(block_count_) + " blocks");
    }
    BRAID_TRY(index_, index.part(kIndexHeaderBytes, entries));
    return {};
}

Result<DocumentsReader::BlockEntry> DocumentsReader::entry(std::uint64_t number) const {
    BRAID_TRY(const auto bytes, index_.bytes(number * kIndexEntryBytes, kIndexEntryBytes));
    store::ByteReader in(bytes, index_.name());
    BlockEntry entry;
    entry.number = number;
    BRAID_TRY(entry.offset, in.u64("offset of a block"));
    BRAID_TRY(entry.stored_bytes, in.u32("size of a block"));
    BRAID_TRY(entry.raw_bytes, in.u32("size of a block"));
    BRAID_TRY(entry.first_row, in.u64("first row of a block"));
    return entry;
}

/// The header of a block; the whole entry is needed only for the one that is read.
Result<std::uint64_t> DocumentsReader::first_row(std::uint64_t number) const {
    constexpr std::uint64_t kPlace = kIndexEntryBytes - sizeof(std::uint64_t);
    BRAID_TRY(const auto bytes,
              index_.bytes(number * kIndexEntryBytes + kPlace, sizeof(std::uint64_t)));
    return store::ByteReader(bytes, index_.name()).u64("first row of a block");
}

Result<DocumentsReader::BlockEntry> DocumentsReader::block_of(std::uint64_t row) const {
    std::uint64_t low = 0;
    std::uint64_t high = block_count_;
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        BRAID_TRY(const std::uint64_t first, first_row(middle));
        (first <= row ? low : high) = middle;
    }
    BRAID_TRY(const BlockEntry found, entry(low));
    if (found.first_row > row) return corrupt(index_, "no block holds row " + std::to_string(row));
    return found;
}

Result<std::shared_ptr<const Bytes>> DocumentsReader::decoded(const BlockEntry& entry) const {
    BRAID_TRY(const auto stored, blocks_.bytes(entry.offset, entry.stored_bytes));
    BRAID_TRY(Bytes raw, decoder_->decode(stored, entry.raw_bytes, blocks_.name()));
    // Checked before it is kept: vanished pages read as zeros.
    BRAID_CHECK(intact());
    return std::make_shared<const Bytes>(std::move(raw));
}

Result<std::shared_ptr<const Bytes>> DocumentsReader::block(const BlockEntry& entry) const {
    const std::string key = cache_ != nullptr ? cache_key(cache_id_, entry.number) : "";
    if (cache_ != nullptr) {
        if (auto found = cache_->find(key)) return *std::move(found);
    }
    BRAID_TRY(auto shared, decoded(entry));
    if (cache_ != nullptr) cache_->insert(key, shared);
    return shared;
}

Result<Chunk> DocumentsReader::chunk(std::uint64_t row) const {
    if (row >= rows()) {
        return fail(ErrorCode::NotFound, "there is no row " + std::to_string(row));
    }
    BRAID_TRY(const BlockEntry entry, block_of(row));
    BRAID_TRY(const auto raw, block(entry));
    store::ByteReader in(*raw, blocks_.name());
    for (std::uint64_t before = entry.first_row; before < row; ++before) {
        BRAID_CHECK(in.string("row of a block"));
    }
    BRAID_TRY(const std::string_view payload, in.string("row of a block"));
    store::ByteReader fields(std::as_bytes(std::span(payload)), blocks_.name());
    BRAID_TRY(Chunk chunk, read_chunk(fields));
    BRAID_CHECK(fields.expect_end("stored chunk"));
    BRAID_TRY(chunk.chunk_id, chunk_id(row));
    BRAID_TRY(chunk.document_id, document_id(row));
    BRAID_TRY(chunk.created_at, created_at(row));
    BRAID_TRY(chunk.version, version(row));
    return chunk;
}

Result<std::string> DocumentsReader::document_id(std::uint64_t row) const {
    BRAID_TRY(const std::uint64_t document, document_of_.at(row));
    return documents_.at(document);
}

Result<std::vector<std::uint64_t>> DocumentsReader::document_rows(
    std::string_view document_id) const {
    BRAID_TRY(const auto document, documents_.find(document_id));
    if (!document) return std::vector<std::uint64_t>();
    std::array<std::uint64_t, 2> range{};
    BRAID_CHECK(starts_.read(*document, range));
    if (range[0] > range[1] || range[1] > rows()) {
        return fail(ErrorCode::Corruption, "the rows of a document are out of range");
    }
    std::vector<std::uint64_t> found(static_cast<std::size_t>(range[1] - range[0]));
    BRAID_CHECK(order_.read(range[0], found));
    for (const std::uint64_t row : found) {
        if (row < rows()) continue;
        return fail(ErrorCode::Corruption, "a document has a row that does not exist");
    }
    return found;
}

Result<std::optional<Timestamp>> DocumentsReader::created_at(std::uint64_t row) const {
    BRAID_TRY(const std::uint64_t known, created_known_.at(row));
    if (known == 0) return std::optional<Timestamp>();
    BRAID_TRY(const std::uint64_t bits, created_.at(row));
    return std::optional<Timestamp>(Timestamp{from_ordered_bits(bits)});
}

Result<Timestamp> DocumentsReader::expiry(std::uint64_t i) const {
    BRAID_TRY(const std::uint64_t bits, expiries_.at(i));
    return Timestamp{from_ordered_bits(bits)};
}

Result<std::uint64_t> DocumentsReader::expired(Timestamp now) const {
    std::uint64_t low = 0;
    for (std::uint64_t high = expiries_.size(); low < high;) {
        const std::uint64_t middle = low + (high - low) / 2;
        BRAID_TRY(const Timestamp time, expiry(middle));
        if (time <= now) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

Result<std::span<const std::byte>> RowStream::at(std::uint64_t row) {
    while (true) {
        while (block_ && next_row_ <= row && !rest_.at_end()) {
            BRAID_TRY(const std::string_view payload, rest_.string("row of a block"));
            if (next_row_++ == row) return std::as_bytes(std::span(payload));
        }
        if (next_block_ == reader_->block_count_ || (block_ && next_row_ > row)) {
            return corrupt(reader_->index_, "no block holds row " + std::to_string(row));
        }
        BRAID_TRY(const auto entry, reader_->entry(next_block_++));
        BRAID_TRY(block_, reader_->decoded(entry));
        rest_ = store::ByteReader(*block_, reader_->blocks_.name());
        next_row_ = entry.first_row;
    }
}

}  // namespace braid::docs
