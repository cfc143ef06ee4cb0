#include "braid/retrieval/why_not.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "braid/core/charge.hpp"
#include "braid/retrieval/collections.hpp"
#include "braid/retrieval/legs.hpp"
#include "braid/retrieval/plan.hpp"
#include "braid/retrieval/stages.hpp"
#include "braid/retrieval/standings.hpp"
#include "braid/retrieval/typos.hpp"

namespace braid::retrieval {
namespace {

constexpr std::size_t kPageSize = 1000;
constexpr std::string_view kRecency = "filter_by_recency";

/// A request with one condition less.
struct Relaxed {
    Request request;
    std::string key;
    Value value;
    std::string what;
};

Value stages_value(const std::vector<StageChoice>& stages) {
    if (stages.empty()) return nullptr;
    Array list;
    list.reserve(stages.size());
    for (const StageChoice& stage : stages) {
        list.emplace_back(Object{{stage.name, Value(stage.parameters)}});
    }
    return list;
}

Request without_stage(Request request, std::size_t index) {
    request.stages.erase(request.stages.begin() + static_cast<std::ptrdiff_t>(index));
    return request;
}

/// The request without each single condition that its legs apply.
std::vector<Relaxed> relaxations(const Request& request) {
    std::vector<Relaxed> out;
    if (request.filter && request.filter->op == Filter::Op::And &&
        request.filter->children.size() > 1) {
        for (std::size_t i = 0; i < request.filter->children.size(); ++i) {
            Request changed = request;
            auto& children = changed.filter->children;
            const std::string field = children[i].field;
            children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
            Value rest = filter_to_value(*changed.filter);
            out.push_back({std::move(changed), "filter", std::move(rest),
                           "the filter's condition on \"" + field + "\""});
        }
    } else if (request.filter) {
        Request changed = request;
        changed.filter.reset();
        out.push_back({std::move(changed), "filter", nullptr, "the filter"});
    }
    if (request.document_ids) {
        Request changed = request;
        changed.document_ids.reset();
        out.push_back({std::move(changed), "document_ids", nullptr, "\"document_ids\""});
    }
    for (std::size_t i = 0; i < request.stages.size(); ++i) {
        if (request.stages[i].name != kRecency) continue;
        Request changed = without_stage(request, i);
        Value rest = stages_value(changed.stages);
        out.push_back({std::move(changed), "stages", std::move(rest),
                       "the stage \"" + std::string(kRecency) + "\""});
    }
    return out;
}

}  // namespace

ChunkTrace::ChunkTrace(const Tools& tools, const Request& request, const std::string& chunk_id,
                       const Principal& principal, const CallLimits& limits)
    : tools_(tools), request_(request), principal_(principal), limits_(limits) {
    request_.cursor.clear();
    if (std::exchange(request_.expand_neighbors, 0) > 0) unused_.emplace_back("expand_neighbors");
    if (std::exchange(request_.explain, false)) unused_.emplace_back("explain");
    request_.deadline_ms.reset();  // the limits have it
    found_.explanation.chunk_id = chunk_id;
}

Result<Explanation> ChunkTrace::explain() {
    BRAID_CHECK(find_chunk());
    BRAID_TRY(answer_, ask(request_));
    BRAID_CHECK(measure_legs(answer_));
    Explanation& explanation = found_.explanation;
    explanation.shown = find_in(answer_) != nullptr;
    explanation.query_understood = answer_.query_understood;
    explanation.phrasings = answer_.phrasings;
    explanation.hypothetical_answer = answer_.hypothetical_answer;
    explanation.complete = answer_.complete;
    explanation.warnings = answer_.warnings;
    explanation.unused = answer_.unused;
    std::ranges::copy(unused_, std::back_inserter(explanation.unused));
    BRAID_TRY(explanation.hit, place_in(request_));
    return explanation;
}

Result<WhyNot> ChunkTrace::why_not() {
    BRAID_TRY(found_.explanation, explain());
    if (const Hit* const shown = find_in(answer_)) {
        lost("", "it is in the answer, at rank " + std::to_string(shown->rank));
        return found_;
    }
    Request bare = request_;  // what neither the threshold nor a stage has touched
    bare.score_threshold.reset();
    std::erase_if(bare.stages, [](const StageChoice& stage) { return stage.name != kRecency; });
    BRAID_TRY(bool known, lost_by_filter());
    if (!known) {
        BRAID_TRY(known, lost_by_order(bare));
    }
    if (!known) {
        BRAID_TRY(known, lost_to_a_copy());
    }
    if (!known) {
        BRAID_TRY(known, lost_by_threshold(bare));
    }
    if (!known) {
        BRAID_TRY(known, lost_by_stage());
    }
    if (!known) {
        BRAID_TRY(known, lost_to_another(bare));
    }
    if (!known) BRAID_CHECK(never_reached());
    return found_;
}

/// In the first of the request's collections that has it, whatever the filter says.
Result<> ChunkTrace::find_chunk() {
    BRAID_TRY(const Profile profile, profile_of(request_, tools_.options));
    if (request_.stages.empty()) request_.stages = profile.stages;
    request_.bm25 = chosen_bm25(request_, profile);
    BRAID_TRY(names_, collections_of(request_, profile));
    BRAID_TRY(const OpenedCollections opened, open_collections(tools_.backend, names_, limits_));
    const std::vector<std::string> ids{found_.explanation.chunk_id};
    for (const CollectionPlan& collection : opened.found) {
        const ReadScope scope{collection.name, request_.namespace_.value_or(profile.namespace_),
                              principal_, std::nullopt};
        BRAID_TRY(auto chunks, opened.snapshot->fetch(scope, ids, false));
        std::optional<Chunk>& chunk = chunks.front();
        if (!chunk) continue;
        found_.explanation.collection = collection.name;
        snapshot_ = opened.snapshot;
        scope_ = scope;
        chunk_ = std::move(*chunk);
        return {};
    }
    return fail(ErrorCode::NotFound, "there is no chunk \"" + found_.explanation.chunk_id + "\"");
}

Result<> ChunkTrace::measure_legs(const Answer& answer) {
    for (const SourceReport& report : answer.sources) {
        if (report.collection != scope_.collection || !report.error.empty()) continue;
        Leg leg;
        leg.scope = scope_;
        leg.scope.filter.reset();
        leg.exact = true;
        if (report.source == "dense") {
            leg.kind = LegKind::Dense;
            leg.vector = forms_.vectors[scope_.collection];
        } else {
            leg.kind = LegKind::Sparse;
            BRAID_TRY(const Schema schema, snapshot_->schema(scope_.collection));
            if (tools_.backend.capabilities().bm25_choice) {
                leg.bm25 = for_schema(request_.bm25, schema);
            }
            BRAID_CHECK(set_words(*snapshot_, schema, request_, tools_.backend.capabilities(),
                                  forms_.variants, leg));
            BRAID_CHECK(correct_typos(*snapshot_, request_.query, answer.corrections, leg));
            leg.statistics = forms_.statistics;
        }
        BRAID_TRY(const StagePipeline stages,
                  StagePipeline::create(request_.stages, tools_.options.stages));
        leg.scope.filter = whole_filter(request_, stages.leg_filters(tools_.options.now()));
        BRAID_TRY(LegStanding standing, standing_in(leg, report.depth));
        found_.explanation.legs.push_back(std::move(standing));
    }
    return {};
}

Result<LegStanding> ChunkTrace::standing_in(const Leg& leg, std::size_t depth) const {
    const std::vector<std::string> ids{found_.explanation.chunk_id};
    BRAID_TRY(auto standings, standings_in(*snapshot_, tools_.backend.capabilities(), leg, ids));
    LegStanding& standing = standings.front();
    standing.depth = depth;
    if (!standing.rank && !tools_.backend.capabilities().whole_ranking) {
        // What the leg hands over can be looked through, whatever lies below it.
        Leg listed = leg;
        listed.depth = depth;
        BRAID_TRY(const LegResult list, snapshot_->search_leg(listed));
        const auto found = std::ranges::find(list.hits, ids.front(), &LegHit::chunk_id);
        if (found != list.hits.end()) {
            standing.rank = static_cast<std::uint64_t>(found - list.hits.begin()) + 1;
        }
    }
    return std::move(standing);
}

Result<Answer> ChunkTrace::ask(const Request& request) const {
    return tools_.retriever.retrieve_own_stages(request, principal_, core::apart(limits_), &forms_);
}

const Hit* ChunkTrace::find_in(const Answer& answer) const {
    const auto found = std::ranges::find_if(answer.hits, [&](const Hit& hit) {
        return hit.chunk.chunk_id == chunk_.chunk_id && hit.collection == scope_.collection;
    });
    return found == answer.hits.end() ? nullptr : &*found;
}

Result<std::optional<Hit>> ChunkTrace::place_in(const Request& request) const {
    BRAID_TRY(Answer page, ask(request));
    while (true) {
        if (const Hit* const hit = find_in(page)) return std::optional(*hit);
        if (!page.cursor) return std::optional<Hit>();
        Request next;
        next.cursor = *page.cursor;
        next.top_k = kPageSize;
        BRAID_TRY(page, ask(next));
    }
}

Result<bool> ChunkTrace::passes_filter(const Request& request) const {
    BRAID_TRY(const StagePipeline stages,
              StagePipeline::create(request.stages, tools_.options.stages));
    ReadScope scope = scope_;
    scope.filter = whole_filter(request, stages.leg_filters(tools_.options.now()));
    const std::vector<std::string> ids{chunk_.chunk_id};
    BRAID_TRY(const auto chunks, snapshot_->fetch(scope, ids, false));
    return chunks.front().has_value();
}

bool ChunkTrace::within_depth() const {
    return std::ranges::any_of(found_.explanation.legs, [](const LegStanding& leg) {
        return leg.rank && *leg.rank <= leg.depth;
    });
}

Result<bool> ChunkTrace::lost_by_filter() {
    BRAID_TRY(const bool passes, passes_filter(request_));
    if (passes) return false;
    std::string reason = "it does not meet the conditions of the request";
    for (Relaxed& relaxed : relaxations(request_)) {
        BRAID_TRY(const bool enough, passes_filter(relaxed.request));
        if (!enough) continue;
        reason = "it does not pass " + relaxed.what;
        suggest(relaxed.request, std::move(relaxed.key), std::move(relaxed.value));
        if (found_.change) break;
    }
    lost("filter", std::move(reason));
    return true;
}

/// It is in the ranking, only too far down.
Result<bool> ChunkTrace::lost_by_order(const Request& bare) {
    const std::optional<Hit>& hit = found_.explanation.hit;
    if (!hit) return false;
    const std::string place = "it is at rank " + std::to_string(hit->rank);
    const bool hops = answer_.strategy_used == Strategy::MultiHop;
    if (hops || within_depth()) {
        BRAID_CHECK(lost_by_rank(*hit, bare));
    } else {
        lost("depth", place + ", below the depth of every leg");
        for (const LegStanding& leg : found_.explanation.legs) {
            if (!leg.rank) continue;
            Request changed = request_;
            const bool dense = leg.source == "dense";
            (dense ? changed.dense_top_k : changed.sparse_top_k) =
                static_cast<std::size_t>(*leg.rank);
            suggest(changed, dense ? "dense_top_k" : "sparse_top_k", *leg.rank);
        }
    }
    Request changed = request_;
    changed.top_k = hit->rank;
    suggest(changed, "top_k", hit->rank);
    return true;
}

/// What put it below those shown: the stages, the fusion, or its place in every leg.
Result<> ChunkTrace::lost_by_rank(const Hit& hit, const Request& bare) {
    const std::size_t shown = answer_.hits.size();
    const std::string place = "it is at rank " + std::to_string(hit.rank) + ", below the " +
                              std::to_string(shown) + " shown";
    if (bare.stages.size() < request_.stages.size()) {
        BRAID_TRY(const auto before, place_in(bare));
        if (before && before->rank <= shown) {
            lost("stage",
                 place + "; before the stages it was at rank " + std::to_string(before->rank));
            return {};
        }
    }
    if (answer_.strategy_used == Strategy::Hybrid) {
        for (const LegStanding& leg : found_.explanation.legs) {
            if (!leg.rank || *leg.rank > shown) continue;
            lost("fused_out", place + ", though the " + leg.source + " leg has it at rank " +
                                  std::to_string(*leg.rank));
            return {};
        }
    }
    lost("cut", place);
    return {};
}

/// A near-identical passage of its document stands for it.
Result<bool> ChunkTrace::lost_to_a_copy() {
    if (request_.keep_duplicates) return false;
    Request changed = request_;
    changed.keep_duplicates = true;
    BRAID_TRY(const std::optional<Hit> hit, place_in(changed));
    if (!hit) return false;
    lost("deduplicated", "a nearly identical passage of the same document is shown instead");
    suggest(changed, "keep_duplicates", true);
    return true;
}

Result<bool> ChunkTrace::lost_by_threshold(const Request& bare) {
    if (!request_.score_threshold) return false;
    BRAID_TRY(const std::optional<Hit> hit, place_in(bare));
    if (!hit || hit->receipt.fused >= *request_.score_threshold) return false;
    lost("threshold", "its fused score is below \"score_threshold\"");
    Request changed = request_;
    changed.score_threshold = hit->receipt.fused;
    suggest(changed, "score_threshold", hit->receipt.fused);
    return true;
}

Result<bool> ChunkTrace::lost_by_stage() {
    Request growing = request_;
    growing.stages.clear();
    for (std::size_t i = 0; i < request_.stages.size(); ++i) {
        BRAID_TRY(const auto before, place_in(growing));
        if (!before) return false;
        growing.stages.push_back(request_.stages[i]);
        BRAID_TRY(const auto after, place_in(growing));
        if (after) continue;
        lost("stage", "the stage \"" + request_.stages[i].name + "\" left it out");
        const Request changed = without_stage(request_, i);
        suggest(changed, "stages", stages_value(changed.stages));
        return true;
    }
    return false;
}

/// Of several collections, another chunk stands for its document.
Result<bool> ChunkTrace::lost_to_another(const Request& bare) {
    BRAID_TRY(const Profile profile, profile_of(request_, tools_.options));
    if (names_.size() < 2 && profile.collections.size() < 2) return false;
    Request alone = bare;
    alone.collections = {scope_.collection};
    std::erase_if(alone.weights, [&](const auto& weight) {
        return weight.first != "dense" && weight.first != "sparse";
    });
    bool found = std::ranges::any_of(found_.explanation.legs,
                                     [](const LegStanding& leg) { return leg.rank.has_value(); });
    if (answer_.strategy_used == Strategy::MultiHop) {  // hops do not come by all that a leg finds
        BRAID_TRY(const auto hit, place_in(alone));
        found = hit.has_value();
    }
    BRAID_TRY(const auto merged, place_in(bare));
    if (!found || merged) return false;
    lost("deduplicated", "another chunk represents \"" + chunk_.document_id + "\"");
    Request changed = request_;
    changed.collections = alone.collections;
    suggest(changed, "collections", Array{scope_.collection});
    return true;
}

Result<> ChunkTrace::never_reached() {
    std::string reason = "no leg finds it";
    if (answer_.strategy_used == Strategy::MultiHop) {
        reason = "no hop found it";
        for (const LegStanding& leg : found_.explanation.legs) {
            if (!leg.rank) continue;
            Request changed = request_;
            changed.hop_top_k = static_cast<std::size_t>(*leg.rank);
            suggest(changed, "hop_top_k", *leg.rank);
        }
    }
    if (!answer_.complete) reason += ", and the search was incomplete";
    lost("not_reached", std::move(reason));
    return {};
}

void ChunkTrace::lost(std::string at, std::string reason) {
    found_.lost_at = std::move(at);
    found_.reason = std::move(reason);
    if (!tools_.backend.capabilities().whole_ranking && !found_.lost_at.empty()) {
        found_.reason += "; this database cannot tell its rank in each leg";
    }
}

void ChunkTrace::suggest(const Request& changed, std::string key, Value value) {
    if (found_.change) return;
    const auto answer =
        tools_.retriever.retrieve(changed, principal_, core::apart(limits_), &forms_);
    if (answer && find_in(*answer) != nullptr) {
        found_.change = SuggestedChange{std::move(key), std::move(value)};
    }
}

}  // namespace braid::retrieval
