#include "braid/segment/segment.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace braid::segment {

Result<std::shared_ptr<Segment>> Segment::open(const store::Directory& directory,
                                               std::uint64_t generation, const Caches& caches) {
    const std::shared_ptr<Segment> segment(new Segment);  // NOLINT: private
    BRAID_TRY(segment->file_, store::SectionFile::open(
                                  directory, store::section_file_name(kSegmentKind, generation)));
    auto meta = read_meta(*segment->file_);
    if (!meta) return fail(segment->file_->path(), std::move(meta).error());
    segment->meta_ = *std::move(meta);
    segment->rows_ = segment->meta_.rows();
    segment->caches_ = caches;
    for (std::size_t i = 0; i < segment->meta_.parts.size(); ++i) {
        segment->spaces_.push_back(std::make_unique<Space>(*segment, i));
    }
    BRAID_CHECK(segment->file_->intact());
    // Whatever is wrong with them, searches do without and they are built again.
    if (auto graphs = SegmentGraphs::open(directory, *segment->file_)) {
        segment->graphs_ = *std::move(graphs);
    }
    return segment;
}

std::shared_ptr<const SegmentGraphs> Segment::graphs() const {
    const std::scoped_lock lock(graphs_mutex_);
    return graphs_;
}

void Segment::use(std::shared_ptr<const SegmentGraphs> graphs) const {
    {
        const std::scoped_lock lock(graphs_mutex_);
        graphs_ = graphs;
    }
    for (const auto& space : spaces_) {
        const std::scoped_lock lock(space->mutex_);
        if (space->part_) space->take_up(graphs);
    }
}

void Segment::warm() const {
    for (const auto& space : spaces_) {
        if (const auto part = space->part()) (*part)->warm();
    }
}

void Segment::Space::take_up(const std::shared_ptr<const SegmentGraphs>& graphs) const {
    const dense::VectorsReader* const vectors = part_->vectors();
    if (graphs == nullptr || vectors == nullptr) return;
    if (auto graph = graphs->of_part(number_, vectors->meta())) {
        vectors->use(*std::move(graph), graphs);
    }
}

std::uint64_t Segment::dead(Sequence at) const noexcept {
    std::uint64_t sum = 0;
    for (const auto& space : spaces_) sum += space->deaths.count(at);
    return sum;
}

Result<> Segment::add_bytes(std::map<std::string, std::uint64_t>& parts) const {
    static constexpr auto purposes =
        std::to_array<std::pair<std::string_view, const char*>>({{"docs.", "documents"},
                                                                 {"columns.", "columns"},
                                                                 {"sparse.", "words"},
                                                                 {"vectors.", "vectors"}});
    std::uint64_t known = 0;
    for (std::size_t i = 0; i < spaces_.size(); ++i) {
        BRAID_TRY(const store::Section outer, file_->section(part_section(i)));
        BRAID_TRY(const auto sections, store::NestedSource::open(outer));
        for (const store::SectionEntry& section : sections.sections()) {
            for (const auto& [prefix, purpose] : purposes) {
                if (!section.name.starts_with(prefix)) continue;
                parts[purpose] += section.length;
                known += section.length;
            }
        }
    }
    parts["other"] += bytes() - known;
    return file_->intact();
}

Segment::Space* Segment::space(std::string_view namespace_) const {
    const auto found = std::ranges::lower_bound(
        spaces_, namespace_, {},
        [](const auto& space) -> std::string_view { return space->meta().namespace_; });
    if (found == spaces_.end() || (*found)->meta().namespace_ != namespace_) return nullptr;
    return found->get();
}

Result<std::shared_ptr<const Part>> Segment::Space::part() const {
    const std::scoped_lock lock(mutex_);
    if (!part_) {
        BRAID_TRY(part_, Part::open(segment_.file_, number_, meta(), segment_.caches_));
        take_up(segment_.graphs());
    }
    return part_;
}

Result<BitsPtr> Segment::Space::kept(Sequence at, Timestamp now) const {
    BitsPtr live = deaths.live(at);
    if (!meta().expires) return live;
    BRAID_TRY(const auto part, this->part());
    BRAID_TRY(const std::uint64_t expired, part->documents().expired(now));
    if (expired == 0) return live;
    auto kept = std::make_shared<Bits>();
    if (live) {
        *kept = *live;
    } else {
        *kept = docs::make_bits(meta().rows);
        docs::set_range(*kept, {0, meta().rows});
    }
    for (std::uint64_t i = 0; i < expired; ++i) {
        BRAID_TRY(const std::uint64_t row, part->documents().expiring_rows().at(i));
        if (row >= meta().rows)
            return fail(ErrorCode::Corruption, "an expiring row does not exist");
        // A row that has died since may be one that a record of the log updates.
        const bool died =
            deaths.dead(static_cast<std::uint32_t>(row), std::numeric_limits<Sequence>::max());
        if (!died) docs::clear_bit(*kept, row);
    }
    BRAID_CHECK(part->intact());
    return BitsPtr(std::move(kept));
}

Result<std::uint64_t> Segment::Space::dropped(Sequence at, Timestamp now) const {
    if (!meta().expires) return deaths.count(at);
    BRAID_TRY(const BitsPtr rows, kept(at, now));
    return rows ? meta().rows - docs::count_bits(*rows) : 0;
}

Result<std::uint64_t> Segment::dropped(Sequence at, Timestamp now) const {
    std::uint64_t sum = 0;
    for (const auto& space : spaces_) {
        BRAID_TRY(const std::uint64_t rows, space->dropped(at, now));
        sum += rows;
    }
    return sum;
}

}  // namespace braid::segment
