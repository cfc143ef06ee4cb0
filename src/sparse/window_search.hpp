#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "braid/kernels/byte_kernels.hpp"
#include "braid/sparse/list_scorer.hpp"
#include "braid/sparse/top_rows.hpp"
#include "braid/sparse/window_scratch.hpp"

namespace braid::sparse {

/// Finds the rows that can reach a threshold, window by window: bytes that bound what each term
/// adds are summed per row; frequent terms are added only for the few rows that may still win; and
/// rows whose bound reaches the threshold are scored exactly.
class WindowSearch {
public:
    /// `scorers` are those of all queries, `query` is the one whose bounds these are.
    WindowSearch(const IndexReader& reader, std::span<RowScorer> scorers, std::size_t query,
                 const QueryBounds& bounds, std::span<const std::uint64_t> allowed,
                 WindowScratch& scratch);

    /// Offers every allowed row that scores at least the sink's threshold and whose best query is
    /// this one. Other rows may be offered too.
    Result<> run(RowSink& sink);

    /// A score that at least k allowed rows reach, from the rows of one window; 0 if there is none.
    /// If called at all, then right before run().
    Result<double> sample_threshold(std::size_t k, std::optional<ScoredRow> after);

    /// After the bounds have changed.
    void forget_sample() noexcept { sampled_ = false; }

    /// Adds every term to the sums of a window, clearing them first if `clear` is set.
    void add_all(std::uint32_t number, bool clear) noexcept;
    /// The allowed rows of a window that have a sum.
    std::size_t count_any(std::uint32_t number) const noexcept { return count(window(number), 1); }

    /// How many rows were found to score more than 0.
    std::uint64_t matched() const noexcept { return matched_; }

private:
    /// From this many rows of a window on, walking its lists is cheaper than finding each row in
    /// them.
    static constexpr std::size_t kManyRows = 4;
    /// From this many on, bounding them again is cheaper than reading the terms of each.
    static constexpr std::size_t kWorthRefining = 16;

    WindowSpan window(std::uint32_t number) const noexcept;
    void enter(const WindowSpan& window) noexcept;
    bool any_allowed(const WindowSpan& window) const noexcept;
    std::uint64_t entries_in(std::size_t term, const WindowSpan& window) const noexcept;
    void add(std::size_t term, const WindowSpan& window) noexcept;
    template <class Use>
    void each_byte(std::size_t term, const WindowSpan& window, const Use& use) const noexcept;
    std::size_t add_touching(std::size_t term, const WindowSpan& window,
                             std::size_t touched) noexcept;
    std::size_t add_only(std::size_t term, const WindowSpan& window, int cut) noexcept;
    void add_to_touched(std::size_t term, const WindowSpan& window) noexcept;
    std::size_t count(const WindowSpan& window, int cut) const noexcept;
    /// Finds candidates; gives up soon after `most`.
    std::size_t collect(const WindowSpan& window, int cut, std::size_t most) noexcept;
    /// The smallest sum that a row of at least `threshold` may have when `rest` was not added.
    int cut_for(double threshold, double rest) const noexcept;
    Result<> search_window(const WindowSpan& window, std::size_t skipped, RowSink& sink);
    /// The first window, from the sums that the sample made.
    Result<> search_sampled(const WindowSpan& window, RowSink& sink);
    /// Through the few entries of the terms from `skipped` on, without looking at all rows.
    void search_entries(const WindowSpan& window, std::size_t skipped, double threshold);
    std::size_t filter(const WindowSpan& window, std::span<const std::uint16_t> rows,
                       int cut) noexcept;
    /// Through the sums of all rows, to which the terms from `skipped` on were added.
    void search_sums(const WindowSpan& window, std::size_t skipped, double threshold);
    /// Add the skipped terms that are columns, and the lists that leave sufficiently fewer
    /// candidates. Return what the others may add.
    double add_columns(const WindowSpan& window, std::size_t skipped, double rest) noexcept;
    double add_lists(const WindowSpan& window, std::size_t skipped, double threshold,
                     double rest) noexcept;
    /// Of the candidates found, those whose refined bound reaches the threshold.
    void keep_candidates(const WindowSpan& window, std::size_t count, double threshold);
    /// Bounds what was kept again, by the rows' own lengths and without rounding to bytes, and
    /// drops what no longer reaches the threshold.
    void refine_kept(const WindowSpan& window, double threshold);
    /// Scores what was kept.
    Result<> score_kept(const WindowSpan& window, RowSink& sink);
    /// One by one, as long as they can reach the threshold.
    Result<> score_best_first(RowSink& sink);
    Result<> score_row(std::uint32_t row, RowSink& sink);
    Result<> score_rows(const WindowSpan& window, std::span<const std::uint32_t> rows,
                        RowSink& sink);
    void offer(ScoredRow row, RowSink& sink) {
        if (!(row.score > 0)) return;
        ++matched_;
        sink.offer(row);
    }

    const IndexReader& reader_;
    std::span<RowScorer> scorers_;
    std::size_t query_;
    const QueryBounds& bounds_;
    std::span<const std::uint64_t> allowed_;
    WindowScratch& scratch_;
    const kernels::ByteKernels& kernels_;
    ListScorer lists_;
    bool by_lists_;                     // one query, and lists say enough
    bool finds_;                        // and single rows are found fast
    std::vector<std::size_t> columns_;  // those of the terms that are
    bool sampled_ = false;              // the sums are of all terms, in the first window
    std::uint64_t matched_ = 0;
};

}  // namespace braid::sparse
