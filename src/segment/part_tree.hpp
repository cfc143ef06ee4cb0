#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "braid/index/tree_scorer.hpp"
#include "braid/segment/part_view.hpp"
#include "braid/sparse/count_finder.hpp"

namespace braid::segment {

/// Adds the terms of an index that match a pattern of the tree, each once.
Result<> add_fitting(const sparse::IndexReader& words, const index::WordTree& tree,
                     std::vector<std::string>& terms);

/// What a tree makes of the rows of one part. The arguments must outlive it.
class PartTree {
public:
    static Result<PartTree> create(const PartView& view, const index::TreeScorer& scorer,
                                   const Schema& schema);

    /// Goes by the index alone, which is enough where it has positions, or reads the text of the
    /// chunk as well.
    Result<index::Verdict> evaluate(std::uint32_t row, bool with_text);
    /// Prefetches what `evaluate` reads of a row.
    void prefetch(std::uint32_t row) const noexcept {
        facts_.prefetch(row);
        if (facts_.has_positions()) facts_.prefetch_positions(row);
    }
    const sparse::RowFacts& facts() const noexcept { return facts_; }
    const sparse::IndexReader& words() const noexcept { return view_->part().words(); }
    /// What the index has for a term of the scorer.
    const std::optional<sparse::TermEntry>& entry(std::uint32_t term) const noexcept {
        return entries_[term];
    }

    /// A superset of the rows that the tree finds.
    struct Rows {
        Bits rows;
        bool exact = true;  // nothing but those rows
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
    /// How often the row has each term: from its forward list, or from the lists of the terms.
    Result<> read_forward(std::uint32_t row);
    Result<> read_lists(std::uint32_t row);
    Result<> read_positions(std::uint32_t row);
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
    std::vector<sparse::CountFinder> finders_;               // the same, without forward lists
    std::vector<std::uint32_t> counts_;
    // Positions in the row, if the index has them and the tree has phrases:
    bool with_positions_ = false;
    std::vector<std::size_t> firsts_;  // per entry of `counts_`: where its positions begin
    std::vector<std::uint32_t> held_;
    std::vector<std::span<const std::uint32_t>> positions_;  // parallel to `counts_`, into `held_`
};

/// The score of each row, 0 where the tree does not find it.
Result<std::vector<double>> score_rows(const PartView& view, const index::TreeScorer& scorer,
                                       const Schema& schema, std::span<const std::uint32_t> rows);

}  // namespace braid::segment
