#include "braid/core/search_legs.hpp"
#include "braid/local/backend.hpp"

namespace braid::local {

Result<Schema> LocalBackend::schema(const SnapshotPtr& snapshot,
                                    const std::string& collection) const {
    BRAID_TRY(const auto pin, pinned(snapshot, collection));
    return pin->collection().schema();
}

std::vector<Result<LegResult>> LocalBackend::search(const SnapshotPtr& snapshot,
                                                    std::span<const Leg> legs,
                                                    const CallLimits& limits) const {
    return core::search_legs(*this, snapshot, legs, limits, core::run_computing);
}

Result<LegResult> LocalBackend::search_leg(const SnapshotPtr& snapshot, const Leg& leg,
                                           const CallLimits& limits) const {
    BRAID_TRY(const auto pin, find(snapshot, leg.scope));
    return pin->collection().search(pin->at(), leg, limits);
}

Result<TextStatistics> LocalBackend::text_statistics(const SnapshotPtr& snapshot, const Leg& leg,
                                                     const CallLimits& limits) const {
    BRAID_TRY(const auto pin, find(snapshot, leg.scope));
    return pin->collection().text_statistics(pin->at(), leg, limits);
}

Result<std::vector<std::optional<double>>> LocalBackend::score(
    const SnapshotPtr& snapshot, const Leg& leg, std::span<const std::string> chunk_ids,
    const CallLimits& limits) const {
    BRAID_TRY(const auto pin, find(snapshot, leg.scope));
    return pin->collection().score(pin->at(), leg, chunk_ids, limits);
}

Result<std::vector<std::optional<Chunk>>> LocalBackend::fetch(
    const SnapshotPtr& snapshot, const ReadScope& scope, std::span<const std::string> chunk_ids,
    bool with_vectors, const CallLimits& limits) const {
    BRAID_TRY(const auto pin, find(snapshot, scope));
    return pin->collection().fetch(pin->at(), scope, chunk_ids, with_vectors, limits);
}

Result<std::vector<Chunk>> LocalBackend::neighbors(
    const SnapshotPtr& snapshot, const ReadScope& scope, const std::string& document_id,
    std::int64_t index, std::size_t before, std::size_t after, const CallLimits& limits) const {
    BRAID_TRY(const auto pin, find(snapshot, scope));
    return pin->collection().neighbors(pin->at(), scope, document_id, index, before, after, limits);
}

Result<std::uint64_t> LocalBackend::count(const SnapshotPtr& snapshot, const ReadScope& scope,
                                          const CallLimits& limits) const {
    BRAID_TRY(const auto pin, find(snapshot, scope));
    return pin->collection().count(pin->at(), scope, limits);
}

Result<std::vector<Suggestion>> LocalBackend::suggest(const SnapshotPtr& snapshot,
                                                      const ReadScope& scope, std::string_view text,
                                                      std::size_t limit,
                                                      const CallLimits& limits) const {
    BRAID_TRY(const auto pin, find(snapshot, scope));
    return pin->collection().suggest(pin->at(), scope, text, limit, limits);
}

Result<std::vector<FacetCount>> LocalBackend::facets(const SnapshotPtr& snapshot,
                                                     const ReadScope& scope,
                                                     const std::string& field, std::size_t limit,
                                                     const CallLimits& limits) const {
    BRAID_TRY(const auto pin, find(snapshot, scope));
    return pin->collection().facets(pin->at(), scope, field, limit, limits);
}

Result<CollectionStats> LocalBackend::stats(const SnapshotPtr& snapshot, const ReadScope& scope,
                                            const CallLimits& limits) const {
    BRAID_TRY(const auto pin, find(snapshot, scope));
    return pin->collection().stats(pin->at(), scope, limits);
}

Result<std::vector<Chunk>> LocalBackend::scan(const SnapshotPtr& snapshot, const ReadScope& scope,
                                              const std::string& after, std::size_t limit,
                                              bool with_vectors, const CallLimits& limits) const {
    BRAID_TRY(const auto pin, find(snapshot, scope));
    return pin->collection().scan(pin->at(), scope, after, limit, with_vectors, limits);
}

}  // namespace braid::local
