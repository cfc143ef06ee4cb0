#include "braid/segment/part.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "braid/core/limits.hpp"
#include "braid/docs/chunk_codec.hpp"
#include "braid/docs/documents_format.hpp"
#include "braid/sparse/index_format.hpp"
#include "braid/store/bytes.hpp"

namespace braid::segment {
namespace {

constexpr std::size_t kBlockCacheBytes = std::size_t{32} << 20;
constexpr std::size_t kMaskCacheBytes = std::size_t{32} << 20;
/// A filter of more bytes than this is not remembered: nobody asks one like that twice.
constexpr std::size_t kMaxKeyBytes = 4096;

auto unfitting(const store::SectionFile& file, const std::string& problem) {
    return fail(ErrorCode::Corruption, file.path() + ": " + problem);
}

}  // namespace

Caches Caches::make() {
    return {.blocks = std::make_shared<docs::BlockCache>(kBlockCacheBytes),
            .masks = std::make_shared<MaskCache>(kMaskCacheBytes)};
}

Result<std::shared_ptr<const Part>> Part::open(std::shared_ptr<const store::SectionFile> file,
                                               std::size_t number, const PartMeta& meta,
                                               const Caches& caches) {
    const std::shared_ptr<Part> part(new Part(std::move(file)));  // NOLINT: private
    part->masks_ = caches.masks;
    BRAID_TRY(const store::Section outer, part->file_->section(part_section(number)));
    BRAID_TRY(part->source_, store::NestedSource::open(outer));
    BRAID_TRY(part->documents_, docs::DocumentsReader::open(part->source_, "", caches.blocks));
    BRAID_TRY(part->columns_, docs::ColumnsReader::open(part->source_, "", *part->documents_));
    BRAID_TRY(part->sparse_, sparse::IndexReader::open(part->source_));
    if (part->documents_->rows() != meta.rows || part->sparse_->rows() != meta.rows) {
        return unfitting(*part->file_, "namespace \"" + meta.namespace_ + "\" should have " +
                                           std::to_string(meta.rows) +
                                           " rows, its documents have " +
                                           std::to_string(part->documents_->rows()) +
                                           ", its words " + std::to_string(part->sparse_->rows()));
    }
    BRAID_CHECK(part->open_vectors(meta));
    BRAID_CHECK(part->intact());
    return part;
}

void Part::warm() const {
    for (const std::string_view name : {sparse::kLengthsSection, sparse::kClassesSection,
                                        sparse::kTermIndexSection, docs::kIndexSection}) {
        if (const auto section = source_.section(name)) (void)section->bytes();
    }
}

Result<> Part::open_vectors(const PartMeta& meta) {
    if (meta.vectors == 0) return {};
    BRAID_TRY(vectors_, dense::VectorsReader::open(source_));
    if (vectors_->size() != meta.vectors) {
        return unfitting(*file_, "namespace \"" + meta.namespace_ + "\" should have " +
                                     std::to_string(meta.vectors) + " vectors, but has " +
                                     std::to_string(vectors_->size()));
    }
    if (meta.vectors == meta.rows) return {};
    BRAID_TRY(const store::Section section, source_.section(kVectorRowsSection));
    BRAID_TRY(const auto packed, docs::PackedInts::open(section, meta.vectors));
    std::vector<std::uint64_t> rows(meta.vectors);
    BRAID_CHECK(packed.read(0, rows));
    for (const std::uint64_t row : rows) {
        if (row >= meta.rows || (!vector_rows_.empty() && vector_rows_.back() >= row)) {
            return unfitting(*file_, "its vectors belong to rows that do not exist");
        }
        vector_rows_.push_back(static_cast<std::uint32_t>(row));
    }
    return {};
}

Result<std::optional<std::uint32_t>> Part::vector_of(std::uint32_t row) const {
    if (!vectors_) return std::optional<std::uint32_t>();
    if (vector_rows_.empty()) return std::optional(row);
    const auto found = std::ranges::lower_bound(vector_rows_, row);
    if (found == vector_rows_.end() || *found != row) return std::optional<std::uint32_t>();
    return std::optional(static_cast<std::uint32_t>(found - vector_rows_.begin()));
}

BitsPtr Part::vectors_among(const BitsPtr& rows) const {
    if (vector_rows_.empty() || !rows) return rows;
    auto vectors = std::make_shared<Bits>(docs::make_bits(vector_rows_.size()));
    for (std::size_t i = 0; i < vector_rows_.size(); ++i) {
        if (docs::has_bit(*rows, vector_rows_[i])) docs::set_bit(*vectors, i);
    }
    return vectors;
}

Result<Chunk> Part::chunk(std::uint32_t row, bool with_vector) const {
    BRAID_TRY(Chunk chunk, documents_->chunk(row));
    if (!with_vector) return chunk;
    BRAID_TRY(const auto vector, vector_of(row));
    if (!vector) return chunk;
    chunk.vector.resize(vectors_->meta().dimension);
    BRAID_CHECK(vectors_->vectors().copy_row(*vector, chunk.vector));
    return chunk;
}

std::string Part::mask_key(char kind, std::string_view what) const {
    std::string key(reinterpret_cast<const char*>(&number_), sizeof(number_));
    key += kind;
    key += what;
    return key;
}

Result<BitsPtr> Part::matching(const Filter& filter, const Schema& schema,
                               const CallLimits& limits) const {
    store::ByteWriter printed;
    docs::write_value(printed, filter_to_value(filter));
    const auto bytes = printed.view();
    const bool kept = bytes.size() <= kMaxKeyBytes;
    std::string key;
    if (kept) {
        key = mask_key('f', {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        if (auto found = masks_->find(key)) return *std::move(found);
    }
    BRAID_TRY(Bits rows, columns_->matching(filter, schema, limits));
    auto mask = std::make_shared<const Bits>(std::move(rows));
    if (kept) masks_->insert(key, mask);
    return mask;
}

Result<BitsPtr> Part::unexpired(std::uint64_t count) const {
    if (count == 0) return BitsPtr();
    const std::string key = mask_key('e', std::to_string(count));
    if (auto found = masks_->find(key)) return *std::move(found);
    auto mask = std::make_shared<Bits>(docs::make_bits(rows()));
    docs::set_range(*mask, {0, rows()});
    for (std::uint64_t i = 0; i < count; ++i) {
        BRAID_TRY(const std::uint64_t row, documents_->expiring_rows().at(i));
        if (row >= rows()) return unfitting(*file_, "an expiring row does not exist");
        docs::clear_bit(*mask, row);
    }
    masks_->insert(key, mask);
    return BitsPtr(mask);
}

Result<BitsPtr> Part::labelled(const std::vector<bool>& visible, const CallLimits& limits) const {
    std::string bits(visible.size() / 8 + 1, '\0');
    for (std::size_t i = 0; i < visible.size(); ++i) {
        if (visible[i]) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << (i % 8));
    }
    const std::string key = mask_key('l', bits);
    if (auto found = masks_->find(key)) return *std::move(found);
    auto mask = std::make_shared<Bits>(docs::make_bits(rows()));
    std::array<std::uint64_t, 1024> labels{};
    for (std::uint64_t first = 0; first < rows(); first += labels.size()) {
        BRAID_CHECK(core::check_limits(limits));
        const auto batch = std::span(labels).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(labels.size(), rows() - first)));
        BRAID_CHECK(documents_->labels().read(first, batch));
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (batch[i] < visible.size() && visible[static_cast<std::size_t>(batch[i])]) {
                docs::set_bit(*mask, first + i);
            }
        }
    }
    masks_->insert(key, mask);
    return BitsPtr(mask);
}

}  // namespace braid::segment
