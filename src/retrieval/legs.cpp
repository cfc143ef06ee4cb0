#include "braid/retrieval/legs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "braid/fusion/id_index.hpp"
#include "braid/retrieval/multi_hop.hpp"
#include "braid/retrieval/query_language.hpp"
#include "braid/retrieval/receipt.hpp"

namespace braid::retrieval {

Result<> check_list(const LegResult& result) {
    const std::vector<LegHit>& hits = result.hits;
    fusion::IdIndex ids(hits.size());
    const auto id_of = [&](std::uint32_t place) -> std::string_view {
        return hits[place].chunk_id;
    };
    for (std::uint32_t i = 0; i < hits.size(); ++i) {
        const LegHit& hit = hits[i];
        if (!std::isfinite(hit.score)) {
            return fail(ErrorCode::Corruption,
                        "the score of chunk \"" + hit.chunk_id + "\" is not a finite number");
        }
        if (ids.add(hit.chunk_id, i, id_of) != i) {
            return fail(ErrorCode::Corruption,
                        "chunk \"" + hit.chunk_id + "\" was found twice by one search");
        }
    }
    return {};
}

Result<std::vector<std::vector<std::string>>> analyze(const Reader& snapshot,
                                                      const std::string& collection,
                                                      std::span<const std::string> phrasings) {
    std::vector<std::vector<std::string>> analyzed;
    analyzed.reserve(phrasings.size());
    for (const std::string& text : phrasings) {
        BRAID_TRY(auto terms, snapshot.analyze(collection, text));
        analyzed.push_back(std::move(terms));
    }
    return analyzed;
}

Result<std::vector<std::string>> set_words(const Reader& snapshot, const Schema& schema,
                                           const Request& request, const Capabilities& can,
                                           std::span<const std::string> variants, Leg& leg) {
    std::vector<std::string> notes;
    if (request.query_syntax && can.query_language) {
        ParsedQuery parsed = parse_query(request.query, schema.text_fields);
        if (parsed.clause) {
            leg.clause = std::make_shared<const QueryClause>(*std::move(parsed.clause));
            return std::move(parsed.notes);
        }
        notes.push_back(
            "the query was searched as plain words, because it is not in query language: " +
            parsed.problem);
    } else if (request.query_syntax) {
        notes.emplace_back(
            "this database has no query language: the query was searched as plain words");
    }
    BRAID_TRY(leg.phrasings, analyze(snapshot, leg.scope.collection, variants));
    return notes;
}

bool CollectionRun::down() const {
    return std::ranges::all_of(legs, [](const LegRun& run) { return run.error && !run.result; });
}

Result<> LegSearch::start(OtherWords& words) {
    runs_.reserve(work_.plan.collections.size());
    for (std::size_t i = 0; i < work_.plan.collections.size(); ++i) prepare(i);
    if (work_.plan.by_scores) share_statistics();
    if (!words.answer_pending()) vectors_.start();
    const bool words_first = words.answer_pending() || !vectors_.at_hand();
    if (words_first) search_words();
    if (words.answer_pending()) {
        words.await_answer();
        vectors_.start();
    }
    await_vectors();
    if (work_.limits.stopped()) return fail(ErrorCode::Cancelled, "the caller cancelled the call");
    if (work_.plan.strategy == Strategy::MultiHop) {
        run_hops();
        return check_failures();
    }
    search(std::nullopt);
    if (!words_first) correct_words();
    BRAID_CHECK(check_failures());
    for (CollectionRun& run : runs_) {
        for (LegRun& leg : run.legs) {
            if (leg.result) leg.candidates = leg.result->hits.size();
        }
    }
    return {};
}

void LegSearch::prepare(std::size_t collection) {
    const Plan& plan = work_.plan;
    const CollectionPlan& planned = plan.collections[collection];
    CollectionRun& run = runs_.emplace_back();
    run.index = collection;
    const auto add = [&](LegKind kind, std::size_t depth, double weight) -> LegRun& {
        LegRun& leg = run.legs.emplace_back();
        leg.weight = weight;
        leg.leg.kind = kind;
        leg.leg.scope = work_.scope_of(planned.name);
        leg.leg.scope.filter = plan.filter;
        leg.leg.depth = depth;
        leg.first_depth = depth;
        leg.wanted = depth;
        leg.leg.exact = work_.request.exact;
        leg.leg.recall = work_.request.recall.value_or(kUsualRecall);
        return leg;
    };
    if (planned.dense) {
        const bool hops = plan.strategy == Strategy::MultiHop;
        add(LegKind::Dense, hops ? plan.hop_top_k : plan.dense_depth, plan.dense_weight);
    }
    if (planned.sparse) {
        LegRun& leg = add(LegKind::Sparse, plan.sparse_depth, plan.sparse_weight);
        if (work_.backend.capabilities().bm25_choice) leg.leg.bm25 = planned.bm25;
        auto notes = set_words(*work_.snapshot, planned.schema, work_.request,
                               work_.backend.capabilities(), work_.forms.variants, leg.leg);
        if (!notes) {
            leg.error = std::move(notes).error();
            return;
        }
        for (std::string& note : *notes) work_.note(std::move(note));
        if (!leg.leg.clause) return;
        const QueryClause& clause = *leg.leg.clause;
        if (!work_.answer.query_understood) work_.answer.query_understood = written(clause);
        work_.plain_query = plain_text(clause);
        if (planned.dense && is_strict(clause)) {
            work_.note(
                "the query language applies to the sparse leg only: what the dense leg finds is "
                "similar to the words of the query, but need not contain them");
        }
    }
}

void LegSearch::await_vectors() {
    for (CollectionRun& run : runs_) {
        for (LegRun& leg : run.legs) {
            if (leg.leg.kind != LegKind::Dense) continue;
            if (auto vector = vectors_.of(work_.plan.collections[run.index])) {
                leg.leg.vector = *std::move(vector);
            } else {
                leg.error = std::move(vector).error();
            }
        }
    }
}

namespace {

/// Adds what a search found to what the leg found before it.
Result<> take(LegResult found, LegRun& leg) {
    if (found.hits.empty()) found.exhausted = true;  // whatever the backend says
    if (leg.result) {
        std::vector<LegHit> hits = leg.result->hits;
        std::ranges::move(found.hits, std::back_inserter(hits));
        found.hits = std::move(hits);
        // What goes on below a hit need not have counted what is above it.
        const MatchCount& before = leg.result->matched;
        if (before.relation == MatchCount::Relation::Exact ||
            (found.matched.relation == MatchCount::Relation::AtLeast &&
             before.count > found.matched.count)) {
            found.matched = before;
        }
        if (found.matched.relation == MatchCount::Relation::AtLeast) {
            found.matched.count = std::max<std::uint64_t>(found.matched.count, found.hits.size());
        }
    }
    BRAID_CHECK(check_list(found));
    leg.time_ms += found.time_ms;
    leg.result = std::move(found);
    return {};
}

}  // namespace

void LegSearch::search(std::optional<LegKind> kind) {
    std::vector<Leg> legs;
    std::vector<LegRun*> searched;
    for (CollectionRun& run : runs_) {
        for (LegRun& leg : run.legs) {
            const std::size_t have = leg.result ? leg.result->hits.size() : 0;
            const bool enough = leg.result && (leg.result->exhausted || have >= leg.wanted);
            if (leg.error || enough || (kind && leg.leg.kind != *kind)) continue;
            Leg& next = legs.emplace_back(leg.leg);
            next.depth = leg.wanted - have;
            if (have > 0) next.after = leg.result->hits.back();
            searched.push_back(&leg);
        }
    }
    if (legs.empty()) return;
    auto results = work_.snapshot->with(work_.leg_limits)->search(legs);
    for (std::size_t i = 0; i < results.size(); ++i) {
        LegRun& leg = *searched[i];
        if (!results[i]) {
            leg.error = std::move(results[i]).error();
        } else if (auto sane = take(*std::move(results[i]), leg); !sane) {
            leg.error = std::move(sane).error();
        }
    }
}

/// A vector of the caller's that no collection can be searched with.
std::optional<Error> LegSearch::callers_mistake() const {
    std::optional<Error> mistake;
    if (work_.request.query_embedding.empty()) return mistake;
    for (const CollectionRun& run : runs_) {
        for (const LegRun& leg : run.legs) {
            if (leg.leg.kind != LegKind::Dense) continue;
            if (!leg.error || leg.error->code != ErrorCode::InvalidArgument) return std::nullopt;
            if (!mistake) mistake = leg.error;
        }
    }
    return mistake;
}

/// Says which legs failed; an error if none is left.
Result<> LegSearch::check_failures() {
    if (auto mistake = callers_mistake()) return tl::unexpected(*std::move(mistake));
    if (std::ranges::all_of(runs_, &CollectionRun::down)) {
        const auto& error = runs_.front().legs.front().error;
        return tl::unexpected(*error);  // NOLINT(bugprone-unchecked-optional-access): it is down
    }
    for (CollectionRun& run : runs_) {
        for (LegRun& leg : run.legs) {
            if (!leg.error || std::exchange(leg.failure_reported, true)) continue;
            std::string message = "the " + std::string(name_of(leg.leg.kind)) + " leg";
            if (runs_.size() > 1) {
                message += " of collection \"" + leg.leg.scope.collection + "\"";
            }
            message += run.down() ? " failed; the answer comes from the other collections: "
                                  : " failed; the answer comes from the other: ";
            work_.fell_short("leg_failed", message + leg.error->message);
        }
    }
    return {};
}

void LegSearch::run_hops() {
    for (CollectionRun& run : runs_) {
        LegRun& leg = run.legs.front();
        if (leg.error) continue;
        if (auto found = search_hops(work_, vectors_, run.index, leg)) {
            run.hops = *std::move(found);
        } else {
            leg.error = std::move(found).error();
        }
    }
}

bool LegSearch::can_go_deeper() const {
    if (work_.plan.strategy == Strategy::MultiHop) return false;
    return std::ranges::any_of(runs_, [](const CollectionRun& run) {
        return std::ranges::any_of(run.legs, [](const LegRun& leg) {
            return !leg.error && leg.result && !leg.result->exhausted;
        });
    });
}

Result<> LegSearch::go_deeper() {
    for (CollectionRun& run : runs_) {
        for (LegRun& leg : run.legs) leg.wanted *= 2;
    }
    search(std::nullopt);
    return check_failures();
}

Result<std::vector<Candidate>> LegSearch::next_list(std::size_t collection) {
    CollectionRun& run = runs_[collection];
    std::vector<Candidate> list;
    if (work_.plan.strategy == Strategy::MultiHop) {
        list = std::exchange(run.hops, {});
    } else if (work_.plan.strategy == Strategy::Hybrid) {
        BRAID_TRY(list, fused_list(run));
    } else {
        list = single_list(run);
    }
    for (const Candidate& candidate : list) run.seen.insert(candidate.chunk_id);
    return list;
}

std::vector<Candidate> LegSearch::single_list(CollectionRun& run) {
    std::vector<Candidate> list;
    const LegRun& leg = run.legs.front();
    if (!leg.result) return list;
    const Metric metric = work_.plan.collections[run.index].schema.vectors.metric;
    const std::vector<LegHit>& hits = leg.result->hits;
    list.reserve(hits.size());
    for (std::size_t i = 0; i < hits.size(); ++i) {
        if (run.seen.contains(hits[i].chunk_id)) continue;
        Candidate& candidate = list.emplace_back();
        candidate.collection = run.index;
        candidate.chunk_id = hits[i].chunk_id;
        candidate.receipt = plain_receipt(name_of(leg.leg.kind), hits[i].score, i + 1, metric);
    }
    return list;
}

/// Of each leg, what no earlier list held; scored where the leg did not find it, if asked for.
Result<std::vector<std::vector<fusion::Entry>>> LegSearch::unseen_entries(
    const CollectionRun& run) {
    std::vector<std::vector<fusion::Entry>> entries(run.legs.size());
    for (std::size_t l = 0; l < run.legs.size(); ++l) {
        const auto& result = run.legs[l].result;
        if (!result) continue;
        const std::vector<LegHit>& hits = result->hits;
        for (std::size_t i = 0; i < hits.size(); ++i) {
            if (!run.seen.contains(hits[i].chunk_id)) {
                entries[l].push_back({hits[i].chunk_id, hits[i].score, i});
            }
        }
    }
    if (!work_.plan.fill_scores) return entries;
    auto filled = fill_scores(run, entries);
    if (!filled) BRAID_CHECK(do_without_scores(std::move(filled).error(), entries));
    return entries;
}

/// "auto" goes on with what each leg listed: an answer of both legs is worth more than their exact
/// weights. Who asked for the scores himself gets the error.
Result<> LegSearch::do_without_scores(Error error,
                                      std::vector<std::vector<fusion::Entry>>& entries) {
    if (work_.plan.fusion.method != FusionMethod::Auto || error.code == ErrorCode::Cancelled) {
        return tl::unexpected(std::move(error));
    }
    for (auto& list : entries) {
        std::erase_if(list, [](const fusion::Entry& entry) {
            return entry.position == fusion::Entry::kUnranked;
        });
    }
    std::string message =
        "the fusion \"auto\" weighted the legs only by what each listed, because the other scores "
        "could not be computed: " +
        error.message;
    if (std::ranges::find(work_.shortfalls, message) == work_.shortfalls.end()) {
        work_.shortfalls.push_back(message);
    }
    work_.note(std::move(message));
    return {};
}

/// "auto" is a weighted sum once it has its weights.
fusion::Options LegSearch::fusing() const {
    fusion::Options options = work_.plan.fusion;
    if (options.method == FusionMethod::Auto) options.method = FusionMethod::WeightedSum;
    return options;
}

/// Gives the lists the weights that "auto" chooses, if it is to choose. A leg that did not run has
/// no list to weigh: the other's order stands whatever the weight.
std::optional<ReceiptChoice> LegSearch::weigh(std::vector<fusion::RankedList>& lists) const {
    if (work_.plan.fusion.method != FusionMethod::Auto) return std::nullopt;
    fusion::RankedList none;
    fusion::RankedList* dense = &none;
    fusion::RankedList* sparse = &none;
    for (fusion::RankedList& list : lists) {
        (list.source == name_of(LegKind::Dense) ? dense : sparse) = &list;
    }
    const fusion::Choice choice =
        fusion::choose_weights(dense->entries, sparse->entries, work_.plan.most_dense_weight);
    dense->weight = choice.dense_weight;
    sparse->weight = 1 - choice.dense_weight;
    return choice_for_receipts(choice);
}

/// What the receipts of the fused hits have in common.
std::shared_ptr<const Receipt> LegSearch::common_to(
    const fusion::Fused& fused, std::span<const fusion::RankedList> lists,
    const std::optional<ReceiptChoice>& choice) const {
    auto common = std::make_shared<Receipt>(common_receipt(fused, lists, work_.plan.fusion));
    common->choice = choice;
    return common;
}

Result<std::vector<Candidate>> LegSearch::fused_list(CollectionRun& run) {
    BRAID_TRY(const auto entries, unseen_entries(run));
    std::vector<fusion::RankedList> lists;
    lists.reserve(run.legs.size());
    for (std::size_t l = 0; l < run.legs.size(); ++l) {
        lists.push_back({name_of(run.legs[l].leg.kind), run.legs[l].weight, entries[l]});
    }
    const auto choice = weigh(lists);
    BRAID_TRY(const fusion::Fused fused, fusion::fuse(lists, fusing()));
    const Metric metric = work_.plan.collections[run.index].schema.vectors.metric;
    const auto common = common_to(fused, lists, choice);
    std::vector<Candidate> list;
    list.reserve(fused.hits.size());
    for (const fusion::FusedHit& hit : fused.hits) {
        Candidate& candidate = list.emplace_back();
        candidate.collection = run.index;
        candidate.chunk_id = hit.id;
        candidate.receipt = receipt_of(fused, hit, lists, metric);
        candidate.common = common;
    }
    return list;
}

/// Gives every chunk that some list holds its true score in the lists that do not.
Result<> LegSearch::fill_scores(const CollectionRun& run,
                                std::vector<std::vector<fusion::Entry>>& entries) {
    std::vector<FoundChunk> all;
    std::vector<std::vector<bool>> listed(run.legs.size());  // by leg, as `all`
    std::size_t most = 0;
    for (const auto& list : entries) most += list.size();
    all.reserve(most);
    fusion::IdIndex places(most);
    const auto id_of = [&](std::uint32_t place) { return all[place].chunk_id; };
    for (std::size_t l = 0; l < run.legs.size(); ++l) {
        listed[l].resize(most);
        for (const fusion::Entry& entry : entries[l]) {
            const auto place = places.add(entry.id, static_cast<std::uint32_t>(all.size()), id_of);
            const LegHit& hit = run.legs[l].result->hits[entry.position];
            if (place == all.size()) {
                all.push_back({.chunk_id = entry.id, .found_at = hit.found_at});
            }
            listed[l][place] = true;
        }
    }
    for (std::size_t l = 0; l < run.legs.size(); ++l) {
        if (!run.legs[l].result) continue;
        std::vector<FoundChunk> missing;
        missing.reserve(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!listed[l][i]) missing.push_back(all[i]);
        }
        if (missing.empty()) continue;
        BRAID_TRY(const auto scores, work_.snapshot->score_found(run.legs[l].leg, missing));
        for (std::size_t m = 0; m < missing.size(); ++m) {
            if (!scores[m]) continue;
            entries[l].push_back({missing[m].chunk_id, *scores[m], fusion::Entry::kUnranked});
        }
    }
    return {};
}

QueryForms LegSearch::forms() const {
    QueryForms forms = work_.forms;
    for (const CollectionRun& run : runs_) {
        for (const LegRun& leg : run.legs) {
            if (leg.leg.kind == LegKind::Sparse) {
                if (leg.leg.statistics) forms.statistics = leg.leg.statistics;
            } else if (!leg.leg.vector.empty()) {
                forms.vectors.emplace(leg.leg.scope.collection, leg.leg.vector);
            } else if (leg.error) {
                forms.failures.emplace(leg.leg.scope.collection, *leg.error);
            }
        }
    }
    return forms;
}

void LegSearch::report() {
    Answer& answer = work_.answer;
    for (const CollectionRun& run : runs_) {
        for (const LegRun& leg : run.legs) {
            const bool dense = leg.leg.kind == LegKind::Dense;
            SourceReport& report = answer.sources.emplace_back();
            report.source = name_of(leg.leg.kind);
            report.collection = leg.leg.scope.collection;
            report.depth = leg.first_depth;
            report.ran = leg.result.has_value();
            report.time_ms = leg.time_ms;
            report.candidates = leg.candidates;
            if (leg.result) {
                const MatchCount& matched = leg.result->matched;
                report.matched = matched.count;
                report.matched_at_least = matched.relation == MatchCount::Relation::AtLeast;
                report.exact = leg.result->exact;
                report.method = leg.result->method;
                std::ranges::copy(leg.result->warnings, std::back_inserter(answer.warnings));
                report.patterns = leg.result->patterns;
                for (const PatternWords& one : report.patterns) {
                    if (one.matching <= one.words.size()) continue;
                    work_.note("\"" + one.pattern + "\" matches " + std::to_string(one.matching) +
                               " words: the " + std::to_string(one.words.size()) +
                               " most frequent were searched");
                }
            }
            if (leg.error) report.error = leg.error->message;
            answer.total_candidates += report.candidates;
            (dense ? answer.dense_candidates : answer.sparse_candidates) += report.candidates;
            // Legs run side by side: the slowest counts.
            double& slowest = dense ? answer.timings.dense_ms : answer.timings.sparse_ms;
            slowest = std::max(slowest, report.time_ms);
        }
    }
}

}  // namespace braid::retrieval
