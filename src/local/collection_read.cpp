#include <chrono>
#include <utility>

#include "braid/core/limits.hpp"
#include "braid/core/resident_memory.hpp"
#include "braid/index/word_tree.hpp"
#include "braid/local/collection.hpp"

namespace braid::local {

template <class Read>
auto Collection::with_view(const PointInTime& at, const ReadScope& scope, const CallLimits& limits,
                           const Read& read) const
    -> decltype(read(std::declval<const index::View&>())) {
    BRAID_CHECK(core::check_limits(limits));
    std::optional<docs::FilterMatcher> filter;
    if (scope.filter) {
        BRAID_TRY(filter, docs::FilterMatcher::create(*scope.filter, manifest_.schema));
    }
    BRAID_TRY(const auto view, index_->view({.namespace_ = scope.namespace_,
                                             .principal = scope.principal,
                                             .at = at.sequence,
                                             .now = at.now,
                                             .filter = scope.filter ? &*scope.filter : nullptr,
                                             .matcher = filter ? &*filter : nullptr,
                                             .limits = limits,
                                             .bound = at.bound}));
    return read(*view);
}

Result<> Collection::add_words(const Leg& leg, index::Query& query) const {
    if (!leg.bm25.empty()) {
        BRAID_TRY(Schema scoring, with_choice(manifest_.schema, leg.bm25));
        query.scoring = std::make_shared<const Schema>(std::move(scoring));
    }
    if (leg.clause) {
        BRAID_TRY(query.tree,
                  index::analyze_tree(*leg.clause, query.scoring_or(manifest_.schema), analyzer_));
        return {};
    }
    for (const auto& terms : leg.phrasings) query.texts.push_back(index::counted(terms));
    return {};
}

Result<index::Query> Collection::query_of(const Leg& leg) const {
    index::Query query;
    query.kind = leg.kind;
    if (leg.kind == LegKind::Sparse) {
        BRAID_CHECK(add_words(leg, query));
        query.statistics = leg.statistics;
        return query;
    }
    if (!manifest_.schema.vectors.has_vectors()) {
        return invalid_argument("collection \"" + name_ +
                                "\" holds no vectors; search it with the strategy "
                                "\"sparse\"");
    }
    query.vector = leg.vector;
    query.exact = leg.exact || leg.after.has_value();
    query.recall = leg.recall;
    return query;
}

namespace {

/// When a list continues, one extra hit tells whether it ends here.
std::size_t searched_depth(const Leg& leg) {
    constexpr auto whole = static_cast<std::size_t>(-1);
    return leg.after && leg.depth != whole ? leg.depth + 1 : leg.depth;
}

}  // namespace

Result<LegResult> Collection::search(const PointInTime& at, const Leg& leg,
                                     const CallLimits& limits) const {
    const auto start = std::chrono::steady_clock::now();
    return with_view(at, leg.scope, limits, [&](const index::View& view) -> Result<LegResult> {
        BRAID_TRY(index::Query query, query_of(leg));
        query.after = leg.after;
        BRAID_TRY(index::Ranking ranking, view.search(query, searched_depth(leg)));
        ask_for_derivation();
        LegResult result;
        result.matched = {ranking.matched, ranking.matched_exactly ? MatchCount::Relation::Exact
                                                                   : MatchCount::Relation::AtLeast};
        result.exhausted = ranking.matched_exactly && ranking.hits.size() == ranking.matched;
        if (leg.after) {
            result.exhausted = ranking.hits.size() <= leg.depth;
            if (!result.exhausted) ranking.hits.resize(leg.depth);
        }
        result.hits = std::move(ranking.hits);
        result.exact = ranking.exact;
        result.method = std::move(ranking.method);
        result.patterns = std::move(ranking.patterns);
        result.absent = std::move(ranking.absent);
        result.time_ms =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                .count();
        return result;
    });
}

Result<TextStatistics> Collection::text_statistics(const PointInTime& at, const Leg& leg,
                                                   const CallLimits& limits) const {
    ReadScope scope = leg.scope;
    scope.filter.reset();  // a filter decides who is found, not how rare a word is
    return with_view(at, scope, limits, [&](const index::View& view) -> Result<TextStatistics> {
        index::Query query;
        BRAID_CHECK(add_words(leg, query));
        return view.text_statistics(query, manifest_.schema.bm25.variant == Bm25Variant::Okapi);
    });
}

Result<std::vector<std::optional<double>>> Collection::score(const PointInTime& at, const Leg& leg,
                                                             std::span<const FoundChunk> chunks,
                                                             const CallLimits& limits) const {
    using Scores = std::vector<std::optional<double>>;
    return with_view(at, leg.scope, limits, [&](const index::View& view) -> Result<Scores> {
        BRAID_TRY(const index::Query query, query_of(leg));
        return view.score(query, chunks);
    });
}

Result<std::vector<std::optional<std::uint64_t>>> Collection::rank_of(
    const PointInTime& at, const Leg& leg, std::span<const std::string> ids,
    const CallLimits& limits) const {
    using Ranks = std::vector<std::optional<std::uint64_t>>;
    return with_view(at, leg.scope, limits, [&](const index::View& view) -> Result<Ranks> {
        BRAID_TRY(const index::Query query, query_of(leg));
        return view.rank_of(query, ids);
    });
}

Result<std::vector<std::optional<Chunk>>> Collection::fetch(const PointInTime& at,
                                                            const ReadScope& scope,
                                                            std::span<const std::string> ids,
                                                            bool with_vectors,
                                                            const CallLimits& limits) const {
    return with_view(at, scope, limits,
                     [&](const index::View& view) { return view.fetch(ids, with_vectors); });
}

Result<std::vector<Chunk>> Collection::neighbors(const PointInTime& at, const ReadScope& scope,
                                                 const std::string& document_id, std::int64_t index,
                                                 std::size_t before, std::size_t after,
                                                 const CallLimits& limits) const {
    return with_view(at, scope, limits, [&](const index::View& view) {
        return view.neighbors(document_id, index, before, after);
    });
}

Result<std::uint64_t> Collection::count(const PointInTime& at, const ReadScope& scope,
                                        const CallLimits& limits) const {
    return with_view(at, scope, limits, [](const index::View& view) { return view.count(); });
}

Result<std::vector<Suggestion>> Collection::suggest(const PointInTime& at, const ReadScope& scope,
                                                    std::string_view text, std::size_t limit,
                                                    const CallLimits& limits) const {
    return with_view(at, scope, limits,
                     [&](const index::View& view) { return view.suggest(text, limit); });
}

Result<std::vector<FacetCount>> Collection::facets(const PointInTime& at, const ReadScope& scope,
                                                   const std::string& field, std::size_t limit,
                                                   const CallLimits& limits) const {
    return with_view(at, scope, limits,
                     [&](const index::View& view) { return view.facets(field, limit); });
}

Result<CollectionStats> Collection::stats(const PointInTime& at, const ReadScope& scope,
                                          const CallLimits& limits) const {
    BRAID_CHECK(core::check_limits(limits));
    CollectionStats stats;
    if (auto kept = kept_counts(at, scope)) {
        stats = *std::move(kept);
        stats.dense = segments_->dense_stats(scope.namespace_);
    } else {
        BRAID_TRY(stats, with_view(at, scope, limits,
                                   [](const index::View& view) { return view.stats(); }));
    }
    if (!scope.principal.sees_everything()) return stats;
    BRAID_TRY(stats.parts, stored_parts());
    stats.index = index_state();
    for (const StoredPart& part : stats.parts) stats.bytes_on_disk += part.bytes;
    stats.resident_bytes = core::resident_bytes();
    if (auto probes = read_probes(*directory_)) {  // made again if lost or damaged
        if (const auto found = probes->find(scope.namespace_); found != probes->end()) {
            stats.probes = std::move(found->second);
        }
    }
    return stats;
}

Result<std::vector<Chunk>> Collection::scan(const PointInTime& at, const ReadScope& scope,
                                            const std::string& after, std::size_t limit,
                                            bool with_vectors, const CallLimits& limits) const {
    return with_view(at, scope, limits, [&](const index::View& view) {
        return view.scan(after, limit, with_vectors);
    });
}

Result<CollectionInfo> Collection::info(const PointInTime& at, const Principal& principal) const {
    CollectionInfo info;
    info.name = name_;
    info.schema = manifest_.schema;
    BRAID_TRY(info.schema.vectors.dimension, visible_dimension(principal));
    if (principal.sees_everything()) info.bytes_on_disk = bytes_on_disk();
    for (const std::string& namespace_ : index_->namespaces()) {
        const auto view = index_->view({.namespace_ = namespace_,
                                        .principal = principal,
                                        .at = at.sequence,
                                        .now = at.now,
                                        .limits = {}});
        if (!view) break;  // the clearance is not a level here: the principal sees nothing
        BRAID_TRY(const index::View::Extent extent, (*view)->extent());
        info.chunks += extent.chunks;
        info.documents += extent.documents;
        if (extent.chunks > 0) info.namespaces.push_back(namespace_);
    }
    return info;
}

}  // namespace braid::local
