#include "braid/docs/documents_builder.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "braid/docs/chunk_codec.hpp"
#include "braid/docs/documents_format.hpp"
#include "braid/docs/packed_ints.hpp"

namespace braid::docs {

DocumentsBuilder::DocumentsBuilder(store::SectionSink& sink, std::string prefix,
                                   DocumentsOptions options)
    : sink_(sink), prefix_(prefix), blocks_(sink, std::move(prefix), std::move(options)) {}

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

    // What has a place of its own is not stored twice.
    chunk.chunk_id.clear();
    chunk.document_id.clear();
    chunk.created_at.reset();
    chunk.vector.clear();
    store::ByteWriter payload;
    write_chunk(payload, chunk);
    return blocks_.add(payload.view());
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
    // A row without a time gets one that costs no bits.
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
    BRAID_CHECK(blocks_.finish());
    BRAID_CHECK(ids_.write(sink_, name(kIdsSection)));
    BRAID_CHECK(write_documents());
    return write_columns();
}

}  // namespace braid::docs
