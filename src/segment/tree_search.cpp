#include "braid/segment/tree_search.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "braid/core/limits.hpp"
#include "braid/exact/leg_search.hpp"
#include "braid/segment/candidates.hpp"
#include "braid/segment/joint_search.hpp"
#include "braid/segment/segment_view.hpp"
#include "braid/sparse/search.hpp"
#include "braid/sparse/top_rows.hpp"

namespace braid::segment {

using Clause = index::TreeScorer::Clause;
using Occur = QueryClause::Occur;
using Match = index::Verdict::Match;

namespace {

/// Whether the root has clauses that exclude rows holding one of its optional words.
bool leaves_out_rows(const index::TreeScorer& scorer) {
    return std::ranges::any_of(scorer.root().clauses,
                               [](const Clause& one) { return one.occur != Occur::Optional; });
}

}  // namespace

Result<TreeFound> search_part(const PartView& view, const TreeSearch& search) {
    const sparse::IndexReader& words = view.part().words();
    BRAID_TRY(PartTree tree, PartTree::create(view, search.scorer, search.schema));
    BRAID_TRY(BitsPtr allowed, view.allowed());
    // Without phrases, the plain search of the words finds the best rows that hold all of them
    // sooner.
    if (search.bound && !search.count_all && !search.bound_is_score) {
        BRAID_TRY(auto joint, search_joint(tree, search, allowed));
        if (joint) return TreeFound{*std::move(joint), 0};
    }
    bool exact_mask = true;
    if (!search.bound || leaves_out_rows(search.scorer)) {
        BRAID_TRY(PartTree::Rows rows, tree.rows_of(search.scorer.root()));
        exact_mask = rows.exact;
        if (allowed) {
            for (std::size_t w = 0; w < rows.rows.size(); ++w) rows.rows[w] &= (*allowed)[w];
        }
        allowed = std::make_shared<const Bits>(std::move(rows.rows));
    }
    TreeFound found;
    const std::size_t depth = std::min<std::size_t>(search.depth, words.rows());
    sparse::TopRows best(depth, search.threshold, search.after);
    core::StepCounter steps;
    if (!search.bound) {
        BRAID_CHECK(view.for_each(allowed, [&](std::uint32_t row) -> Result<> {
            BRAID_TRY(const index::Verdict verdict, tree.evaluate(row, true));
            if (verdict.match != Match::Yes || !(verdict.score > 0)) return {};
            ++found.matched;
            best.offer({row, verdict.score});
            return {};
        }));
        found.rows = std::move(best).take();
        return found;
    }
    sparse::SearchOptions options;
    if (allowed) options.allowed = *allowed;
    const std::span<const sparse::Query> queries(&*search.bound, 1);
    if (search.bound_is_score && exact_mask) {
        options.k = depth;
        options.threshold = search.threshold;
        options.after = search.after;
        options.count_all = search.count_all;
        BRAID_TRY(sparse::SearchResult result, sparse::search(words, queries, options));
        return TreeFound{std::move(result.rows), result.matched.count};
    }
    // Rows by the most they can score, until no other can be among the best.
    constexpr std::size_t first_band = 4;  // times the depth
    options.k = search.count_all
                    ? words.rows()
                    : std::min<std::size_t>(
                          words.rows(), std::max<std::size_t>(64, search.depth / 2) * first_band);
    while (true) {
        BRAID_CHECK(core::check_limits(search.limits));
        options.threshold = search.count_all ? 0 : best.threshold() * (1 - kRounding);
        BRAID_TRY(const sparse::SearchResult band, sparse::search(words, queries, options));
        for (const sparse::ScoredRow& one : band.rows) {
            if (steps.due(64)) BRAID_CHECK(core::check_limits(search.limits));
            if (!search.count_all && one.score * (1 + kRounding) < best.threshold()) break;
            BRAID_TRY(index::Verdict verdict, tree.evaluate(one.row, false));
            if (verdict.match == Match::No) continue;
            if (!verdict.sure) {
                const bool hopeless = verdict.score * (1 + kRounding) < best.threshold();
                if (hopeless && !search.count_all) continue;
                BRAID_TRY(verdict, tree.evaluate(one.row, true));
            }
            if (verdict.match != Match::Yes || !(verdict.score > 0)) continue;
            ++found.matched;
            best.offer({one.row, verdict.score});
        }
        if (band.rows.size() < options.k) break;
        const bool ended = band.rows.back().score * (1 + kRounding) < best.threshold();
        if (!search.count_all && best.full() && ended) break;
        options.after = band.rows.back();
        options.k = std::min<std::size_t>(words.rows(), options.k * 4);
    }
    found.rows = std::move(best).take();
    return found;
}

Result<index::TreeScorer> SegmentView::tree_scorer(const index::Query& query,
                                                   index::Query& weighed) const {
    weighed = query;
    BRAID_TRY(weighed.statistics, statistics_of(query));
    if (schema().bm25.variant == Bm25Variant::Okapi) {
        if (query.statistics) {
            weighed.mean_idf = exact::mean_okapi_idf(*query.statistics);
        } else {
            BRAID_TRY(weighed.mean_idf, mean_okapi_idf());
        }
    }
    return index::TreeScorer(query.tree, *weighed.statistics, weighed.mean_idf);
}

Result<index::Ranking> SegmentView::search_tree(const index::Query& query,
                                                std::size_t depth) const {
    index::Query weighed;
    BRAID_TRY(const index::TreeScorer scorer, tree_scorer(query, weighed));
    index::Ranking ranking;
    ranking.patterns = scorer.patterns();
    ranking.method = "inverted index";
    BRAID_TRY(BufferHits buffered, search_buffers(weighed, query.after, depth));
    std::vector<Candidate> candidates = std::move(buffered.best);
    ranking.matched = buffered.matched;
    std::uint64_t rows = buffered.rows;
    std::optional<sparse::Query> plain;
    const auto bound = scorer.bound();
    if (bound) {
        index::Query bag;
        bag.texts = {bound->words};
        bag.scoring = query.scoring;
        bag.statistics = weighed.statistics;
        BRAID_TRY(const auto queries, queries_of(bag, *weighed.statistics));
        plain = queries.front();
        plain->mean_idf = weighed.mean_idf;
    }
    std::vector<const PartView*> order;
    for (const PartView& part : parts_) {
        order.push_back(&part);
        rows += part.part().rows();
    }
    std::ranges::stable_sort(order, std::greater(),
                             [](const PartView* p) { return p->part().rows(); });
    // Phrases are looked for in texts: with many rows, only in those of the best.
    const std::uint64_t counted_rows = scorer.has_phrases() ? 2'000 : 50'000;
    const bool count_all = rows <= counted_rows || depth >= rows || !bound;
    for (const PartView* const part : order) {
        BRAID_CHECK(core::check_limits(limits_));
        std::optional<sparse::ScoredRow> after;
        if (query.after) {
            BRAID_TRY(after, place_below(*part, *query.after));
        }
        BRAID_TRY(const TreeFound found,
                  search_part(*part, {.scorer = scorer,
                                      .schema = query.scoring_or(schema()),
                                      .bound = plain,
                                      .bound_is_score = bound && bound->exact,
                                      .depth = depth,
                                      .count_all = count_all,
                                      .threshold = threshold_of(candidates, depth),
                                      .after = after,
                                      .limits = limits_}));
        ranking.matched += found.matched;
        for (const sparse::ScoredRow& one : found.rows) {
            candidates.push_back({.score = one.score, .part = part, .row = one.row});
        }
    }
    BRAID_TRY(ranking.hits, best_of(std::move(candidates), depth));
    if (count_all) return ranking;
    ranking.matched_exactly = ranking.hits.size() < depth && !query.after;
    ranking.matched = ranking.hits.size();
    return ranking;
}

}  // namespace braid::segment
