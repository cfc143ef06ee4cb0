#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "braid/sparse/count_finder.hpp"
#include "braid/sparse/query.hpp"

namespace braid::sparse {

/// A term of a query that an index holds.
struct FoundTerm {
    std::uint32_t position = 0;  // in the query
    double weight = 0;
    TermEntry entry;
};

/// Exact scores of rows for one query, from the rows' own terms or, without forward lists, from the
/// lists of the query's terms: the same additions in the same order as exhaustive scoring. The
/// reader must outlive this; query and scorer belong to one caller at a time.
class RowScorer {
public:
    /// InvalidArgument if the query is not valid for the index, or names a term twice. `entries`:
    /// see SearchOptions.
    static Result<RowScorer> create(const IndexReader& reader, const Query& query,
                                    std::span<const std::optional<TermEntry>> entries = {});

    /// 0 if the row holds none of the terms. Requires row < rows().
    Result<double> score(std::uint32_t row);

    /// What the index has for the query's terms, in the query's order.
    std::span<const FoundTerm> terms() const noexcept { return terms_; }
    const RowFacts& facts() const noexcept { return facts_; }
    const Bm25& bm25() const noexcept { return bm25_; }
    std::span<const double> field_weights() const noexcept { return field_weights_; }
    /// How often a row has a term, weighted over the fields.
    double weighted_tf(const std::uint32_t* counts) const noexcept;
    double average_length() const noexcept { return average_; }
    double weighted_length(std::uint32_t row) const noexcept;

private:
    struct Wanted {
        std::uint32_t id;
        std::uint32_t found;  // in terms_
    };
    struct Matched {
        std::uint32_t found;
        double tf;
    };

    double weighted_tf(const ForwardCursor& cursor) const noexcept;
    /// From the row's own terms, and from the lists of the query's terms.
    Result<> match_forward(std::uint32_t row);
    Result<> match_lists(std::uint32_t row);

    const IndexReader* reader_ = nullptr;
    RowFacts facts_;
    Bm25 bm25_;
    std::vector<double> field_weights_;
    double average_ = 0;
    std::vector<FoundTerm> terms_;
    std::vector<Wanted> wanted_;        // sorted by id
    std::vector<CountFinder> finders_;  // parallel to terms_; made when first needed
    std::vector<Matched> matched_;
};

/// Scores every row, by walking the lists of the query's terms.
Result<std::vector<double>> score_all(const IndexReader& reader, const RowScorer& scorer);

}  // namespace braid::sparse
