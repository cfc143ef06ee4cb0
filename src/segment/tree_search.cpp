#include "braid/segment/tree_search.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_set>
#include <utility>

#include "braid/core/limits.hpp"
#include "braid/exact/leg_search.hpp"
#include "braid/segment/candidates.hpp"
#include "braid/segment/segment_view.hpp"
#include "braid/sparse/row_sets.hpp"
#include "braid/sparse/search.hpp"

namespace braid::segment {

using Clause = index::TreeScorer::Clause;
using Leaf = index::TreeScorer::Leaf;
using Place = std::vector<index::TreeScorer::Alternative>;
using Occur = QueryClause::Occur;
using Match = index::Verdict::Match;

Result<> add_fitting(const sparse::IndexReader& words, const index::WordTree& tree,
                     std::vector<std::string>& terms) {
    std::unordered_set<std::string> known(terms.begin(), terms.end());
    const auto add = [&](std::string_view term) {
        if (known.emplace(term).second) terms.emplace_back(term);
        return true;
    };
    for (const index::TreeLeaf* const pattern : tree.patterns()) {
        if (pattern->kind == index::TreeLeaf::Kind::Prefix) {
            BRAID_CHECK(words.dictionary().each_with_prefix(
                pattern->beginning,
                [&](std::string_view term, const sparse::TermEntry&) { return add(term); }));
            if (!pattern->term.empty()) add(pattern->term);
        } else {
            BRAID_CHECK(
                words.dictionary().each_near(pattern->term, pattern->distance, 0,
                                             [&](std::string_view term, const sparse::TermEntry&,
                                                 std::uint32_t) { return add(term); }));
        }
    }
    return {};
}

Result<PartTree> PartTree::create(const PartView& view, const index::TreeScorer& scorer,
                                  const Schema& schema) {
    BRAID_TRY(const sparse::RowFacts facts, view.part().words().row_facts());
    PartTree tree(view, scorer, schema, facts);
    for (std::uint32_t i = 0; i < scorer.terms().size(); ++i) {
        BRAID_TRY(const auto entry, tree.words().dictionary().find(scorer.terms()[i]));
        tree.entries_.push_back(entry);
        if (entry) tree.wanted_.push_back({entry->id, i});
    }
    std::ranges::sort(tree.wanted_, {}, &Wanted::id);
    tree.counts_.resize(scorer.terms().size() * schema.text_fields.size());
    return tree;
}

Result<index::Verdict> PartTree::evaluate(std::uint32_t row, bool with_text) {
    const std::size_t fields = schema_->text_fields.size();
    std::ranges::fill(counts_, 0U);
    BRAID_TRY(sparse::ForwardCursor cursor, facts_.terms(row));
    for (auto next = wanted_.begin(); next != wanted_.end() && cursor.next();) {
        while (next != wanted_.end() && next->id < cursor.term()) ++next;
        if (next == wanted_.end() || next->id != cursor.term()) continue;
        for (std::uint32_t f = 0; f < fields; ++f) {
            counts_[next->number * fields + f] = cursor.count(f);
        }
        ++next;
    }
    if (cursor.broken()) return sparse::corrupt_index("the terms of a row cannot be read");
    std::array<std::uint32_t, sparse::kMaxFields> lengths{};
    for (std::size_t f = 0; f < fields; ++f) lengths[f] = facts_.length(row, f);
    index::ChunkWords words;
    words.counts = counts_;
    words.length = index::weighted_length(*schema_, std::span(lengths).first(fields));
    const index::Verdict verdict = scorer_->evaluate(words);
    if (!with_text || verdict.match == Match::No || verdict.sure) return verdict;
    BRAID_TRY(const Chunk chunk, view_->part().chunk(row, false));
    words.chunk = &chunk;
    return scorer_->evaluate(words);
}

Result<Bits> PartTree::rows_of_place(const Place& place) const {
    Bits rows = docs::make_bits(words().rows());
    for (const auto& one : place) {
        if (const auto& entry = entries_[one.term]) {
            BRAID_CHECK(sparse::add_rows(words(), *entry, rows));
        }
    }
    return rows;
}

Result<> PartTree::keep_place(const Place& place, Bits& rows) const {
    if (place.size() == 1 && entries_[place.front().term]) {
        return sparse::keep_rows(words(), *entries_[place.front().term], rows);
    }
    BRAID_TRY(const Bits own, rows_of_place(place));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] &= own[i];
    return {};
}

std::uint64_t PartTree::most_rows(const Place& place) const {
    std::uint64_t rows = 0;
    for (const auto& one : place) {
        if (const auto& entry = entries_[one.term]) rows += entry->df;
    }
    return rows;
}

std::uint64_t PartTree::most_rows(const Clause& clause) const {
    if (!clause.leaf) return words().rows();
    std::uint64_t least = words().rows();
    for (const Place& place : scorer_->leaves()[*clause.leaf].places) {
        least = std::min(least, most_rows(place));
    }
    return least;
}

Result<PartTree::Rows> PartTree::rows_of_leaf(const Leaf& leaf) const {
    std::vector<const Place*> order;
    for (const Place& place : leaf.places) order.push_back(&place);
    std::ranges::sort(order, {}, [&](const Place* place) { return most_rows(*place); });
    BRAID_TRY(Bits rows, rows_of_place(*order.front()));
    for (std::size_t i = 1; i < order.size(); ++i) BRAID_CHECK(keep_place(*order[i], rows));
    return Rows{std::move(rows), !leaf.is_phrase() && !leaf.field};
}

Result<PartTree::Rows> PartTree::rows_of(const Clause& clause) const {
    if (clause.leaf) return rows_of_leaf(scorer_->leaves()[*clause.leaf]);
    std::vector<const Clause*> must;
    for (const Clause& inner : clause.clauses) {
        if (inner.occur == Occur::Must) must.push_back(&inner);
    }
    std::ranges::sort(must, {}, [&](const Clause* one) { return most_rows(*one); });
    Rows found{docs::make_bits(words().rows()), true};
    if (!must.empty()) {
        BRAID_TRY(found, rows_of(*must.front()));
        for (std::size_t i = 1; i < must.size(); ++i) {
            const Clause& next = *must[i];
            const Leaf* const leaf = next.leaf ? &scorer_->leaves()[*next.leaf] : nullptr;
            if (leaf != nullptr && !leaf->is_phrase()) {
                BRAID_CHECK(keep_place(leaf->places.front(), found.rows));
                found.exact = found.exact && !leaf->field;
                continue;
            }
            BRAID_TRY(const Rows own, rows_of(next));
            for (std::size_t w = 0; w < found.rows.size(); ++w) found.rows[w] &= own.rows[w];
            found.exact = found.exact && own.exact;
        }
    }
    for (const Clause& inner : clause.clauses) {
        if (inner.occur != Occur::Optional || !must.empty()) continue;
        BRAID_TRY(const Rows own, rows_of(inner));
        for (std::size_t w = 0; w < found.rows.size(); ++w) found.rows[w] |= own.rows[w];
        found.exact = found.exact && own.exact;
    }
    for (const Clause& inner : clause.clauses) {
        if (inner.occur != Occur::Not) continue;
        BRAID_TRY(const Rows own, rows_of(inner));
        found.exact = found.exact && own.exact;
        if (!own.exact) continue;  // some of them may have to stay
        for (std::size_t w = 0; w < found.rows.size(); ++w) found.rows[w] &= ~own.rows[w];
    }
    return found;
}

Result<std::vector<double>> score_rows(const PartView& view, const index::TreeScorer& scorer,
                                       const Schema& schema, std::span<const std::uint32_t> rows) {
    BRAID_TRY(PartTree tree, PartTree::create(view, scorer, schema));
    std::vector<double> scores;
    for (const std::uint32_t row : rows) {
        BRAID_TRY(const index::Verdict verdict, tree.evaluate(row, true));
        scores.push_back(verdict.match == Match::Yes ? verdict.score : 0.0);
    }
    return scores;
}

namespace {

/// Whether the clauses of the root leave out rows that hold one of its optional words.
bool leaves_out_rows(const index::TreeScorer& scorer) {
    return std::ranges::any_of(scorer.root().clauses,
                               [](const Clause& one) { return one.occur != Occur::Optional; });
}

/// The best `depth` rows so far, smaller rows first among equals: rows are in the order of ids.
class BestRows {
public:
    BestRows(std::size_t depth, double threshold) : depth_(depth), threshold_(threshold) {}

    double threshold() const noexcept { return threshold_; }
    void offer(sparse::ScoredRow row) {
        if (row.score < threshold_ || !(row.score > 0)) return;
        rows_.push_back(row);
        if (rows_.size() >= depth_ + std::max<std::size_t>(8, depth_ / 4)) cut();
    }
    std::vector<sparse::ScoredRow> take() {
        cut();
        return std::move(rows_);
    }
    /// The score of the last that would be returned; 0 if there are fewer.
    double last() {
        cut();
        return rows_.size() < depth_ || depth_ == 0 ? 0.0 : threshold_;
    }

private:
    void cut() {
        if (depth_ == 0) rows_.clear();
        if (rows_.size() < depth_ || depth_ == 0) return;
        const auto last = rows_.begin() + static_cast<std::ptrdiff_t>(depth_ - 1);
        std::ranges::nth_element(rows_, last, sparse::kBetterRow);
        threshold_ = std::max(threshold_, last->score);
        rows_.resize(depth_);
    }

    std::size_t depth_;
    double threshold_;
    std::vector<sparse::ScoredRow> rows_;
};

/// Sums in another order: a bound may be lower than the score by less than this share.
constexpr double kRounding = 1e-9;

}  // namespace

Result<TreeFound> search_part(const PartView& view, const TreeSearch& search) {
    const sparse::IndexReader& words = view.part().words();
    BRAID_TRY(PartTree tree, PartTree::create(view, search.scorer, search.schema));
    BRAID_TRY(BitsPtr allowed, view.allowed());
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
    BestRows best(std::min<std::size_t>(search.depth, words.rows()), search.threshold);
    core::StepCounter steps;
    if (!search.bound) {
        BRAID_CHECK(view.for_each(allowed, [&](std::uint32_t row) -> Result<> {
            BRAID_TRY(const index::Verdict verdict, tree.evaluate(row, true));
            if (verdict.match != Match::Yes || !(verdict.score > 0)) return {};
            ++found.matched;
            best.offer({row, verdict.score});
            return {};
        }));
        found.rows = best.take();
        return found;
    }
    sparse::SearchOptions options;
    if (allowed) options.allowed = *allowed;
    const std::span<const sparse::Query> queries(&*search.bound, 1);
    if (search.bound_is_score && exact_mask) {
        options.k = std::min<std::size_t>(search.depth, words.rows());
        options.threshold = search.threshold;
        options.count_all = search.count_all;
        BRAID_TRY(sparse::SearchResult result, sparse::search(words, queries, options));
        return TreeFound{std::move(result.rows), result.matched.count};
    }
    // Rows in the order of what they score at most, until no other can be among the best.
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
        const double last = best.last();
        if (!search.count_all && last > 0 && band.rows.back().score * (1 + kRounding) < last) break;
        options.after = band.rows.back();
        options.k = std::min<std::size_t>(words.rows(), options.k * 4);
    }
    found.rows = best.take();
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
    std::vector<Candidate> candidates;
    std::uint64_t rows = 0;
    for (const BufferView& buffer : buffers_) {
        BRAID_TRY(auto scored, exact::score_sparse(buffer.rows, weighed, matcher_, limits_));
        std::erase_if(scored, [](const exact::ScoredRow& one) { return one.score <= 0; });
        ranking.matched += scored.size();
        rows += buffer.rows.rows();
        for (const exact::ScoredRow& one :
             exact::best(*buffer.partition, std::move(scored), depth)) {
            candidates.push_back({.score = one.score,
                                  .buffer = &buffer,
                                  .row = static_cast<std::uint32_t>(one.row)});
        }
    }
    std::optional<sparse::Query> plain;
    const auto bound = scorer.bound();
    if (bound) {
        index::Query bag;
        bag.texts = {bound->words};
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
    // Phrases are looked for in texts: only the best are, where there are many.
    const std::uint64_t counted_rows = scorer.has_phrases() ? 2'000 : 50'000;
    const bool count_all = rows <= counted_rows || depth >= rows || !bound;
    for (const PartView* const part : order) {
        BRAID_CHECK(core::check_limits(limits_));
        BRAID_TRY(const TreeFound found,
                  search_part(*part, {.scorer = scorer,
                                      .schema = schema(),
                                      .bound = plain,
                                      .bound_is_score = bound && bound->exact,
                                      .depth = depth,
                                      .count_all = count_all,
                                      .threshold = threshold_of(candidates, depth),
                                      .limits = limits_}));
        ranking.matched += found.matched;
        for (const sparse::ScoredRow& one : found.rows) {
            candidates.push_back({.score = one.score, .part = part, .row = one.row});
        }
    }
    BRAID_TRY(ranking.hits, best_of(std::move(candidates), depth));
    if (count_all) return ranking;
    ranking.matched_exactly = ranking.hits.size() < depth;
    ranking.matched = ranking.hits.size();
    return ranking;
}

}  // namespace braid::segment
