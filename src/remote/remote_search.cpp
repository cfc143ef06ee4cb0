#include <algorithm>
#include <chrono>
#include <utility>

#include "braid/core/limits.hpp"
#include "braid/core/unknown_collection.hpp"
#include "braid/exact/leg_search.hpp"
#include "braid/remote/answer_parts.hpp"
#include "braid/remote/filter_query.hpp"
#include "braid/remote/leg_query.hpp"
#include "braid/remote/remote_reader.hpp"
#include "braid/remote/remote_words.hpp"
#include "braid/remote/tree_query.hpp"

namespace braid::remote {
namespace {

constexpr std::size_t kMostLookedFor = 16;  // terms that no hit has

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

Result<RemoteWords> RemoteReader::words_in(const ReadScope& scope,
                                           const RemoteCollectionPtr& of) const {
    ReadScope unfiltered = scope;
    unfiltered.filter.reset();
    BRAID_TRY(Array visible, clauses_of(unfiltered, *of));
    return RemoteWords([this, of](Object body) { return ask(*of, std::move(body)); },
                       std::move(visible));
}

Result<SearchedWords> RemoteReader::searched_words(const Leg& leg,
                                                   const RemoteCollectionPtr& of) const {
    if (!leg.clause) return phrasings_clause(leg);
    if (!of->meta.keeps_places) {
        return fail(ErrorCode::Unsupported,
                    "collection \"" + of->meta.collection +
                        "\" was made by an earlier version, without what the query language "
                        "needs; `braid export` and `import` it to have it");
    }
    BRAID_TRY(const auto tree, index::analyze_tree(*leg.clause, of->meta.schema, of->analyzer));
    SearchedWords searched;
    std::vector<PatternTerms> found;
    const auto patterns = tree->patterns();
    if (!patterns.empty()) {
        BRAID_TRY(const RemoteWords words, words_in(leg.scope, of));
        BRAID_TRY(found, words.expand(*tree));
    }
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        PatternWords& report = searched.patterns.emplace_back();
        report.pattern = patterns[i]->pattern;
        report.matching = found[i].size();
        found[i].resize(std::min(found[i].size(), terms_of_a_pattern(*tree)));
        for (const PatternTerm& one : found[i]) report.words.push_back(one.term);
    }
    BRAID_TRY(searched.clause, tree_clause(*tree, found));
    return searched;
}

Result<std::vector<Suggestion>> RemoteReader::suggest(const ReadScope& scope, std::string_view text,
                                                      std::size_t limit) const {
    BRAID_TRY(const RemoteCollectionPtr collection, searchable(scope.collection));
    if (!collection->meta.keeps_places) return std::vector<Suggestion>();
    BRAID_TRY(const RemoteWords words, words_in(scope, collection));
    return index::suggest_words(words, collection->meta.schema, collection->analyzer, text, limit,
                                limits_);
}

void RemoteReader::find_absent(std::vector<Pending>& all) const {
    std::vector<SearchItem> items;
    std::vector<std::pair<LegResult*, const std::string*>> asked;
    for (Pending& pending : all) {
        const Leg& leg = *pending.leg;
        if (leg.kind != LegKind::Sparse || leg.clause || leg.after || !*pending.result) continue;
        LegResult& result = **pending.result;
        if (pending.unmatched.size() > kMostLookedFor || !pending.words.warnings.empty()) continue;
        result.absent.emplace();
        if (result.exhausted && !leg.scope.filter) {
            result.absent = pending.unmatched;
            continue;
        }
        ReadScope scope = leg.scope;
        scope.filter.reset();
        auto visible = clauses_of(scope, *pending.collection);
        if (!visible) continue;
        for (const std::string& term : pending.unmatched) {
            Array clauses = *visible;
            clauses.push_back(term_clause("terms", Value(term)));
            SearchItem item;
            item.index = pending.collection->index;
            item.pit = snapshot_->open_point(*pending.collection);
            item.body = {
                {"size", 0}, {"terminate_after", 1}, {"query", all_of(std::move(clauses))}};
            items.push_back(std::move(item));
            asked.emplace_back(&result, &term);
        }
    }
    if (items.empty()) return;
    const auto answers = snapshot_->core().search(std::move(items), limits_);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        auto& [result, term] = asked[i];
        if (!answers[i]) {
            result->absent.reset();  // a courtesy: its failure changes nothing
        } else if (result->absent && count_in(*answers[i], {"hits", "total", "value"}) == 0) {
            result->absent->push_back(*term);
        }
    }
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
        BRAID_TRY(pending.words, searched_words(leg, pending.collection));
        if (!pending.words.clause) pending.result = empty_result("cluster bm25");
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
        item.body = sparse_body(leg, pending.words.clause.value_or(match_none()), pending.scope,
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
        result.patterns = pending.words.patterns;
        result.warnings = pending.words.warnings;
        if (!leg.clause) pending.unmatched = unmatched_terms(leg, answer);
    } else {
        BRAID_TRY(result.hits, dense_hits(answer, leg.vector, *pending.collection));
    }
    const std::size_t listed = result.hits.size();
    const bool all_listed = listed < pending.size;
    result.matched = {listed,
                      all_listed ? MatchCount::Relation::Exact : MatchCount::Relation::AtLeast};
    // All that an exact search ranks are counted, all that a graph leads to are not.
    const std::string* const relation = text_in(answer, {"hits", "total", "relation"});
    if ((sparse || pending.exact) && relation != nullptr) {
        result.matched = {
            count_in(answer, {"hits", "total", "value"}),
            *relation == "eq" ? MatchCount::Relation::Exact : MatchCount::Relation::AtLeast};
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
    find_absent(all);
    std::vector<Result<LegResult>> results;
    results.reserve(all.size());
    for (Pending& pending : all) results.push_back(std::move(*pending.result));
    return results;
}

Result<std::vector<std::optional<double>>> RemoteReader::score_words(
    const Leg& leg, const RemoteCollectionPtr& of, std::span<const std::string> chunk_ids) const {
    const RemoteCollection& collection = *of;
    ReadScope scope = leg.scope;
    scope.filter.reset();
    BRAID_TRY(Array clauses, clauses_of(scope, collection));
    BRAID_TRY(const SearchedWords words, searched_words(leg, of));
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
        item.body = score_body(words.clause.value_or(match_none()), clauses, std::move(ids));
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
    return score_words(leg, collection, chunk_ids);
}

}  // namespace braid::remote
