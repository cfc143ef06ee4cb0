#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/sparse/bm25.hpp"

namespace braid::sparse {

/// A word to look for.
struct QueryTerm {
    std::string term;
    double repeated = 1;   // how often the query has it
    std::uint64_t df = 0;  // chunks of the statistics that hold it
};

/// What to look for, and the one set of statistics that scores it in every index asked.
struct Query {
    /// Each term once, in order of first occurrence: scores are added in this order.
    std::vector<QueryTerm> terms;
    Bm25 bm25;
    std::vector<double> field_weights;  // 0 or more, one per text field
    CorpusStatistics corpus;
    /// Okapi only: the mean idf of all terms, needed for terms whose idf is negative.
    std::optional<double> mean_idf;
};

/// InvalidArgument if a weight or a parameter is out of range, or there are not `fields` weights.
Result<> validate(const Query& query, std::size_t fields);

/// What the saturation of a term is multiplied by: how often the query has the term, times its idf.
/// 0 for a term unknown to the statistics. Requires a valid query.
double term_weight(const Query& query, const QueryTerm& term) noexcept;

/// A row and its score; better ones first: higher score, then smaller row.
struct ScoredRow {
    std::uint32_t row = 0;
    double score = 0;

    friend bool operator==(const ScoredRow&, const ScoredRow&) = default;
};

constexpr bool better(const ScoredRow& a, const ScoredRow& b) noexcept {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
}

/// The same for algorithms: an object is inlined where a function pointer would be called.
inline constexpr auto kBetterRow = [](const ScoredRow& a, const ScoredRow& b) noexcept {
    return better(a, b);
};

}  // namespace braid::sparse
