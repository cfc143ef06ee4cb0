#include <algorithm>
#include <concepts>

#include "braid/sparse/row_scorer.hpp"
#include "braid/sparse/search.hpp"
#include "braid/sparse/top_rows.hpp"

namespace braid::sparse {
namespace {

/// Walks the rows of one term in increasing order.
template <class C>
concept PostingCursor = requires(C cursor, const C& view) {
    { view.row() } noexcept -> std::same_as<std::uint32_t>;  // C::kEnd when there are no more
    { C::kEnd } -> std::convertible_to<std::uint32_t>;
    { cursor.next() } noexcept;
};
static_assert(PostingCursor<ListCursor>);

/// How often a row has a term, weighted over the fields.
Result<double> tf_in(const RowFacts& facts, std::span<const double> weights, std::uint32_t row,
                     std::uint32_t id) {
    BRAID_TRY(ForwardCursor terms, facts.terms(row));
    while (terms.next()) {
        if (terms.term() != id) continue;
        double tf = 0;
        for (std::uint32_t f = 0; f < weights.size(); ++f) {
            tf += weights[f] * static_cast<double>(terms.count(f));
        }
        return tf;
    }
    return corrupt_index("a list has a row that lacks the term");
}

template <PostingCursor Cursor>
Result<> add_scores(Cursor cursor, const RowScorer& scorer, const FoundTerm& term,
                    std::vector<double>& scores) {
    for (; cursor.row() != Cursor::kEnd; cursor.next()) {
        const std::uint32_t row = cursor.row();
        BRAID_TRY(const double tf,
                  tf_in(scorer.facts(), scorer.field_weights(), row, term.entry.id));
        if (tf == 0) continue;
        scores[row] += term.weight * saturation(scorer.bm25(), tf, scorer.weighted_length(row),
                                                scorer.average_length());
    }
    return {};
}

}  // namespace

Result<SearchResult> exhaustive_search(const IndexReader& reader, std::span<const Query> queries,
                                       const SearchOptions& options) {
    std::vector<double> best(reader.rows(), 0.0);
    std::vector<double> scores(reader.rows());
    for (const Query& query : queries) {
        BRAID_TRY(const RowScorer scorer, RowScorer::create(reader, query));
        std::ranges::fill(scores, 0.0);
        for (const FoundTerm& term : scorer.terms()) {
            BRAID_TRY(const ListView list, reader.list(term.entry));
            BRAID_CHECK(add_scores(ListCursor(list, reader.rows()), scorer, term, scores));
        }
        std::ranges::transform(best, scores, best.begin(), std::ranges::max);
    }
    SearchResult result;
    TopRows top(options.k, options.threshold, options.after);
    for (std::uint32_t row = 0; row < reader.rows(); ++row) {
        const bool may =
            options.allowed.empty() || (options.allowed[row / 64] >> (row % 64) & 1) != 0;
        if (!may || !(best[row] > 0)) continue;
        ++result.matched.count;
        top.offer({row, best[row]});
    }
    result.matched.exact = true;
    result.rows = std::move(top).take();
    return result;
}

}  // namespace braid::sparse
