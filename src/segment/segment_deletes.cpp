#include <algorithm>

#include "braid/docs/packed_ints.hpp"
#include "braid/segment/segment_index.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/section_file_writer.hpp"

namespace braid::segment {

Result<std::uint64_t> SegmentIndex::write_deletes(store::Directory& directory, const State& state,
                                                  Sequence upto,
                                                  const NextGeneration& next_generation) {
    Deletes present;
    for (const auto& segment : state.segments) {
        std::size_t count = 0;
        for (const auto& space : segment->spaces()) count += space->deaths.count(upto);
        if (count > 0) present.counts.emplace_back(segment->generation(), count);
    }
    if (present.counts == deletes_.counts) return deletes_.generation;
    if (present.counts.empty()) {
        deletes_ = present;
        return 0;
    }
    BRAID_TRY(const auto writer,
              create_file(directory, kDeletesKind, next_generation, present.generation));
    for (const auto& segment : state.segments) {
        store::ByteWriter out;
        for (std::size_t i = 0; i < segment->spaces().size(); ++i) {
            const Deaths& deaths = segment->spaces()[i]->deaths;
            if (deaths.dropped(upto)) {
                out.varint(i);
                out.varint(0);  // all of them
                continue;
            }
            const std::size_t count = deaths.listed(upto);
            if (count == 0) continue;
            std::vector<std::uint32_t> rows;
            for (std::size_t j = 0; j < count; ++j) rows.push_back(deaths[j].row);
            std::ranges::sort(rows);
            out.varint(i);
            out.varint(rows.size());
            std::uint32_t next = 0;
            for (const std::uint32_t row : rows) {
                out.varint(row - next);
                next = row + 1;
            }
        }
        if (out.size() == 0) continue;
        BRAID_CHECK(writer->begin(store::section_file_name(kSegmentKind, segment->generation())));
        BRAID_CHECK(writer->write(out.view()));
    }
    BRAID_CHECK(writer->finish());
    deletes_ = present;
    return deletes_.generation;
}

Result<> SegmentIndex::load_deletes(const store::Directory& directory, std::uint64_t generation,
                                    const Segments& segments) {
    if (generation == 0) return {};
    BRAID_TRY(const auto file, store::SectionFile::open(
                                   directory, store::section_file_name(kDeletesKind, generation)));
    deletes_.generation = generation;
    for (const auto& segment : segments) {
        const auto section =
            file->section(store::section_file_name(kSegmentKind, segment->generation()));
        if (!section) continue;
        BRAID_TRY(const auto bytes, section->bytes());
        store::ByteReader in(bytes, file->path());
        std::size_t total = 0;
        while (!in.at_end()) {
            BRAID_TRY(const std::uint64_t number, in.varint("number of a namespace"));
            BRAID_TRY(const std::size_t count, in.count(1, "deleted rows"));
            if (number >= segment->spaces().size()) return in.corrupt("a namespace does not exist");
            Segment::Space& space = *segment->spaces()[number];
            if (count == 0) space.deaths.drop(0);
            std::uint64_t next = 0;
            for (std::size_t i = 0; i < count; ++i) {
                BRAID_TRY(const std::uint64_t step, in.varint("deleted row"));
                if (step >= space.meta().rows || next + step >= space.meta().rows) {
                    return in.corrupt("a deleted row does not exist");
                }
                space.deaths.add(static_cast<std::uint32_t>(next + step), 0);
                next += step + 1;
            }
            total += count == 0 ? static_cast<std::size_t>(space.meta().rows) : count;
        }
        if (total > 0) deletes_.counts.emplace_back(segment->generation(), total);
    }
    return file->intact();
}

void SegmentIndex::restore_label(std::uint32_t number, const exact::Label& label) {
    // Numbers that no segment uses any more stand for nothing visible.
    while (labels_.size() < number) {
        labels_.intern({.level = std::numeric_limits<std::size_t>::max(),
                        .scopes = {"unused " + std::to_string(labels_.size())}});
    }
    if (labels_.size() == number) labels_.intern(label);
}

Result<> SegmentIndex::load(const store::Directory& directory,
                            std::span<const std::uint64_t> generations, std::uint64_t deletes,
                            Sequence persisted) {
    auto loaded = std::make_shared<State>(*state());
    std::map<std::uint32_t, exact::Label> labels;
    for (const std::uint64_t generation : generations) {
        BRAID_TRY(auto segment, Segment::open(directory, generation, caches_));
        for (const auto& [number, label] : segment->meta().labels) {
            const auto known = labels.emplace(number, label).first;
            if (known->second == label) continue;
            return fail(ErrorCode::Corruption,
                        segment->file().path() +
                            ": its access labels differ from those of the other segments");
        }
        for (const PartMeta& part : segment->meta().parts) {
            if (part.expires) expires_ = true;
        }
        if (segment->meta().dimension != 0) dimension_ = segment->meta().dimension;
        loaded->segments.push_back(std::move(segment));
    }
    for (const auto& [number, label] : labels) restore_label(number, label);
    BRAID_CHECK(load_deletes(directory, deletes, loaded->segments));
    persisted_ = persisted;
    // A search of one namespace among thousands does without the others.
    constexpr std::size_t most = 64;
    std::size_t parts = 0;
    for (const auto& segment : loaded->segments) parts += segment->spaces().size();
    if (parts <= most) {
        for (const auto& segment : loaded->segments) segment->warm();
    }
    publish(std::move(loaded));
    return {};
}

}  // namespace braid::segment
