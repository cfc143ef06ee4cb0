#include <algorithm>
#include <unordered_set>

#include "braid/core/limits.hpp"
#include "braid/exact/leg_search.hpp"
#include "braid/index/word_tree.hpp"
#include "braid/segment/candidates.hpp"
#include "braid/segment/segment_view.hpp"
#include "braid/segment/tree_search.hpp"
#include "braid/sparse/search.hpp"

namespace braid::segment {
namespace {

/// The distinct terms of all variants.
std::vector<std::string> terms_of(const index::Query& query) {
    if (query.tree) return query.tree->terms();
    std::vector<std::string> terms;
    std::unordered_set<std::string_view> known;
    for (const auto& text : query.texts) {
        for (const index::QueryTerm& one : text) {
            if (known.insert(one.term).second) terms.push_back(one.term);
        }
    }
    return terms;
}

/// What a schema says about scoring.
sparse::Query without_terms(const Schema& schema) {
    sparse::Query query;
    query.bm25 = schema.bm25;
    for (const TextField& field : schema.text_fields) query.field_weights.push_back(field.weight);
    return query;
}

/// Terms of the query that the weighed ones lack, or that no chunk holds. The weighed terms of a
/// text are a subsequence of its terms.
std::vector<std::string> absent_terms(const index::Query& query,
                                      std::span<const sparse::Query> weighed) {
    std::vector<std::string> absent;
    std::unordered_set<std::string_view> known;
    for (std::size_t i = 0; i < query.texts.size(); ++i) {
        auto next = weighed[i].terms.begin();
        for (const index::QueryTerm& one : query.texts[i]) {
            const bool is_weighed = next != weighed[i].terms.end() && next->term == one.term;
            if (is_weighed && (next++)->df > 0) continue;
            if (known.insert(one.term).second) absent.push_back(one.term);
        }
    }
    return absent;
}

void add_best(const BufferView& buffer, std::vector<exact::ScoredRow> scored, std::size_t depth,
              std::vector<Candidate>& candidates) {
    for (const exact::ScoredRow& one : exact::best(*buffer.partition, std::move(scored), depth)) {
        candidates.push_back(
            {.score = one.score, .buffer = &buffer, .row = static_cast<std::uint32_t>(one.row)});
    }
}

/// Keeps the hits that rank below `after`; as long as there are fewer than `depth`, and `search`
/// has not returned everything, searches deeper.
Result<> go_on_below(const PartView& view, const LegHit& after, std::size_t depth,
                     dense::VectorSearch search, std::span<const float> vector,
                     std::vector<dense::VectorHit>& hits) {
    const docs::StringTable& ids = view.part().documents().chunk_ids();
    while (search.k > 0) {
        const bool all = hits.size() < search.k || search.k >= view.part().vectors()->size();
        std::vector<dense::VectorHit> below;
        for (const dense::VectorHit& hit : hits) {
            if (hit.score > after.score) continue;
            if (hit.score == after.score) {
                BRAID_TRY(const std::string id, ids.at(view.part().row_of_vector(hit.row)));
                if (id <= after.chunk_id) continue;
            }
            below.push_back(hit);
        }
        if (all || below.size() >= depth) {
            hits = std::move(below);
            return {};
        }
        search.k *= 2;
        BRAID_TRY(auto more, view.part().vectors()->search(vector, search));
        hits = std::move(more.hits);
    }
    return {};
}

}  // namespace

Result<index::Ranking> SegmentView::search(const index::Query& query, std::size_t depth) const {
    BRAID_CHECK(core::check_limits(limits_));
    BRAID_TRY(index::Ranking ranking, query.kind == LegKind::Sparse ? search_words(query, depth)
                                                                    : search_vectors(query, depth));
    for (const PartView& part : parts_) BRAID_CHECK(part.part().intact());
    return ranking;
}

Result<TextStatistics> SegmentView::text_statistics(const index::Query& query,
                                                    bool every_term) const {
    TextStatistics statistics;
    exact::LengthSum lengths(query.scoring_or(schema()));
    for (const BufferView& buffer : buffers_) {
        BRAID_CHECK(exact::RowFilter(buffer.rows, nullptr, limits_).for_each([&](exact::Row row) {
            lengths.add(buffer.partition->field_lengths(row));
        }));
        BRAID_TRY(const TextStatistics own,
                  exact::text_statistics(buffer.rows, query, every_term, limits_));
        statistics.add(own);
    }
    const std::vector<std::string> named =
        every_term ? std::vector<std::string>() : terms_of(query);
    for (const PartView& part : parts_) {
        std::vector<std::string> fitting;
        if (query.tree && !every_term) {
            fitting = named;
            BRAID_CHECK(add_fitting(part.part().words(), *query.tree, fitting));
        }
        const std::vector<std::string>& terms = query.tree ? fitting : named;
        BRAID_TRY(const sparse::IndexStatistics own, part.statistics());
        statistics.chunks += own.totals().rows;
        lengths.add(own.totals().total_lengths);
        for (const std::string& term : terms) {
            BRAID_TRY(const std::uint64_t df, own.document_frequency(term));
            if (df > 0) statistics.frequencies[term] += df;
        }
        if (!every_term) continue;
        BRAID_CHECK(own.each([&](std::string_view term, std::uint64_t df) {
            const auto found = statistics.frequencies.find(term);
            if (found == statistics.frequencies.end()) {
                statistics.frequencies.emplace(term, df);
            } else {
                found->second += df;
            }
        }));
    }
    // Sums whole numbers before weighting: the total is the same however chunks are spread.
    statistics.total_length = lengths.weighted();
    return statistics;
}

Result<std::shared_ptr<const TextStatistics>> SegmentView::statistics_of(
    const index::Query& query) const {
    if (query.statistics) return query.statistics;
    BRAID_TRY(TextStatistics own, text_statistics(query, false));
    return std::make_shared<const TextStatistics>(std::move(own));
}

Result<double> SegmentView::mean_okapi_idf() const {
    std::string key = std::to_string(at_) + ' ' + namespace_;
    if (index_.expires()) key += ' ' + std::to_string(now_.micros);
    if (!principal_.sees_everything()) {
        key += '\n' + *principal_.clearance;
        for (const std::string& scope : principal_.scopes) key += '\n' + scope;
    }
    State::MeanIdf& kept = *binding_->state()->mean_idf;
    const std::scoped_lock lock(kept.mutex);
    if (kept.of == key) return kept.value;
    BRAID_TRY(const TextStatistics all, text_statistics({}, true));
    kept.value = exact::mean_okapi_idf(all);
    kept.of = std::move(key);
    return kept.value;
}

Result<std::vector<sparse::Query>> SegmentView::queries_of(const index::Query& query,
                                                           const TextStatistics& statistics) const {
    std::vector<sparse::Query> queries;
    std::optional<double> mean;
    for (const auto& text : query.texts) {
        sparse::Query& one = queries.emplace_back(without_terms(query.scoring_or(schema())));
        one.corpus = {statistics.chunks, statistics.total_length};
        for (const index::QueryTerm& term : text) {
            const auto known = statistics.frequencies.find(term.term);
            if (known == statistics.frequencies.end()) continue;
            one.terms.push_back({term.term, term.repeated, known->second});
            if (one.bm25.variant != Bm25Variant::Okapi || mean) continue;
            if (sparse::idf(Bm25Variant::Okapi, statistics.chunks, known->second) >= 0) continue;
            // Statistics given by the caller hold every term.
            if (query.statistics) {
                mean = exact::mean_okapi_idf(statistics);
            } else {
                BRAID_TRY(mean, mean_okapi_idf());
            }
        }
    }
    for (sparse::Query& one : queries) one.mean_idf = mean;
    return queries;
}

Result<SegmentView::Weighed> SegmentView::weigh(const index::Query& query) const {
    if (buffers_.empty() && query.texts.size() == 1 && !query.statistics &&
        schema().bm25.variant != Bm25Variant::Okapi) {
        return weigh_text(query.texts.front(), query.scoring_or(schema()));
    }
    Weighed weighed;
    BRAID_TRY(weighed.statistics, statistics_of(query));
    BRAID_TRY(weighed.queries, queries_of(query, *weighed.statistics));
    if (query.statistics) return weighed;
    for (const auto& [term, df] : weighed.statistics->frequencies) {
        weighed.most = std::max(weighed.most, df);
    }
    return weighed;
}

Result<SegmentView::Weighed> SegmentView::weigh_text(const std::vector<index::QueryTerm>& text,
                                                     const Schema& scoring) const {
    Weighed weighed;
    sparse::Query& query = weighed.queries.emplace_back(without_terms(scoring));
    query.terms.reserve(text.size());
    for (const index::QueryTerm& term : text) query.terms.push_back({term.term, term.repeated, 0});
    exact::LengthSum lengths(scoring);
    for (const PartView& part : parts_) {
        BRAID_TRY(const sparse::IndexStatistics own, part.statistics());
        query.corpus.chunks += own.totals().rows;
        lengths.add(own.totals().total_lengths);
        auto& entries = weighed.entries.emplace_back();
        entries.reserve(text.size());
        for (sparse::QueryTerm& term : query.terms) {
            BRAID_TRY(const auto entry, part.part().words().dictionary().find(term.term));
            entries.push_back(entry);
            if (!entry) continue;
            BRAID_TRY(const std::uint64_t df, own.document_frequency(*entry));
            term.df += df;
            weighed.most = std::max(weighed.most, term.df);
        }
    }
    query.corpus.total_length = lengths.weighted();
    return weighed;
}

Result<BufferHits> SegmentView::search_buffers(const index::Query& query,
                                               const std::optional<LegHit>& after,
                                               std::size_t depth) const {
    BufferHits out;
    for (const BufferView& buffer : buffers_) {
        BRAID_TRY(auto scored, exact::score_sparse(buffer.rows, query, matcher_, limits_));
        std::erase_if(scored, [](const exact::ScoredRow& one) { return one.score <= 0; });
        out.matched += scored.size();
        out.rows += buffer.rows.rows();
        if (after) exact::keep_below(*buffer.partition, *after, scored);
        add_best(buffer, std::move(scored), depth, out.best);
    }
    return out;
}

Result<index::Ranking> SegmentView::search_words(const index::Query& query,
                                                 std::size_t depth) const {
    if (query.tree) return search_tree(query, depth);
    BRAID_TRY(const Weighed weighed, weigh(query));
    index::Query in_buffers;  // a copy costs as much as a small search
    if (!buffers_.empty()) {
        in_buffers = query;
        in_buffers.statistics = weighed.statistics;
        in_buffers.mean_idf =
            weighed.queries.empty() ? std::nullopt : weighed.queries.front().mean_idf;
    }
    index::Ranking ranking;
    ranking.absent = absent_terms(query, weighed.queries);
    BRAID_TRY(BufferHits buffered, search_buffers(in_buffers, query.after, depth));
    std::vector<Candidate> candidates = std::move(buffered.best);
    ranking.matched = buffered.matched;
    std::uint64_t rows = buffered.rows;
    // Largest part first: its hits raise the threshold for the others.
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        order.push_back(i);
        rows += parts_[i].part().rows();
    }
    std::ranges::stable_sort(order, std::greater(),
                             [&](std::size_t i) { return parts_[i].part().rows(); });
    // Counting every match costs as much as finding the best, so it is done only where that costs
    // next to nothing.
    constexpr std::uint64_t counted_rows = 50'000;
    const bool count_all = rows <= counted_rows || depth >= rows;
    for (const std::size_t i : order) {
        const PartView* const part = &parts_[i];
        BRAID_CHECK(core::check_limits(limits_));
        BRAID_TRY(const BitsPtr allowed, part->allowed());
        sparse::SearchOptions options;
        options.k = std::min<std::size_t>(depth, part->part().rows());
        if (allowed) options.allowed = *allowed;
        options.threshold = threshold_of(candidates, depth);
        options.count_all = count_all;
        options.check_intact = false;  // search() asks once everything has been read
        if (!weighed.entries.empty()) options.entries = weighed.entries[i];
        if (query.after) {
            BRAID_TRY(options.after, place_below(*part, *query.after));
        }
        BRAID_TRY(const auto found, sparse::search(part->part().words(), weighed.queries, options));
        ranking.matched += found.matched.count;
        for (const sparse::ScoredRow& one : found.rows) {
            candidates.push_back({.score = one.score, .part = part, .row = one.row});
        }
    }
    BRAID_TRY(ranking.hits, best_of(std::move(candidates), depth));
    ranking.method = "inverted index";
    if (count_all) return ranking;
    // A bound that depends neither on how chunks are spread nor on what was looked at.
    ranking.matched_exactly = ranking.hits.size() < depth && !query.after;
    ranking.matched = ranking.hits.size();
    if (!ranking.matched_exactly && matcher_ == nullptr) {
        ranking.matched = std::max(ranking.matched, weighed.most);
    }
    return ranking;
}

Result<bool> SegmentView::comparable(const index::Query& query) const {
    BRAID_CHECK(exact::check_query_vector(query.vector, schema()));
    BRAID_TRY(const bool any, has_vectors());
    if (!any) return false;
    std::size_t dimension = 0;
    for (const BufferView& buffer : buffers_) {
        if (buffer.partition->vectors() != nullptr) {
            dimension = buffer.partition->vectors()->dimension();
        }
    }
    for (const PartView& part : parts_) {
        if (part.part().vectors() != nullptr) dimension = part.part().vectors()->meta().dimension;
    }
    if (query.vector.size() == dimension) return true;
    return exact::wrong_dimension(query.vector.size(), dimension);
}

Result<index::Ranking> SegmentView::search_vectors(const index::Query& query,
                                                   std::size_t depth) const {
    index::Ranking ranking;
    ranking.method = "exact scan";
    BRAID_TRY(const bool any, comparable(query));
    if (!any) return ranking;
    std::vector<Candidate> candidates;
    for (const BufferView& buffer : buffers_) {
        BRAID_TRY(auto scored, exact::score_dense(buffer.rows, query, matcher_, limits_));
        ranking.matched += scored.size();
        if (query.after) exact::keep_below(*buffer.partition, *query.after, scored);
        add_best(buffer, std::move(scored), depth, candidates);
    }
    // A caller who may not see everything gets answers that nothing hidden can have changed.
    const bool exact = query.exact || !principal_.sees_everything();
    const std::uint64_t many = index_.policy().graph_vectors;
    Calibrations::Ptr calibration;
    bool among_many = false;
    bool graph_missing = false;
    for (const PartView& view : parts_) {
        BRAID_CHECK(core::check_limits(limits_));
        const dense::VectorsReader* const vectors = view.part().vectors();
        if (vectors == nullptr) continue;
        BRAID_TRY(const BitsPtr allowed, view.allowed());
        const BitsPtr mask = view.part().vectors_among(allowed);
        const std::uint64_t matching = mask ? view.count(mask) : vectors->size();
        ranking.matched += matching;
        dense::VectorSearch search;
        search.k = std::min<std::size_t>(depth, matching);
        // Assumes that about as many rank above the point where the list continues.
        if (query.after && search.k < matching) search.k = std::min(2 * search.k, matching);
        if (mask) search.allowed = *mask;
        search.exact = exact;
        search.recall = query.recall;
        if (!exact && vectors->size() >= many) {
            if (!among_many) {
                calibration = binding_->calibration_of(namespace_, index_.calibrations());
            }
            among_many = true;
            graph_missing = graph_missing || !vectors->has_graph();
            search.calibration = calibration.get();
        }
        const dense::SearchAidsPtr aids = exact ? nullptr : binding_->aids_of(*vectors);
        search.aids = aids.get();
        BRAID_TRY(auto answer, vectors->search(query.vector, search));
        if (query.after) {
            BRAID_CHECK(go_on_below(view, *query.after, depth, search, query.vector, answer.hits));
        }
        if (answer.method != dense::VectorMethod::Exact) {
            ranking.exact = false;
            // Where parts differ, the method of the large ones is named.
            if (ranking.method != "graph") ranking.method = method_name(answer.method);
        }
        for (const dense::VectorHit& one : answer.hits) {
            candidates.push_back(
                {.score = one.score, .part = &view, .row = view.part().row_of_vector(one.row)});
        }
    }
    if (among_many) index_.note_query(namespace_, query.vector, graph_missing);
    BRAID_TRY(ranking.hits, best_of(std::move(candidates), depth));
    return ranking;
}

}  // namespace braid::segment
