#include "braid/sparse/query.hpp"

#include <cmath>

namespace braid::sparse {

Result<> validate(const Query& query, std::size_t fields) {
    if (query.field_weights.size() != fields) {
        return invalid_argument("query: " + std::to_string(query.field_weights.size()) +
                                " field weights for " + std::to_string(fields) + " fields");
    }
    for (const double weight : query.field_weights) {
        if (!std::isfinite(weight) || weight < 0) {
            return invalid_argument("query: a field weight must be 0 or more");
        }
    }
    const Bm25& bm25 = query.bm25;
    if (!std::isfinite(bm25.k1) || bm25.k1 < 0 || !(bm25.b >= 0 && bm25.b <= 1)) {
        return invalid_argument("query: bm25.k1 must be 0 or more, bm25.b from 0 to 1");
    }
    if (!std::isfinite(query.corpus.total_length) || query.corpus.total_length < 0) {
        return invalid_argument("query: the total length must be 0 or more");
    }
    for (const QueryTerm& term : query.terms) {
        if (!std::isfinite(term.repeated) || term.repeated < 0) {
            return invalid_argument("query: a term must be repeated 0 times or more");
        }
        if (term.df > query.corpus.chunks) {
            return invalid_argument("query: term \"" + term.term +
                                    "\" is in more chunks than there are");
        }
        if (term.df > 0 && !query.mean_idf && bm25.variant == Bm25Variant::Okapi &&
            idf(bm25.variant, query.corpus.chunks, term.df) < 0) {
            return invalid_argument("query: the mean idf is missing");
        }
    }
    return {};
}

double term_weight(const Query& query, const QueryTerm& term) noexcept {
    if (term.df == 0) return 0;
    double inverse = idf(query.bm25.variant, query.corpus.chunks, term.df);
    if (query.bm25.variant == Bm25Variant::Okapi && inverse < 0) {
        inverse = query.bm25.epsilon * query.mean_idf.value_or(0);
    }
    return term.repeated * inverse;
}

}  // namespace braid::sparse
