#include "braid/local/reader.hpp"

#include "braid/core/search_legs.hpp"
#include "braid/core/unknown_collection.hpp"
#include "braid/index/write_rules.hpp"
#include "braid/local/backend.hpp"

namespace braid::local {

ReaderPtr LocalReader::lapsing() const {
    auto reader = std::make_shared<LocalReader>(std::make_shared<const Pins>(), CallLimits());
    for (const auto& [name, pin] : *pins_) {
        reader->lapsing_.emplace(name, Collection::lapsing(pin));
    }
    return reader;
}

Result<ReaderPtr> LocalReader::resume(const CallLimits& limits) const {
    auto pins = std::make_shared<Pins>(*pins_);
    for (const auto& [name, lapsing] : lapsing_) {
        auto pin = lapsing->pin();
        if (!pin) {
            return fail(ErrorCode::NotFound, "the earlier state of collection \"" + name +
                                                 "\" is no longer kept: it has been rewritten "
                                                 "since; ask again without the cursor");
        }
        pins->emplace(name, std::move(pin));
    }
    return ReaderPtr(std::make_shared<LocalReader>(std::move(pins), limits));
}

Result<const Collection::Pin*> LocalReader::pinned(const std::string& collection) const {
    const auto found = pins_->find(collection);
    if (found == pins_->end()) return core::no_collection(collection);
    return found->second.get();
}

template <class Read>
auto LocalReader::read(const std::string& collection, const Read& read) const
    -> decltype(read(std::declval<const Collection&>(), PointInTime{})) {
    BRAID_TRY(const Collection::Pin* const pin, pinned(collection));
    if (pin->collection().unfinished()) {
        return fail(ErrorCode::Unavailable,
                    "collection \"" + collection + "\" cannot be read: " + index::kUnfilled);
    }
    return read(pin->collection(), pin->at());
}

Result<Schema> LocalReader::schema(const std::string& collection) const {
    BRAID_TRY(const Collection::Pin* const pin, pinned(collection));
    return pin->collection().schema();
}

Result<std::shared_ptr<const rank::Model>> LocalReader::ranker(
    const std::string& collection) const {
    BRAID_TRY(const Collection::Pin* const pin, pinned(collection));
    return pin->ranker();
}

Result<std::vector<std::string>> LocalReader::analyze(const std::string& collection,
                                                      std::string_view text) const {
    BRAID_TRY(const Collection::Pin* const pin, pinned(collection));
    return pin->collection().analyzer().query_terms(text);
}

std::vector<Result<LegResult>> LocalReader::search(std::span<const Leg> legs) const {
    const auto one = [this](const Leg& leg) {
        return read(leg.scope.collection, [&](const Collection& from, const PointInTime& at) {
            return from.search(at, leg, limits_);
        });
    };
    return core::search_legs(legs, one, core::run_computing);
}

Result<TextStatistics> LocalReader::text_statistics(const Leg& leg) const {
    return read(leg.scope.collection, [&](const Collection& from, const PointInTime& at) {
        return from.text_statistics(at, leg, limits_);
    });
}

Result<std::vector<std::optional<double>>> LocalReader::score(
    const Leg& leg, std::span<const std::string> chunk_ids) const {
    std::vector<FoundChunk> chunks;
    chunks.reserve(chunk_ids.size());
    for (const std::string& id : chunk_ids) chunks.push_back({.chunk_id = id});
    return score_found(leg, chunks);
}

Result<std::vector<std::optional<double>>> LocalReader::score_found(
    const Leg& leg, std::span<const FoundChunk> chunks) const {
    return read(leg.scope.collection, [&](const Collection& from, const PointInTime& at) {
        return from.score(at, leg, chunks, limits_);
    });
}

Result<std::vector<std::optional<std::uint64_t>>> LocalReader::rank_of(
    const Leg& leg, std::span<const std::string> chunk_ids) const {
    return read(leg.scope.collection, [&](const Collection& from, const PointInTime& at) {
        return from.rank_of(at, leg, chunk_ids, limits_);
    });
}

Result<std::vector<std::optional<Chunk>>> LocalReader::fetch(const ReadScope& scope,
                                                             std::span<const std::string> chunk_ids,
                                                             bool with_vectors) const {
    return read(scope.collection, [&](const Collection& from, const PointInTime& at) {
        return from.fetch(at, scope, chunk_ids, with_vectors, limits_);
    });
}

Result<std::vector<std::vector<Chunk>>> LocalReader::neighbors(
    const ReadScope& scope, std::span<const NeighborRange> ranges) const {
    using All = std::vector<std::vector<Chunk>>;
    return read(
        scope.collection, [&](const Collection& from, const PointInTime& at) -> Result<All> {
            All all;
            all.reserve(ranges.size());
            for (const NeighborRange& range : ranges) {
                BRAID_TRY(auto chunks, from.neighbors(at, scope, range.document_id, range.index,
                                                      range.before, range.after, limits_));
                all.push_back(std::move(chunks));
            }
            return all;
        });
}

Result<std::uint64_t> LocalReader::count(const ReadScope& scope) const {
    return read(scope.collection, [&](const Collection& from, const PointInTime& at) {
        return from.count(at, scope, limits_);
    });
}

Result<std::vector<Suggestion>> LocalReader::suggest(const ReadScope& scope, std::string_view text,
                                                     std::size_t limit) const {
    return read(scope.collection, [&](const Collection& from, const PointInTime& at) {
        return from.suggest(at, scope, text, limit, limits_);
    });
}

Result<std::vector<FacetCount>> LocalReader::facets(const ReadScope& scope,
                                                    const std::string& field,
                                                    std::size_t limit) const {
    return read(scope.collection, [&](const Collection& from, const PointInTime& at) {
        return from.facets(at, scope, field, limit, limits_);
    });
}

Result<CollectionStats> LocalReader::stats(const ReadScope& scope) const {
    return read(scope.collection, [&](const Collection& from, const PointInTime& at) {
        return from.stats(at, scope, limits_);
    });
}

Result<std::vector<Chunk>> LocalReader::scan(const ReadScope& scope, const std::string& after,
                                             std::size_t limit, bool with_vectors) const {
    return read(scope.collection, [&](const Collection& from, const PointInTime& at) {
        return from.scan(at, scope, after, limit, with_vectors, limits_);
    });
}

}  // namespace braid::local
