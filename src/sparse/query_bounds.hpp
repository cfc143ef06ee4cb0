#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "braid/sparse/row_scorer.hpp"

namespace braid::sparse {

/// A term that can raise a score, and by how much at most. Bounds are made for each query, from the
/// statistics in force: nothing stored depends on them.
struct BoundedTerm {
    ListView list;
    double weight = 0;
    double bound = 0;             // of what it adds to any row
    double tf_weight = 0;         // the largest field weight that can count
    std::uint32_t table = 0;      // of QueryBounds::tables
    std::uint32_t column = 0;     // Column: of QueryBounds::column_bounds
    std::uint32_t run_begin = 0;  // Single, Run: in QueryBounds::run_rows
    std::uint32_t run_end = 0;
};

/// Bounds of a term as bytes, in units of 1 / scale, rounded up: for lists by row code, for columns
/// by nibble. Kept apart from the terms, which are sorted.
struct ByteTables {
    std::array<std::uint8_t, kRowCodes> by_code;
    std::array<std::uint8_t, 16> by_nibble;
};

/// Bounds are multiplied by this, so that no rounding makes one too small.
inline constexpr double kInflate = 1.00001;

/// More terms than this are not bounded: a byte has no room for their sum.
inline constexpr std::size_t kMostBoundedTerms = 128;

/// Bounds of what a column adds, in units of 1 / scale, by nibble and class of length.
using ColumnBounds = std::array<float, std::size_t{kTopNibble + 1} * kLengthClasses>;

class QueryBounds {
public:
    /// Requires at most kMostBoundedTerms terms.
    static Result<QueryBounds> create(const IndexReader& reader, const RowScorer& scorer);

    /// Smallest bound first; terms that never raise a score are left out.
    std::span<const BoundedTerm> terms() const noexcept { return terms_; }
    /// The sum of the bounds of the first `count` terms.
    double sum_of_first(std::size_t count) const noexcept { return sums_[count]; }
    double scale() const noexcept { return scale_; }
    /// Whether sums may be too large for a byte: 255 then means "or more".
    bool saturates() const noexcept { return saturates_; }
    /// Makes the bytes finer, for sums that are compared with a threshold; 0 undoes it. Worth it
    /// for many terms of which a row has few. False if nothing changed.
    bool rescale(double threshold, const RowFacts& facts);
    /// False where weights are so large or so small that bytes cannot hold their bounds.
    bool usable() const noexcept { return sums_.back() == 0 || std::isnormal(scale_); }
    const ColumnBounds& column_bounds(const BoundedTerm& term) const noexcept {
        return column_bounds_[term.column];
    }
    const ByteTables& tables(const BoundedTerm& term) const noexcept { return tables_[term.table]; }
    std::span<const std::uint32_t> run_rows() const noexcept { return run_rows_; }
    std::span<const std::uint8_t> run_tfs() const noexcept {
        return run_tfs_;
    }  // kMostRunTf: or more
    /// The bounds of each as bytes.
    std::span<const std::uint8_t> run_bytes() const noexcept { return run_bytes_; }
    /// The same with every byte 1: sums then say how many of the terms a row holds.
    QueryBounds counting() const;
    /// Bounds of a term's saturated frequency, by RowCode.
    std::array<float, kRowCodes> saturations(const BoundedTerm& term) const noexcept;
    /// Rows of all lists except columns.
    std::uint64_t list_rows() const noexcept { return list_rows_; }

private:
    void make_norms(const IndexHeader& header, const RowScorer& scorer);
    double saturation_bound(double tf, std::uint32_t length_class) const noexcept;
    Result<> add_term(const IndexReader& reader, const RowScorer& scorer, const FoundTerm& found);
    void make_bytes(const RowFacts& facts);
    void read_run(BoundedTerm& term, const IndexReader& reader, const RowFacts& facts);
    void make_tables(BoundedTerm& term, const RowFacts& facts);
    void make_column_bounds(BoundedTerm& term);

    Bm25 bm25_;
    double factor_ = 1;                          // Okapi multiplies saturations by it
    std::array<float, kLengthClasses> norms_{};  // smallest per class and those after it
    std::vector<BoundedTerm> terms_;
    std::vector<ByteTables> tables_;
    std::vector<ColumnBounds> column_bounds_;
    std::vector<double> sums_;
    double scale_ = 0;
    bool saturates_ = false;
    std::vector<std::uint32_t> run_rows_;
    std::vector<std::uint8_t> run_tfs_;
    std::vector<std::uint8_t> run_bytes_;
    std::uint64_t list_rows_ = 0;
};

}  // namespace braid::sparse
