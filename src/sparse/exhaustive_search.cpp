#include <algorithm>

#include "braid/sparse/counted_rows.hpp"
#include "braid/sparse/row_scorer.hpp"
#include "braid/sparse/search.hpp"
#include "braid/sparse/top_rows.hpp"

namespace braid::sparse {
namespace {

Result<> add_scores(const IndexReader& reader, const RowScorer& scorer, const FoundTerm& term,
                    std::vector<double>& scores) {
    BRAID_TRY(const ListView list, reader.list(term.entry));
    const auto add = [&](std::uint32_t row, const std::uint32_t* counts) {
        const double tf = scorer.weighted_tf(counts);
        if (tf == 0) return;
        scores[row] += term.weight * saturation(scorer.bm25(), tf, scorer.weighted_length(row),
                                                scorer.average_length());
    };
    return each_counted_row(reader, scorer.facts(), list, add);
}

}  // namespace

Result<std::vector<double>> score_all(const IndexReader& reader, const RowScorer& scorer) {
    std::vector<double> scores(reader.rows(), 0.0);
    for (const FoundTerm& term : scorer.terms()) {
        BRAID_CHECK(add_scores(reader, scorer, term, scores));
    }
    return scores;
}

Result<SearchResult> exhaustive_search(const IndexReader& reader, std::span<const Query> queries,
                                       const SearchOptions& options) {
    std::vector<double> best(reader.rows(), 0.0);
    for (const Query& query : queries) {
        BRAID_TRY(const RowScorer scorer, RowScorer::create(reader, query));
        BRAID_TRY(const std::vector<double> scores, score_all(reader, scorer));
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
