#include <algorithm>
#include <chrono>
#include <utility>

#include "braid/core/limits.hpp"
#include "braid/core/unknown_collection.hpp"
#include "braid/exact/leg_search.hpp"
#include "braid/remote/filter_query.hpp"
#include "braid/remote/leg_query.hpp"
#include "braid/remote/remote_reader.hpp"

namespace braid::remote {
namespace {

bool follows(const LegHit& hit, const LegHit& after) {
    return hit.score != after.score ? hit.score < after.score : hit.chunk_id > after.chunk_id;
}

bool point_expired(const Error& error) {
    return error.code == ErrorCode::NotFound &&
           error.message.find("search_context_missing") != std::string::npos;
}

LegResult empty_result(std::string method) {
    LegResult result;
    result.exhausted = true;
    result.method = std::move(method);
    return result;
}

}  // namespace

Result<bool> RemoteReader::sees_vectors(const RemoteCollection& collection,
                                        const ReadScope& scope) const {
    BRAID_TRY(Array clauses, principal_clauses(scope.principal, collection.meta.schema,
                                               collection.expiry_at(snapshot_->now())));
    clauses.push_back(term_clause("ns", scope.namespace_));
    clauses.emplace_back(Object{{"exists", Object{{"field", "vector"}}}});
    BRAID_TRY(
        const Value answer,
        ask(collection, {{"size", 1}, {"_source", false}, {"query", all_of(std::move(clauses))}}));
    return !hits_of(answer).empty();
}

Result<> RemoteReader::check_vector(const Leg& leg, const RemoteCollection& collection,
                                    bool& none) const {
    if (!collection.meta.schema.vectors.has_vectors()) {
        return invalid_argument("collection \"" + collection.meta.collection +
                                "\" holds no vectors; search it with the strategy \"sparse\"");
    }
    BRAID_CHECK(exact::check_query_vector(leg.vector, collection.meta.schema));
    const std::size_t dimension = collection.meta.dimension;
    none = dimension == 0 || leg.vector.size() != dimension;
    if (dimension == 0 || !none) return {};
    // Not declared, so only a vector that the caller may see reveals the dimension.
    BRAID_TRY(const bool seen, sees_vectors(collection, leg.scope));
    if (seen) return exact::wrong_dimension(leg.vector.size(), dimension);
    return {};
}

Result<> RemoteReader::prepare(Pending& pending) const {
    const Leg& leg = *pending.leg;
    BRAID_TRY(pending.collection, searchable(leg.scope.collection));
    BRAID_TRY(pending.scope, clauses_of(leg.scope, *pending.collection));
    pending.size = std::min(leg.depth + 1, kMostHits);
    if (leg.kind == LegKind::Sparse) {
        if (leg.statistics) {
            return fail(ErrorCode::Unsupported,
                        "a cluster weights words only by its own statistics");
        }
        if (!words_clause(leg)) pending.result = empty_result("cluster bm25");
        return {};
    }
    bool none = false;
    BRAID_CHECK(check_vector(leg, *pending.collection, none));
    if (none) pending.result = empty_result("cluster hnsw");
    pending.exact = leg.exact || leg.after.has_value();
    pending.size = std::min(pending.size + kSpareVectors, kMostHits);
    return {};
}

SearchItem RemoteReader::item_of(const Pending& pending) const {
    const Leg& leg = *pending.leg;
    SearchItem item;
    item.index = pending.collection->index;
    item.preference = preference_of(leg);
    item.pit = snapshot_->open_point(*pending.collection);
    if (leg.kind == LegKind::Sparse) {
        item.same_statistics = true;
        item.body = sparse_body(leg, words_clause(leg).value_or(match_none()), pending.scope,
                                pending.size, *pending.collection);
        return item;
    }
    const Metric metric = pending.collection->meta.schema.vectors.metric;
    const std::vector<float> vector = indexed_vector(leg.vector, metric);
    item.body = pending.exact ? exact_dense_body(vector, pending.scope, pending.size, metric)
                              : dense_body(vector, pending.scope, pending.size, leg.recall);
    return item;
}

Result<bool> RemoteReader::take(Pending& pending, const Value& answer) const {
    const Leg& leg = *pending.leg;
    LegResult result;
    const bool sparse = leg.kind == LegKind::Sparse;
    if (sparse) {
        BRAID_TRY(result.hits, sparse_hits(answer, *pending.collection));
    } else {
        BRAID_TRY(result.hits, dense_hits(answer, leg.vector, *pending.collection));
    }
    const std::size_t listed = result.hits.size();
    const bool all_listed = listed < pending.size;
    result.matched = {listed,
                      all_listed ? MatchCount::Relation::Exact : MatchCount::Relation::AtLeast};
    // An exact search counts everything it ranks; a graph search does not count everything it could
    // reach.
    if (const Value* const hits = answer.find("hits");
        (sparse || pending.exact) && hits != nullptr) {
        const Value* const total = hits->find("total");
        const Value* const value = total != nullptr ? total->find("value") : nullptr;
        const Value* const relation = total != nullptr ? total->find("relation") : nullptr;
        if (value != nullptr && value->is_int() && relation != nullptr && relation->is_string()) {
            result.matched = {static_cast<std::uint64_t>(value->as_int()),
                              relation->as_string() == "eq" ? MatchCount::Relation::Exact
                                                            : MatchCount::Relation::AtLeast};
        }
    }
    if (!sparse && leg.after) {
        std::erase_if(result.hits, [&](const LegHit& hit) { return !follows(hit, *leg.after); });
        if (!all_listed && result.hits.size() <= leg.depth && pending.size < kMostHits) {
            pending.size = std::min(pending.size * 4, kMostHits);
            return false;
        }
    }
    result.exhausted = all_listed && result.hits.size() <= leg.depth;
    if (result.hits.size() > leg.depth) result.hits.resize(leg.depth);
    if (!all_listed && pending.size == kMostHits) {
        result.warnings.push_back("a cluster ranks no deeper than " + std::to_string(kMostHits));
    }
    // A graph may miss something, unless it listed all there is.
    result.exact = sparse || pending.exact || all_listed;
    result.method = sparse ? "cluster bm25" : pending.exact ? "cluster exact scan" : "cluster hnsw";
    const Value* const took = answer.find("took");
    result.time_ms = took != nullptr && took->is_number() ? took->as_double() : 0;
    pending.result = std::move(result);
    return true;
}

void RemoteReader::round(std::vector<Pending*>& open) const {
    std::vector<SearchItem> items;
    for (const Pending* const pending : open) items.push_back(item_of(*pending));
    std::vector<std::string> points;
    for (const SearchItem& item : items) points.push_back(item.pit);
    auto answers = snapshot_->core().search(std::move(items), limits_);
    std::vector<Pending*> again;
    for (std::size_t i = 0; i < open.size(); ++i) {
        Pending& pending = *open[i];
        if (!answers[i]) {
            Error& error = answers[i].error();
            if (!points[i].empty() && point_expired(error)) {
                auto reopened = snapshot_->point_in_time(*pending.collection, points[i], limits_);
                if (reopened) {
                    again.push_back(&pending);
                    continue;
                }
                error = std::move(reopened).error();
            } else if (error.code == ErrorCode::NotFound) {
                error = core::no_collection(pending.collection->meta.collection).value();
            }
            pending.result = tl::unexpected<Error>(std::move(error));
            continue;
        }
        auto taken = take(pending, *answers[i]);
        if (!taken) {
            pending.result = tl::unexpected<Error>(std::move(taken).error());
        } else if (!*taken) {
            again.push_back(&pending);
        }
    }
    open = std::move(again);
}

std::vector<Result<LegResult>> RemoteReader::search(std::span<const Leg> legs) const {
    std::vector<Pending> all(legs.size());
    std::vector<Pending*> open;
    for (std::size_t i = 0; i < legs.size(); ++i) {
        Pending& pending = all[i];
        pending.leg = &legs[i];
        auto prepared = prepare(pending);
        if (prepared && legs[i].after && !pending.result) {
            // Later pages come from the same list, whatever is written meanwhile.
            auto point = snapshot_->point_in_time(*pending.collection, "", limits_);
            if (!point) prepared = tl::unexpected<Error>(std::move(point).error());
        }
        if (!prepared) pending.result = tl::unexpected<Error>(std::move(prepared).error());
        if (!pending.result) open.push_back(&pending);
    }
    while (!open.empty()) round(open);
    std::vector<Result<LegResult>> results;
    results.reserve(all.size());
    for (Pending& pending : all) results.push_back(std::move(*pending.result));
    return results;
}

Result<std::vector<std::optional<double>>> RemoteReader::score_words(
    const Leg& leg, const RemoteCollection& collection,
    std::span<const std::string> chunk_ids) const {
    ReadScope scope = leg.scope;
    scope.filter.reset();
    BRAID_TRY(Array clauses, clauses_of(scope, collection));
    std::map<std::string_view, double> scores;
    for (std::size_t first = 0; first < chunk_ids.size(); first += kMostHits) {
        Array ids;
        for (const std::string& id :
             chunk_ids.subspan(first, std::min(kMostHits, chunk_ids.size() - first))) {
            ids.emplace_back(id);
        }
        SearchItem item;
        item.index = collection.index;
        item.pit = snapshot_->open_point(collection);
        item.preference = preference_of(leg);
        item.same_statistics = true;
        item.body = score_body(words_clause(leg).value_or(match_none()), clauses, std::move(ids));
        BRAID_TRY(const Value answer, snapshot_->core().search_one(std::move(item), limits_));
        BRAID_TRY(const auto hits, sparse_hits(answer, collection));
        for (const LegHit& hit : hits) {
            const auto given = std::ranges::find(chunk_ids, hit.chunk_id);
            if (given != chunk_ids.end()) scores[*given] = hit.score;
        }
    }
    std::vector<std::optional<double>> out;
    for (const std::string& id : chunk_ids) {
        const auto found = scores.find(id);
        out.push_back(found != scores.end() ? std::optional(found->second) : std::nullopt);
    }
    return out;
}

Result<std::vector<std::optional<double>>> RemoteReader::score_vectors(
    const Leg& leg, const RemoteCollection& collection,
    std::span<const std::string> chunk_ids) const {
    bool none = false;
    BRAID_CHECK(check_vector(leg, collection, none));
    std::vector<std::optional<double>> out(chunk_ids.size());
    if (none) return out;
    BRAID_TRY(const auto found, snapshot_->core().read(collection, leg.scope.namespace_, chunk_ids,
                                                       true, snapshot_->now(), limits_));
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::optional<Chunk>& chunk = found[i].chunk;
        if (!chunk || chunk->vector.empty()) continue;
        BRAID_TRY(const bool visible,
                  is_visible(*chunk, leg.scope.principal, collection.meta.schema));
        if (!visible) continue;
        BRAID_TRY(const auto scores, vector_scores(leg.vector, std::span(&chunk->vector, 1),
                                                   collection.meta.schema.vectors.metric));
        out[i] = scores.front();
    }
    return out;
}

Result<std::vector<std::optional<double>>> RemoteReader::score(
    const Leg& leg, std::span<const std::string> chunk_ids) const {
    BRAID_TRY(const RemoteCollectionPtr collection, searchable(leg.scope.collection));
    if (leg.kind == LegKind::Dense) return score_vectors(leg, *collection, chunk_ids);
    if (leg.statistics) {
        return fail(ErrorCode::Unsupported, "a cluster weights words only by its own statistics");
    }
    return score_words(leg, *collection, chunk_ids);
}

}  // namespace braid::remote
