// Flushing a segment index's buffer, and merging its segments.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "braid/segment/segment_index.hpp"
#include "braid/sparse/index_merge.hpp"
#include "braid/store/section_file_writer.hpp"

namespace braid::segment {
namespace {

/// How many rows of a segment a merge drops. Read errors are left to whoever reads the rows.
std::uint64_t rows_dropped(const Segment& segment, Sequence at, Timestamp now) {
    const auto dropped = segment.dropped(at, now);
    return dropped ? *dropped : segment.dead(at);
}

/// `chosen` among `all`, plus the segments between them that share a namespace with one of them. Of
/// two segments that hold the same chunk, the later one then always has the later version, which is
/// all there is to go by if the deletes are lost.
SegmentIndex::Segments with_those_between(const SegmentIndex::Segments& all,
                                          SegmentIndex::Segments chosen) {
    const auto first = std::ranges::find(all, chosen.front());
    const auto last = std::ranges::find(all, chosen.back());
    std::set<std::string> names;
    const auto shares = [&](const std::shared_ptr<Segment>& segment) {
        return std::ranges::any_of(segment->meta().parts, [&](const PartMeta& part) {
            return names.contains(part.namespace_);
        });
    };
    for (std::size_t before = 0; before != chosen.size();) {
        before = chosen.size();
        for (const auto& segment : chosen) {
            for (const PartMeta& part : segment->meta().parts) names.insert(part.namespace_);
        }
        SegmentIndex::Segments found;
        std::copy_if(first, last + 1, std::back_inserter(found), shares);
        chosen = std::move(found);
    }
    return chosen;
}

}  // namespace

bool SegmentIndex::flush_due() const {
    const StatePtr now = state();
    const Buffer& buffer = *now->buffers.back();
    return buffer.rows() >= policy_.flush_rows || buffer.bytes() >= policy_.buffer_bytes();
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
    constexpr int attempts = 1000;  // another collection being created may use the directory too
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
    std::vector<std::shared_ptr<const Part>> kept;  // their transforms are reused
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
    BRAID_CHECK(write_segment(flushed.rows, write_settings(stop), number, *writer));
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
    // By size; large segments of a single namespace are merged only with others of that namespace.
    std::map<std::pair<std::size_t, std::string>, Segments> tiers;
    for (const auto& segment : now->segments) {
        std::size_t tier = 0;
        for (std::uint64_t rows = policy_.flush_rows; rows < live(*segment);
             rows *= policy_.fan_in) {
            ++tier;
        }
        const bool own = segment->spaces().size() == 1 && live(*segment) > policy_.own_rows();
        tiers[{tier, own ? segment->meta().parts.front().namespace_ : ""}].push_back(segment);
    }
    for (const auto& [tier, segments] : tiers) {
        if (segments.size() >= policy_.fan_in) return with_those_between(now->segments, segments);
    }
    for (const auto& segment : now->segments) {
        const auto dead = static_cast<double>(rows_dropped(*segment, flushed, time));
        if (dead >= policy_.dead_share * static_cast<double>(segment->rows()) && dead > 0) {
            return {segment};
        }
    }
    return {};
}

Result<std::vector<std::set<std::string>>> SegmentIndex::files_of(const Segments& segments,
                                                                  Sequence at,
                                                                  Timestamp now) const {
    std::map<std::string, std::uint64_t> rows;
    for (const auto& segment : segments) {
        for (const auto& space : segment->spaces()) {
            BRAID_TRY(const std::uint64_t dropped, space->dropped(at, now));
            rows[space->meta().namespace_] += space->meta().rows - dropped;
        }
    }
    std::vector<std::set<std::string>> files;
    std::set<std::string> shared;
    for (const auto& [name, count] : rows) {
        if (count > policy_.own_rows()) {
            files.push_back({name});
        } else {
            shared.insert(name);
        }
    }
    if (!shared.empty()) files.push_back(std::move(shared));
    return files;
}

SegmentIndex::Segments SegmentIndex::everything(Timestamp time) const {
    const StatePtr now = state();
    const auto files = files_of(now->segments, persisted_, time);
    if (!files) return now->segments;  // the merge will report what cannot be read
    const auto is_file = [&](const std::shared_ptr<Segment>& segment) {
        return rows_dropped(*segment, persisted_, time) == 0 &&
               std::ranges::any_of(*files, [&](const std::set<std::string>& names) {
                   return std::ranges::all_of(segment->meta().parts, [&](const PartMeta& part) {
                       return names.contains(part.namespace_);
                   });
               });
    };
    if (now->segments.size() == files->size() && std::ranges::all_of(now->segments, is_file)) {
        return {};
    }
    return now->segments;
}

Result<SegmentIndex::MergedSegments> SegmentIndex::merge(store::Directory& directory,
                                                         Segments inputs, Sequence at,
                                                         Timestamp now,
                                                         const NextGeneration& next_generation,
                                                         const std::stop_token& stop) {
    MergedSegments merged;
    merged.inputs = std::move(inputs);
    merged.at = at;
    BRAID_TRY(const auto files, files_of(merged.inputs, at, now));
    for (const std::set<std::string>& names : files) {
        std::uint64_t generation = 0;
        BRAID_TRY(const auto writer,
                  create_file(directory, kSegmentKind, next_generation, generation));
        BRAID_TRY(Merged written,
                  merge_segments(merged.inputs, names, at, now, write_settings(stop), *writer));
        merged.numbers.merge(written.numbers);
        if (written.meta.parts.empty()) continue;
        BRAID_CHECK(writer->finish());
        BRAID_TRY(merged.outputs.emplace_back(), Segment::open(directory, generation, caches_));
    }
    return merged;
}

void SegmentIndex::install(MergedSegments merged) {
    const StatePtr now = state();
    auto next = std::make_shared<State>(*now);
    next->mean_idf = std::make_shared<State::MeanIdf>();
    next->from = std::max(now->from, merged.at);
    const auto output = [&](const std::string& name) -> Segment::Space* {
        for (const auto& segment : merged.outputs) {
            if (Segment::Space* const space = segment->space(name)) return space;
        }
        return nullptr;  // none of its rows is left
    };
    std::map<Segment::Space*, std::vector<Deaths::Death>> deaths;
    for (const auto& [space, numbers] : merged.numbers) {
        const Deaths& before = space->deaths;
        Segment::Space* const into = output(space->meta().namespace_);
        if (into == nullptr) continue;
        for (std::size_t i = before.listed(merged.at); i < before.size(); ++i) {
            // Expired rows were dropped, and may have been replaced meanwhile.
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
        Segment::Space* const into = output(space->meta().namespace_);
        // A namespace dropped before the merge left no rows in it.
        if (into == nullptr || dropped == Deaths::kNever || dropped <= merged.at) continue;
        into->deaths.drop(dropped);
    }
    // Takes the place of the oldest input.
    const auto is_input = [&](const std::shared_ptr<Segment>& segment) {
        return std::ranges::find(merged.inputs, segment) != merged.inputs.end();
    };
    const auto first = std::ranges::find_if(next->segments, is_input);
    next->segments.insert(first, merged.outputs.begin(), merged.outputs.end());
    std::erase_if(next->segments, is_input);
    publish(std::move(next));
}

}  // namespace braid::segment
