#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "braid/kernels/byte_kernels.hpp"
#include "braid/sparse/query_bounds.hpp"
#include "braid/sparse/top_rows.hpp"

namespace braid::sparse {

/// Room for the accumulators and candidates of one window. One search at a time.
struct WindowScratch {
    alignas(64) std::array<std::uint8_t, kWindowRows> sums;
    std::array<std::uint16_t, kWindowRows> candidates;
};

/// Finds the rows that can reach a threshold, window by window: bytes that bound what each term
/// adds are summed per row, frequent terms are left for those few that may still win, and rows
/// whose bound reaches the threshold are scored exactly.
class WindowSearch {
public:
    /// The scorers are those of all queries, `query` the one whose bounds these are.
    WindowSearch(const IndexReader& reader, std::span<RowScorer> scorers, std::size_t query,
                 const QueryBounds& bounds, std::span<const std::uint64_t> allowed,
                 WindowScratch& scratch)
        : reader_(reader),
          scorers_(scorers),
          query_(query),
          bounds_(bounds),
          allowed_(allowed),
          scratch_(scratch),
          kernels_(kernels::byte_kernels()) {
        for (std::size_t i = 0; i < bounds.terms().size(); ++i) {
            if (bounds.terms()[i].list.form == ListView::Form::Column) columns_.push_back(i);
        }
    }

    /// Offers every allowed row that scores at least the sink's threshold, and whose best query
    /// this is. Other rows may be offered too.
    Result<> run(RowSink& sink);

    /// A score that at least k allowed rows reach, from the rows of one window; 0 if it has none.
    Result<double> sample_threshold(std::size_t k, std::optional<ScoredRow> after);

    /// Adds every term to the sums of a window, which are cleared first if `clear` says so.
    void add_all(std::uint32_t number, bool clear) noexcept;
    /// The allowed rows of a window that have a sum.
    std::size_t count_any(std::uint32_t number) const noexcept { return count(window(number), 1); }

    /// How many rows were found to score more than 0.
    std::uint64_t matched() const noexcept { return matched_; }

private:
    struct Window {
        std::uint32_t number;
        std::uint32_t base;  // its first row
        std::size_t padded;  // accumulators: rows, up to a multiple of 64
        const std::uint64_t* mask;
    };
    struct Candidate {
        double bound;
        std::uint32_t row;
    };
    Window window(std::uint32_t number) const noexcept;
    std::uint64_t entries_in(const BoundedTerm& term, const Window& window) const noexcept;
    void add(const BoundedTerm& term, const Window& window) noexcept;
    std::size_t count(const Window& window, int cut) const noexcept;
    std::size_t collect(const Window& window, int cut) noexcept;
    /// The smallest sum that may belong to a row of at least `threshold`, when `rest` was not
    /// added.
    int cut_for(double threshold, double rest) const noexcept;
    Result<> search_window(const Window& window, std::size_t skipped, RowSink& sink);
    /// Of the candidates found, those whose refined bound reaches the threshold.
    Result<> keep_candidates(const Window& window, std::size_t count, std::size_t skipped,
                             RowSink& sink);
    /// Scores them, best bound first, as long as they can reach the threshold.
    Result<> score_pending(RowSink& sink);
    double refined(std::uint32_t row, std::uint8_t sum, std::size_t skipped) const noexcept;
    void prefetch_columns(std::uint32_t row) const noexcept;
    Result<> score_row(std::uint32_t row, RowSink& sink);

    const IndexReader& reader_;
    std::span<RowScorer> scorers_;
    std::size_t query_;
    const QueryBounds& bounds_;
    std::span<const std::uint64_t> allowed_;
    WindowScratch& scratch_;
    const kernels::ByteKernels& kernels_;
    std::vector<std::size_t> columns_;  // those of the terms that are
    std::vector<Candidate> pending_;
    std::uint64_t matched_ = 0;
};

}  // namespace braid::sparse
