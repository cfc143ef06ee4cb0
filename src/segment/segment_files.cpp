// Flushing a segment index's buffer, and merging its segments.
#include <algorithm>
#include <utility>

#include "braid/segment/segment_index.hpp"
#include "braid/sparse/index_merge.hpp"
#include "braid/store/section_file_writer.hpp"

namespace braid::segment {
namespace {

/// How many rows of a segment a merge drops. What cannot be read is left to who reads it.
std::uint64_t rows_dropped(const Segment& segment, Sequence at, Timestamp now) {
    const auto dropped = segment.dropped(at, now);
    return dropped ? *dropped : segment.dead(at);
}

}  // namespace

bool SegmentIndex::flush_due() const {
    const StatePtr now = state();
    const Buffer& buffer = *now->buffers.back();
    return buffer.rows() >= policy_.flush_rows || buffer.bytes() >= policy_.flush_bytes;
}

bool SegmentIndex::freeze(Sequence at) {
    const StatePtr now = state();
    if (now->buffers.back()->rows() == 0 && at == persisted_) return false;
    auto next = std::make_shared<State>(*now);
    next->buffers.push_back(std::make_shared<Buffer>(schema_));
    now->buffers.back()->freeze(at);
    publish(std::move(next));
    return true;
}

Result<std::unique_ptr<store::SectionFileWriter>> SegmentIndex::create_file(
    store::Directory& directory, std::string_view kind, const NextGeneration& next_generation,
    std::uint64_t& generation) {
    constexpr int attempts = 1000;  // another collection in the making may use the directory too
    for (int i = 0;; ++i) {
        generation = next_generation();
        auto writer = store::SectionFileWriter::create(directory, kind, generation);
        if (writer || writer.error().code != ErrorCode::AlreadyExists || i == attempts) {
            return writer;
        }
    }
}

Result<SegmentIndex::Flushed> SegmentIndex::flush(store::Directory& directory,
                                                  const NextGeneration& next_generation,
                                                  const std::stop_token& stop) {
    const StatePtr now = state();
    Flushed flushed;
    flushed.buffer = now->buffers.front();
    flushed.at = flushed.buffer->frozen_at();
    bool any = false;
    std::vector<std::shared_ptr<const Part>> kept;  // whose transforms are used
    for (const auto& [name, partition] : flushed.buffer->partitions()) {
        PartitionRows rows = rows_at(*partition, flushed.at);
        any = any || !rows.rows.empty();
        std::uint64_t largest = 0;
        for (const auto& segment : now->segments) {
            const Segment::Space* const space = segment->space(name);
            if (space == nullptr || space->meta().vectors <= largest) continue;
            BRAID_TRY(auto part, space->part());
            if (part->vectors() == nullptr || !part->vectors()->transform()) continue;
            largest = space->meta().vectors;
            rows.transform = part->vectors()->transform();
            kept.push_back(std::move(part));
        }
        flushed.rows.emplace(name, std::move(rows));
    }
    if (!any) return flushed;
    std::uint64_t generation = 0;
    BRAID_TRY(const auto writer, create_file(directory, kSegmentKind, next_generation, generation));
    const auto number = [this](exact::Label label) { return labels_.intern(std::move(label)); };
    BRAID_CHECK(write_segment(flushed.rows, {.schema = schema_, .stop = stop}, number, *writer));
    BRAID_CHECK(writer->finish());
    BRAID_TRY(flushed.segment, Segment::open(directory, generation, caches_));
    return flushed;
}

void SegmentIndex::install(Flushed flushed) {
    const StatePtr now = state();
    auto next = std::make_shared<State>();
    next->from = std::max(now->from, flushed.at);
    next->segments = now->segments;
    next->buffers.assign(now->buffers.begin() + 1, now->buffers.end());
    if (flushed.segment) {
        for (const auto& space : flushed.segment->spaces()) {
            const PartitionRows& rows = flushed.rows.at(space->meta().namespace_);
            std::vector<Deaths::Death> deaths;
            for (std::size_t i = 0; i < rows.rows.size(); ++i) {
                const Sequence died =
                    rows.partition->facts(rows.rows[i]).died.load(std::memory_order_relaxed);
                if (died == exact::kAlive) continue;
                deaths.push_back({static_cast<std::uint32_t>(i), died});
            }
            std::ranges::stable_sort(deaths, {}, &Deaths::Death::at);
            for (const Deaths::Death& death : deaths) space->deaths.add(death.row, death.at);
        }
        if (flushed.segment->meta().dimension != 0) dimension_ = flushed.segment->meta().dimension;
        next->segments.push_back(std::move(flushed.segment));
    }
    persisted_ = flushed.at;
    publish(std::move(next));
}

SegmentIndex::Segments SegmentIndex::merge_due(Timestamp time) const {
    const StatePtr now = state();
    // A merge drops what died before the last flush, and no more.
    const Sequence flushed = persisted_;
    const auto live = [&](const Segment& segment) {
        return segment.rows() - rows_dropped(segment, flushed, time);
    };
    std::map<std::size_t, Segments> tiers;
    for (const auto& segment : now->segments) {
        std::size_t tier = 0;
        for (std::uint64_t rows = policy_.flush_rows; rows < live(*segment);
             rows *= policy_.fan_in) {
            ++tier;
        }
        tiers[tier].push_back(segment);
    }
    for (const auto& [tier, segments] : tiers) {
        if (segments.size() < policy_.fan_in) continue;
        // With what lies between them: of two segments with the same chunk, the later one always
        // has the later version, which is all that is left to go by if the deletes are lost.
        const auto first = std::ranges::find(now->segments, segments.front());
        const auto last = std::ranges::find(now->segments, segments.back());
        return {first, last + 1};
    }
    for (const auto& segment : now->segments) {
        const auto dead = static_cast<double>(rows_dropped(*segment, flushed, time));
        if (dead >= policy_.dead_share * static_cast<double>(segment->rows()) && dead > 0) {
            return {segment};
        }
    }
    return {};
}

SegmentIndex::Segments SegmentIndex::everything(Timestamp time) const {
    const StatePtr now = state();
    if (now->segments.size() == 1 && rows_dropped(*now->segments.front(), persisted_, time) == 0) {
        return {};
    }
    return now->segments;
}

Result<SegmentIndex::MergedSegment> SegmentIndex::merge(store::Directory& directory,
                                                        Segments inputs, Sequence at, Timestamp now,
                                                        const NextGeneration& next_generation,
                                                        const std::stop_token& stop) {
    MergedSegment merged;
    merged.inputs = std::move(inputs);
    merged.at = at;
    std::uint64_t generation = 0;
    BRAID_TRY(const auto writer, create_file(directory, kSegmentKind, next_generation, generation));
    BRAID_TRY(Merged written,
              merge_segments(merged.inputs, at, now, {.schema = schema_, .stop = stop}, *writer));
    merged.numbers = std::move(written.numbers);
    if (written.meta.parts.empty()) return merged;
    BRAID_CHECK(writer->finish());
    BRAID_TRY(merged.segment, Segment::open(directory, generation, caches_));
    return merged;
}

void SegmentIndex::install(MergedSegment merged) {
    const StatePtr now = state();
    auto next = std::make_shared<State>(*now);
    next->mean_idf = std::make_shared<State::MeanIdf>();
    next->from = std::max(now->from, merged.at);
    if (merged.segment) {
        std::map<Segment::Space*, std::vector<Deaths::Death>> deaths;
        for (const auto& [space, numbers] : merged.numbers) {
            const Deaths& before = space->deaths;
            Segment::Space* const into = merged.segment->space(space->meta().namespace_);
            if (into == nullptr) continue;  // none of its rows is left
            for (std::size_t i = before.listed(merged.at); i < before.size(); ++i) {
                // What had expired was dropped, and may have been replaced meanwhile.
                const std::uint32_t row = numbers[before[i].row];
                if (row == sparse::kDroppedRow) continue;
                deaths[into].push_back({row, before[i].at});
            }
        }
        for (auto& [space, list] : deaths) {
            std::ranges::stable_sort(list, {}, &Deaths::Death::at);
            for (const Deaths::Death& death : list) space->deaths.add(death.row, death.at);
        }
        for (const auto& [space, numbers] : merged.numbers) {
            const Sequence dropped = space->deaths.dropped_at();
            Segment::Space* const into = merged.segment->space(space->meta().namespace_);
            // One that was dropped before has left nothing in there.
            if (into == nullptr || dropped == Deaths::kNever || dropped <= merged.at) continue;
            into->deaths.drop(dropped);
        }
    }
    // In the place of the oldest input.
    const auto is_input = [&](const std::shared_ptr<Segment>& segment) {
        return std::ranges::find(merged.inputs, segment) != merged.inputs.end();
    };
    const auto first = std::ranges::find_if(next->segments, is_input);
    if (merged.segment && first != next->segments.end()) *first = std::move(merged.segment);
    std::erase_if(next->segments, is_input);
    publish(std::move(next));
}

}  // namespace braid::segment
