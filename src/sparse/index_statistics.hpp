#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/sparse/index_reader.hpp"
#include "braid/sparse/summed_levels.hpp"

namespace braid::sparse {

/// Which labels a principal may see.
using LabelPredicate = std::function<bool(std::uint32_t label)>;

/// What rows that were deleted, or are hidden for another reason, take away from the statistics of
/// an index. It is taken from their own terms, so nothing is counted again. A copy shares its data
/// with the original and costs next to nothing, however many rows there are. One thread at a time
/// may add and read; copies are independent.
class RemovedRows {
public:
    /// The terms of a row as its text has them now; they may differ from when it was indexed.
    using TermsOfRow = std::function<Result<std::vector<std::string>>(std::uint32_t row)>;

    /// Each row once. Requires rows below reader.rows(), and the same index in all calls. Without
    /// forward lists, the terms of a few rows are looked up as `terms_of` gives them, if it gives
    /// all of them; those of many are found by walking all lists.
    Result<> add(const IndexReader& reader, std::span<const std::uint32_t> rows,
                 const TermsOfRow& terms_of);

    /// Rows and lengths by label number; a number may come several times.
    template <class Visit>
    void each_label(const Visit& visit) const {
        labels_.each(visit);
    }
    /// The labels of the rows with a term: visit(label number, rows). A number may come several
    /// times.
    template <class Visit>
    void each_label_of(std::uint32_t term, const Visit& visit) const {
        terms_.each_from({.term = term}, [&](const TermRows& found) {
            if (found.term != term) return false;
            visit(found.label, found.rows);
            return true;
        });
    }

private:
    struct TermRows {
        std::uint32_t term = 0;
        std::uint32_t label = 0;  // the label's number
        std::uint32_t rows = 0;

        std::uint64_t key() const noexcept {
            return static_cast<std::uint64_t>(term) << 32 | label;
        }
        void add(const TermRows& other) noexcept { rows += other.rows; }
    };
    struct LabelRows {
        std::uint32_t number = 0;
        LabelFacts facts;

        std::uint64_t key() const noexcept { return number; }
        void add(const LabelRows& other) noexcept;
    };

    Result<> add_label(const IndexReader& reader, const RowFacts& facts, std::uint32_t row);
    /// Fills `row_`.
    Result<> read_forward(const RowFacts& facts, std::uint32_t row, std::uint32_t label);
    /// The same; false, with `row_` unusable, if these are not all terms of the row.
    Result<bool> look_up(const IndexReader& reader, const RowFacts& facts, std::uint32_t row,
                         std::uint32_t label, std::span<const std::string> terms);
    Result<> walk_lists(const IndexReader& reader, std::span<const std::uint32_t> rows);

    SummedLevels<LabelRows> labels_;
    SummedLevels<TermRows> terms_;
    std::vector<TermRows> row_;  // of the row being added
};

/// Rows and lengths that a principal may see.
struct VisibleTotals {
    std::uint64_t rows = 0;
    std::array<std::uint64_t, kMaxFields> total_lengths{};
};

/// Statistics of one index for one principal, without walking its rows: sums over labels. Those of
/// several indexes add up.
class IndexStatistics {
public:
    /// Asks `visible` once per label; if it is empty, all labels are visible. `removed` may be
    /// null, and must outlive this.
    static Result<IndexStatistics> create(const IndexReader& reader, const LabelPredicate& visible,
                                          const RemovedRows* removed);

    const VisibleTotals& totals() const noexcept { return totals_; }
    /// Visible rows that hold the term.
    Result<std::uint64_t> document_frequency(std::string_view term) const;
    /// The same, for an entry of the index's dictionary.
    Result<std::uint64_t> document_frequency(const TermEntry& entry) const;
    /// Every term held by a visible row, in byte order: what Okapi's mean idf is computed from.
    Result<> each(const std::function<void(std::string_view term, std::uint64_t df)>& visit) const;

private:
    explicit IndexStatistics(const IndexReader& reader, const RemovedRows* removed) noexcept
        : reader_(&reader), removed_(removed) {}
    Result<std::uint64_t> stored_frequency(const TermEntry& entry) const;
    Result<std::uint64_t> counted_frequency(std::span<const std::uint8_t> label_counts) const;

    const IndexReader* reader_;
    const RemovedRows* removed_;
    VisibleTotals totals_;
    std::vector<bool> visible_;  // by number of the label
    bool all_ = true;
    bool none_ = true;
};

}  // namespace braid::sparse
