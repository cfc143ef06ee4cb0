#include "braid/segment/segment_index.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "braid/docs/chunk_codec.hpp"
#include "braid/segment/segment_view.hpp"

namespace braid::segment {
namespace {

// Roughly what a version of a chunk takes in memory besides its content, and what each of its words
// takes.
constexpr std::uint64_t kRowBytes = 256;
constexpr std::uint64_t kTermBytes = 24;

}  // namespace

SegmentIndex::SegmentIndex(Schema schema, text::Analyzer analyzer, Caches caches, Policy policy)
    : schema_(std::move(schema)),
      analyzer_(std::move(analyzer)),
      caches_(std::move(caches)),
      policy_(policy),
      searches_metadata_(index::searches_metadata(schema_)) {
    auto first = std::make_shared<State>();
    first->buffers.push_back(std::make_shared<Buffer>(schema_));
    states_.push_back(std::move(first));
}

StatePtr SegmentIndex::state() const {
    const std::scoped_lock lock(mutex_);
    return states_.back();
}

void SegmentIndex::publish(std::shared_ptr<const State> state) {
    const std::scoped_lock lock(mutex_);
    // A state that begins where the last one does replaces it.
    if (states_.back()->from == state->from) states_.pop_back();
    states_.push_back(std::move(state));
}

void SegmentIndex::settle(Sequence oldest) {
    std::vector<StatePtr> gone;  // released outside the lock
    const std::scoped_lock lock(mutex_);
    while (states_.size() > 1 && states_[1]->from <= oldest) {
        gone.push_back(std::move(states_.front()));
        states_.pop_front();
    }
}

std::uint64_t SegmentIndex::keep(std::span<const Sequence> pinned) {
    std::deque<StatePtr> gone;  // released outside the lock
    const std::scoped_lock lock(mutex_);
    std::deque<StatePtr> kept;
    for (std::size_t i = 0; i < states_.size(); ++i) {
        const bool last = i + 1 == states_.size();
        const bool shown = last || std::ranges::any_of(pinned, [&](Sequence at) {
                               return states_[i]->from <= at && at < states_[i + 1]->from;
                           });
        (shown ? kept : gone).push_back(states_[i]);
    }
    states_ = std::move(kept);
    std::set<const void*> counted;
    for (const auto& segment : states_.back()->segments) counted.insert(segment.get());
    for (const auto& buffer : states_.back()->buffers) counted.insert(buffer.get());
    std::uint64_t bytes = 0;
    for (const StatePtr& state : states_) {
        for (const auto& segment : state->segments) {
            if (counted.insert(segment.get()).second) bytes += segment->bytes();
        }
        for (const auto& buffer : state->buffers) {
            if (counted.insert(buffer.get()).second) bytes += buffer->bytes();
        }
    }
    return bytes;
}

Result<SegmentIndex::Place> SegmentIndex::find(const State& state, const std::string& namespace_,
                                               const std::string& id, Sequence at) const {
    for (auto buffer = state.buffers.rbegin(); buffer != state.buffers.rend(); ++buffer) {
        const auto partition = (*buffer)->partition(namespace_);
        if (!partition) continue;
        const exact::Row row = partition->find(id, at);
        if (row != exact::kNoRow) return Place{.partition = partition.get(), .row = row};
    }
    for (auto segment = state.segments.rbegin(); segment != state.segments.rend(); ++segment) {
        Segment::Space* const space = (*segment)->space(namespace_);
        if (space == nullptr) continue;
        BRAID_TRY(const auto part, space->part());
        BRAID_TRY(const auto row, part->documents().find(id));
        if (!row) continue;
        BRAID_CHECK(part->intact());
        const auto number = static_cast<std::uint32_t>(*row);
        if (!space->deaths.dead(number, at)) return Place{.space = space, .in_part = number};
    }
    return Place{};
}

void SegmentIndex::kill(const Place& place, const std::string& id, Sequence at) {
    if (place.partition != nullptr) {
        place.partition->remove(id, at);
    } else if (place.space != nullptr) {
        place.space->deaths.add(place.in_part, at);
    }
}

Result<bool> SegmentIndex::has_expired(const Place& place, Timestamp now) {
    if (place.partition != nullptr) return place.partition->facts(place.row).expires <= now;
    if (place.space == nullptr || !place.space->meta().expires) return false;
    BRAID_TRY(const auto part, place.space->part());
    BRAID_TRY(const std::uint64_t expired, part->documents().expired(now));
    BRAID_TRY(const BitsPtr others, part->unexpired(expired));
    return others && !docs::has_bit(*others, place.in_part);
}

Result<std::uint64_t> SegmentIndex::upsert(const std::string& namespace_,
                                           std::vector<PreparedChunk> chunks, Sequence sequence,
                                           Timestamp now) {
    const StatePtr present = state();
    Buffer& buffer = *present->buffers.back();
    std::vector<Place> places;
    places.reserve(chunks.size());
    std::uint64_t replaced = 0;
    for (const PreparedChunk& chunk : chunks) {
        BRAID_TRY(places.emplace_back(),
                  find(*present, namespace_, chunk.chunk.chunk_id, sequence));
        BRAID_TRY(const bool expired, has_expired(places.back(), now));
        if (places.back() && !expired) ++replaced;
    }
    exact::Partition& partition = buffer.writable(namespace_);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        PreparedChunk& chunk = chunks[i];
        // The partition itself replaces a version in this same buffer.
        if (places[i].partition != &partition) kill(places[i], chunk.chunk.chunk_id, sequence);
        buffer.count(docs::chunk_bytes(chunk.chunk) + kRowBytes +
                     kTermBytes * chunk.text.terms.size());
        if (chunk.chunk.expires_at) expires_ = true;
        partition.upsert(std::move(chunk), sequence);
    }
    return replaced;
}

Result<std::uint64_t> SegmentIndex::update(const std::string& namespace_,
                                           std::span<const MetadataUpdate> updates, Version version,
                                           Sequence sequence) {
    const StatePtr now = state();
    std::vector<PreparedChunk> chunks;
    for (const MetadataUpdate& update : updates) {
        BRAID_TRY(const Place place, find(*now, namespace_, update.chunk_id, sequence));
        if (!place) continue;
        Chunk chunk;
        if (place.partition != nullptr) {
            chunk = place.partition->chunk_with_vector(place.row);
        } else {
            BRAID_TRY(const auto part, place.space->part());
            BRAID_TRY(chunk, part->chunk(place.in_part, true));
            BRAID_CHECK(part->intact());
        }
        index::apply_update(update, chunk);
        chunk.version = version;
        chunks.push_back(index::prepare(std::move(chunk), schema_, analyzer_));
    }
    return upsert(namespace_, std::move(chunks), sequence, index::kNothingExpired);
}

Result<std::uint64_t> SegmentIndex::remove(const std::string& namespace_,
                                           std::span<const std::string> ids, Sequence sequence) {
    const StatePtr now = state();
    std::vector<std::pair<Place, const std::string*>> places;
    for (const std::string& id : ids) {
        BRAID_TRY(const Place place, find(*now, namespace_, id, sequence));
        if (place) places.emplace_back(place, &id);
    }
    std::uint64_t removed = 0;
    for (const auto& [place, id] : places) {
        // An id may be listed twice.
        if (place.space != nullptr && place.space->deaths.dead(place.in_part, sequence)) continue;
        if (place.partition != nullptr && !place.partition->facts(place.row).visible(sequence)) {
            continue;
        }
        kill(place, *id, sequence);
        ++removed;
    }
    return removed;
}

Result<std::uint64_t> SegmentIndex::drop(const std::string& namespace_, Sequence sequence) {
    const StatePtr now = state();
    std::uint64_t dropped = 0;
    for (const auto& buffer : now->buffers) {
        if (const auto partition = buffer->partition(namespace_)) {
            dropped += partition->remove_all(sequence);
        }
    }
    for (const auto& segment : now->segments) {
        Segment::Space* const space = segment->space(namespace_);
        if (space == nullptr) continue;
        dropped += space->meta().rows - space->deaths.count(sequence);
        space->deaths.drop(sequence);
    }
    return dropped;
}

StatePtr SegmentIndex::state_at(Sequence at) const {
    const std::scoped_lock lock(mutex_);
    StatePtr chosen = states_.front();
    for (const StatePtr& state : states_) {
        if (state->from <= at) chosen = state;
    }
    return chosen;
}

std::shared_ptr<const index::Bound> SegmentIndex::bind(Sequence at) const {
    return std::make_shared<const Binding>(state_at(at));
}

Result<std::unique_ptr<index::View>> SegmentIndex::view(const index::ViewOf& of) const {
    auto binding = std::static_pointer_cast<const Binding>(of.bound);
    if (!binding) binding = std::make_shared<const Binding>(state_at(of.at));
    return SegmentView::create(*this, std::move(binding), of);
}

std::vector<std::string> SegmentIndex::namespaces() const {
    std::set<std::string> names;
    const StatePtr now = state();
    for (const auto& buffer : now->buffers) {
        for (const auto& [name, partition] : buffer->partitions()) names.insert(name);
    }
    for (const auto& segment : now->segments) {
        for (const PartMeta& part : segment->meta().parts) names.insert(part.namespace_);
    }
    return {names.begin(), names.end()};
}

std::uint64_t SegmentIndex::live_bytes() const noexcept {
    std::uint64_t bytes = 0;
    const StatePtr now = state();
    for (const auto& buffer : now->buffers) bytes += buffer->bytes();
    return bytes;
}

std::uint64_t SegmentIndex::buffered_rows() const {
    return state()->buffers.back()->rows();
}

}  // namespace braid::segment
