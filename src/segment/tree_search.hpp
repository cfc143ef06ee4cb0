#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "braid/index/tree_scorer.hpp"
#include "braid/segment/part_view.hpp"
#include "braid/sparse/query.hpp"

namespace braid::segment {

/// Adds the terms of an index that fit a pattern of the tree, each once.
Result<> add_fitting(const sparse::IndexReader& words, const index::WordTree& tree,
                     std::vector<std::string>& terms);

/// What a tree makes of the rows of one part. All must outlive it.
class PartTree {
public:
    static Result<PartTree> create(const PartView& view, const index::TreeScorer& scorer,
                                   const Schema& schema);

    /// By the words that the index counts alone, or with the text of the chunk.
    Result<index::Verdict> evaluate(std::uint32_t row, bool with_text);

    /// At least every row that the tree finds.
    struct Rows {
        Bits rows;
        bool exact = true;  // no others
    };
    Result<Rows> rows_of(const index::TreeScorer::Clause& clause) const;

private:
    struct Wanted {
        std::uint32_t id = 0;      // of the index
        std::uint32_t number = 0;  // of the scorer
    };

    PartTree(const PartView& view, const index::TreeScorer& scorer, const Schema& schema,
             const sparse::RowFacts& facts)
        : view_(&view), scorer_(&scorer), schema_(&schema), facts_(facts) {}
    const sparse::IndexReader& words() const noexcept { return view_->part().words(); }
    Result<Rows> rows_of_leaf(const index::TreeScorer::Leaf& leaf) const;
    Result<Bits> rows_of_place(const std::vector<index::TreeScorer::Alternative>& place) const;
    Result<> keep_place(const std::vector<index::TreeScorer::Alternative>& place, Bits& rows) const;
    std::uint64_t most_rows(const std::vector<index::TreeScorer::Alternative>& place) const;
    std::uint64_t most_rows(const index::TreeScorer::Clause& clause) const;

    const PartView* view_;
    const index::TreeScorer* scorer_;
    const Schema* schema_;
    sparse::RowFacts facts_;
    std::vector<std::optional<sparse::TermEntry>> entries_;  // of the scorer's terms
    std::vector<Wanted> wanted_;                             // by id
    std::vector<std::uint32_t> counts_;
};

/// The score of each row, 0 where the tree does not find it.
Result<std::vector<double>> score_rows(const PartView& view, const index::TreeScorer& scorer,
                                       const Schema& schema, std::span<const std::uint32_t> rows);

/// Finds the best rows of a part.
struct TreeSearch {
    const index::TreeScorer& scorer;
    const Schema& schema;
    /// The plain search that finds every row, best first or nearly so; none: each has to be looked
    /// at.
    const std::optional<sparse::Query>& bound;
    bool bound_is_score = false;
    std::size_t depth = 0;
    bool count_all = false;
    double threshold = 0;  // rows below are no hits
    const CallLimits& limits;
};
struct TreeFound {
    std::vector<sparse::ScoredRow> rows;  // the best, in no order
    std::uint64_t matched = 0;            // if all were to be counted
};
Result<TreeFound> search_part(const PartView& view, const TreeSearch& search);

}  // namespace braid::segment
