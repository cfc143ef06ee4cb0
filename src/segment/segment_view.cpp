#include "braid/segment/segment_view.hpp"

#include <algorithm>

#include "braid/core/charge.hpp"
#include "braid/exact/facets.hpp"
#include "braid/index/neighbors.hpp"

namespace braid::segment {

Result<std::unique_ptr<index::View>> SegmentView::create(const SegmentIndex& index,
                                                         std::shared_ptr<const Binding> binding,
                                                         const index::ViewOf& of) {
    std::unique_ptr<SegmentView> view(new SegmentView(index, std::move(binding), of));  // NOLINT
    const bool everything = of.principal.sees_everything();
    if (!everything) {
        BRAID_TRY(const std::size_t clearance, exact::clearance_of(of.principal, index.schema()));
        view->labels_ = index.labels().visible(clearance, of.principal.scopes);
    }
    for (const auto& buffer : view->binding_->state()->buffers) {
        auto partition = buffer->partition(of.namespace_);
        if (!partition) continue;
        BRAID_TRY(auto rows, exact::VisibleRows::create(*partition, of.principal, of.at, of.now));
        if (rows.rows() == 0) continue;
        view->buffers_.push_back({std::move(partition), std::move(rows)});
    }
    for (const auto& segment : view->binding_->state()->segments) {
        const Segment::Space* const space = segment->space(of.namespace_);
        if (space == nullptr || space->deaths.dropped(of.at)) continue;
        BRAID_TRY(auto part, space->part());
        view->parts_.emplace_back(segment, *space, std::move(part), of.at, of.now,
                                  everything ? nullptr : &view->labels_, view->filter_,
                                  index.schema(), index.analyzer(), view->limits_);
    }
    return std::unique_ptr<index::View>(std::move(view));
}

Result<SegmentView::Place> SegmentView::place_of(const std::string& id) const {
    for (auto buffer = buffers_.rbegin(); buffer != buffers_.rend(); ++buffer) {
        const exact::Row row = buffer->rows.find(id);
        if (row != exact::kNoRow) return Place{.buffer = &*buffer, .row = row};
    }
    for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
        BRAID_TRY(const auto row, part->find(id));
        if (row) return Place{.part = &*part, .in_part = *row};
    }
    return Place{};
}

Result<SegmentView::Place> SegmentView::place_of(const FoundChunk& chunk) const {
    const FoundAt& at = chunk.found_at;
    for (const PartView& part : parts_) {
        if (part.part().number() != at.among || at.row >= part.part().rows()) continue;
        BRAID_TRY(const bool seen, part.shows(at.row));
        if (seen) return Place{.part = &part, .in_part = at.row};
    }
    for (const BufferView& buffer : buffers_) {
        if (buffer.partition->number() != at.among) continue;
        if (buffer.rows.shows(exact::Row{at.row})) {
            return Place{.buffer = &buffer, .row = exact::Row{at.row}};
        }
    }
    return place_of(std::string(chunk.chunk_id));
}

Result<bool> SegmentView::admits(const Place& place) const {
    if (matcher_ == nullptr) return true;
    if (place.buffer != nullptr) {
        return matcher_->matches(place.buffer->partition->chunk(place.row));
    }
    BRAID_TRY(const Chunk chunk, place.part->part().chunk(place.in_part, false));
    return matcher_->matches(chunk);
}

Result<Chunk> SegmentView::counted_copy(const Place& place, bool with_vector) const {
    if (place.part != nullptr) {
        BRAID_TRY(Chunk chunk, place.part->part().chunk(place.in_part, with_vector));
        BRAID_CHECK(place.part->part().intact());
        BRAID_CHECK(core::charge(limits_, chunk, 0));
        return chunk;
    }
    const exact::Partition& partition = *place.buffer->partition;
    const bool vector = with_vector && partition.facts(place.row).vector != exact::kNoVector;
    BRAID_CHECK(core::charge(limits_, partition.chunk(place.row),
                             vector ? partition.vectors()->dimension() : 0));
    return vector ? partition.chunk_with_vector(place.row) : partition.chunk(place.row);
}

Result<std::vector<std::optional<Chunk>>> SegmentView::fetch(std::span<const std::string> ids,
                                                             bool with_vectors) const {
    std::vector<std::optional<Chunk>> chunks;
    core::StepCounter steps;
    for (const std::string& id : ids) {
        if (steps.due(64)) BRAID_CHECK(core::check_limits(limits_));
        auto& chunk = chunks.emplace_back();
        BRAID_TRY(const Place place, place_of(id));
        if (!place) continue;
        BRAID_TRY(const bool passes, admits(place));
        if (!passes) continue;
        BRAID_TRY(chunk, counted_copy(place, with_vectors));
    }
    return chunks;
}

Result<std::vector<Chunk>> SegmentView::neighbors(const std::string& document_id,
                                                  std::int64_t index, std::size_t before,
                                                  std::size_t after) const {
    const index::Nearby nearby(index, before, after);
    std::vector<Chunk> chunks;
    const auto offer = [&](const Place& place, const Chunk& chunk) -> Result<> {
        if (!nearby.holds(chunk)) return {};
        if (matcher_ != nullptr && !matcher_->matches(chunk)) return {};
        BRAID_TRY(Chunk copy, counted_copy(place, false));
        chunks.push_back(std::move(copy));
        return {};
    };
    for (const BufferView& buffer : buffers_) {
        for (const exact::Row row : buffer.partition->rows_of_document(document_id)) {
            if (!buffer.rows.shows(row)) continue;
            BRAID_CHECK(offer(Place{.buffer = &buffer, .row = row}, buffer.partition->chunk(row)));
        }
    }
    for (const PartView& part : parts_) {
        BRAID_TRY(const auto rows, part.part().documents().document_rows(document_id));
        for (const std::uint64_t wide : rows) {
            const auto row = static_cast<std::uint32_t>(wide);
            BRAID_TRY(const bool seen, part.shows(row));
            if (!seen) continue;
            BRAID_TRY(const Chunk chunk, part.part().chunk(row, false));
            BRAID_CHECK(offer(Place{.part = &part, .in_part = row}, chunk));
        }
    }
    index::sort_by_place(chunks);
    return chunks;
}

Result<std::vector<Chunk>> SegmentView::scan(const std::string& after, std::size_t limit,
                                             bool with_vectors) const {
    std::vector<std::pair<std::string, Place>> found;
    for (const BufferView& buffer : buffers_) {
        BRAID_CHECK(admitted(buffer).for_each([&](exact::Row row) {
            const std::string& id = buffer.partition->chunk(row).chunk_id;
            if (id > after) found.emplace_back(id, Place{.buffer = &buffer, .row = row});
        }));
    }
    for (const PartView& part : parts_) {
        BRAID_TRY(const BitsPtr allowed, part.allowed());
        const docs::StringTable& ids = part.part().documents().chunk_ids();
        BRAID_TRY(std::uint64_t row, ids.lower_bound(after));
        core::StepCounter steps;
        for (std::size_t taken = 0; row < ids.size() && taken < limit; ++row) {
            if (steps.due()) BRAID_CHECK(core::check_limits(limits_));
            if (allowed && !docs::has_bit(*allowed, row)) continue;
            BRAID_TRY(std::string id, ids.at(row));
            if (id <= after) continue;
            found.emplace_back(std::move(id),
                               Place{.part = &part, .in_part = static_cast<std::uint32_t>(row)});
            ++taken;
        }
    }
    const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(limit, found.size()));
    std::ranges::partial_sort(found, end, {},
                              [](const auto& one) -> const std::string& { return one.first; });
    std::vector<Chunk> chunks;
    core::StepCounter steps;
    for (auto one = found.begin(); one != end; ++one) {
        if (steps.due(64)) BRAID_CHECK(core::check_limits(limits_));
        BRAID_TRY(Chunk chunk, counted_copy(one->second, with_vectors));
        chunks.push_back(std::move(chunk));
    }
    return chunks;
}

Result<std::uint64_t> SegmentView::count() const {
    std::uint64_t count = 0;
    for (const BufferView& buffer : buffers_) {
        BRAID_CHECK(admitted(buffer).for_each([&](exact::Row) { ++count; }));
    }
    for (const PartView& part : parts_) {
        BRAID_TRY(const BitsPtr allowed, part.allowed());
        count += part.count(allowed);
        BRAID_CHECK(part.part().intact());
    }
    return count;
}

Result<std::vector<FacetCount>> SegmentView::facets(const std::string& field,
                                                    std::size_t limit) const {
    exact::FacetCounter counter(field, schema(), limits_);
    for (const BufferView& buffer : buffers_) {
        BRAID_CHECK(admitted(buffer).for_each(
            [&](exact::Row row) { return counter.add(buffer.partition->chunk(row)); }));
    }
    for (const PartView& part : parts_) {
        BRAID_TRY(BitsPtr allowed, part.allowed());
        if (!allowed) {
            auto all = std::make_shared<Bits>(docs::make_bits(part.part().rows()));
            docs::set_range(*all, {0, part.part().rows()});
            allowed = std::move(all);
        }
        const auto counts = part.part().columns().facets(field, schema(), *allowed, limits_);
        if (!counts && counts.error().code == ErrorCode::Unsupported) {
            BRAID_CHECK(part.for_each(allowed, [&](std::uint32_t row) -> Result<> {
                BRAID_TRY(const Chunk chunk, part.part().chunk(row, false));
                return counter.add(chunk);
            }));
            continue;
        }
        if (!counts) return tl::unexpected(counts.error());
        for (const FacetCount& one : *counts) BRAID_CHECK(counter.add(one));
    }
    return counter.most_frequent(limit);
}

Result<bool> SegmentView::has_vectors() const {
    for (const BufferView& buffer : buffers_) {
        for (std::size_t i = 0; i < buffer.rows.rows(); ++i) {
            const exact::Row row = exact::row_at(i);
            if (buffer.partition->facts(row).vector != exact::kNoVector && buffer.rows.shows(row)) {
                return true;
            }
        }
    }
    for (const PartView& view : parts_) {
        if (view.part().vectors() == nullptr) continue;
        BRAID_TRY(const BitsPtr visible, view.visible());
        if (view.count(view.part().vectors_among(visible)) > 0) return true;
    }
    return false;
}

Result<index::Found> SegmentView::find(const std::string& id) const {
    BRAID_TRY(const Place place, place_of(id));
    if (place.buffer != nullptr)
        return index::Found{place.buffer->partition->shared_chunk(place.row)};
    if (place.part == nullptr) return index::Found{};
    BRAID_TRY(Chunk chunk, place.part->part().chunk(place.in_part, false));
    BRAID_CHECK(place.part->part().intact());
    return index::Found{std::make_shared<const Chunk>(std::move(chunk))};
}

Result<std::vector<std::string>> SegmentView::ids_of_document(
    const std::string& document_id) const {
    std::vector<std::string> ids;
    for (const BufferView& buffer : buffers_) {
        for (const exact::Row row : buffer.partition->rows_of_document(document_id)) {
            if (buffer.rows.shows(row)) ids.push_back(buffer.partition->chunk(row).chunk_id);
        }
    }
    for (const PartView& view : parts_) {
        BRAID_TRY(const auto rows, view.part().documents().document_rows(document_id));
        for (const std::uint64_t row : rows) {
            BRAID_TRY(const bool seen, view.shows(static_cast<std::uint32_t>(row)));
            if (!seen) continue;
            BRAID_TRY(ids.emplace_back(), view.part().documents().chunk_id(row));
        }
        BRAID_CHECK(view.part().intact());
    }
    return ids;
}

Result<> SegmentView::each_version(
    const std::function<void(const std::string& id, Version version)>& use) const {
    for (const BufferView& buffer : buffers_) {
        BRAID_CHECK(exact::RowFilter(buffer.rows, nullptr, limits_).for_each([&](exact::Row row) {
            const Chunk& chunk = buffer.partition->chunk(row);
            use(chunk.chunk_id, chunk.version);
        }));
    }
    for (const PartView& view : parts_) {
        BRAID_TRY(const BitsPtr visible, view.visible());
        BRAID_CHECK(view.for_each(visible, [&](std::uint32_t row) -> Result<> {
            BRAID_TRY(const std::string id, view.part().documents().chunk_id(row));
            BRAID_TRY(const Version version, view.part().documents().version(row));
            use(id, version);
            return {};
        }));
        BRAID_CHECK(view.part().intact());
    }
    return {};
}

Result<std::vector<std::pair<std::string, Version>>> SegmentView::written_after(
    Sequence seen) const {
    std::vector<std::pair<std::string, Version>> written;
    for (const BufferView& buffer : buffers_) {
        exact::RowFilter filter = admitted(buffer);
        for (std::size_t i = 0; i < buffer.rows.rows(); ++i) {
            const exact::Row row = exact::row_at(i);
            if (buffer.partition->facts(row).born <= seen || !buffer.rows.shows(row)) continue;
            BRAID_TRY(const bool passes, filter.admits(row));
            if (!passes) continue;
            const Chunk& chunk = buffer.partition->chunk(row);
            written.emplace_back(chunk.chunk_id, chunk.version);
        }
    }
    // A file does not say when each row was written, but none came after the last flush.
    if (seen >= index_.persisted()) return written;
    for (const PartView& view : parts_) {
        BRAID_TRY(const BitsPtr allowed, view.allowed());
        BRAID_CHECK(view.for_each(allowed, [&](std::uint32_t row) -> Result<> {
            auto& one = written.emplace_back();
            BRAID_TRY(one.first, view.part().documents().chunk_id(row));
            BRAID_TRY(one.second, view.part().documents().version(row));
            return {};
        }));
        BRAID_CHECK(view.part().intact());
    }
    return written;
}

}  // namespace braid::segment
