#include "braid/sparse/list_scorer.hpp"

#include <algorithm>

namespace braid::sparse {
namespace {

/// With more terms than this, reading a row's own list is faster than finding the row in theirs.
constexpr std::size_t kFewTerms = 16;

}  // namespace

ListScorer::ListScorer(RowScorer& scorer, const QueryBounds& bounds) noexcept
    : scorer_(&scorer), bounds_(&bounds) {
    const auto found = scorer.terms();
    const auto terms = bounds.terms();
    if (found.size() != terms.size() || found.size() > kMostTerms) return;
    for (const double weight : scorer.field_weights()) {
        if (weight != 1.0) return;
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        for (std::size_t place = 0; place < terms.size(); ++place) {
            if (terms[place].list.entry.id == found[i].entry.id) {
                order_[i] = static_cast<std::uint8_t>(place);
            }
        }
    }
    usable_ = true;
    finds_fast_ = terms.size() <= kFewTerms;
}

double ListScorer::length_norm_of(std::uint32_t row) const noexcept {
    // All weights are 1: gives the same number as RowScorer.
    const auto length = static_cast<double>(scorer_->facts().total_length(row));
    return length_norm(scorer_->bm25(), length, scorer_->average_length());
}

double ListScorer::sum(std::size_t terms,
                       const std::array<double, kMostTerms>& parts) const noexcept {
    double score = 0;
    for (std::size_t i = 0; i < terms; ++i) score += parts[order_[i]];
    return score;
}

std::uint32_t ListScorer::tf_of(const BoundedTerm& term, std::uint32_t row) const noexcept {
    if (term.list.form == ListView::Form::Column) {
        const std::uint32_t tf = term.list.tf_in_column(row);
        return tf == kMostRunTf ? kMore : tf;
    }
    if (term.list.form == ListView::Form::Rows) {
        const std::uint32_t tf = term.list.tf_in(row / kWindowRows, row % kWindowRows);
        return tf == kMostRunTf ? kMore : tf;
    }
    const auto rows = bounds_->run_rows().subspan(term.run_begin, term.run_end - term.run_begin);
    const auto found = std::ranges::lower_bound(rows, row);
    if (found == rows.end() || *found != row) return 0;
    const auto tf =
        bounds_->run_tfs()[term.run_begin + static_cast<std::size_t>(found - rows.begin())];
    return tf == kMostRunTf ? kMore : tf;
}

Result<double> ListScorer::score(std::uint32_t row, double least) {
    const auto terms = bounds_->terms();
    const double norm = length_norm_of(row);
    std::array<double, kMostTerms> parts;  // NOLINT: each is written before it is read
    double most = 0;
    double unsure = 0;  // what terms may add that the row has more often than the lists say
    for (std::size_t i = terms.size(); i-- > 0;) {
        const std::uint32_t tf = tf_of(terms[i], row);
        unsure += tf == kMore ? terms[i].bound : 0.0;
        parts[i] =
            tf == 0 || tf == kMore
                ? 0.0
                : terms[i].weight * saturation(scorer_->bm25(), static_cast<double>(tf), norm);
        most += parts[i];
        if (most * kInflate + unsure + bounds_->sum_of_first(i) < least) return 0.0;
    }
    if (unsure > 0) return scorer_->score(row);
    return sum(terms.size(), parts);
}

Result<> ListScorer::score_all(const WindowSpan& window, std::span<const std::uint32_t> rows,
                               double least, WindowScratch& scratch, double* scores) {
    const auto terms = bounds_->terms();
    std::uint8_t* slots = scratch.slots.data();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        slots[rows[i] - window.base] = static_cast<std::uint8_t>(i + 1);
        scorer_->facts().prefetch_lengths(rows[i]);
    }
    // Rows that were not asked for write to slot 0.
    for (std::size_t t = 0; t < terms.size(); ++t) {
        const ListView& list = terms[t].list;
        std::uint8_t* tfs = scratch.tfs.data() + 256 * t;
        std::memset(tfs, 0, 256);
        if (list.form == ListView::Form::Column) continue;
        if (list.form == ListView::Form::Single || list.form == ListView::Form::Run) {
            for (std::uint32_t i = scratch.runs[t].begin; i < scratch.runs[t].end; ++i) {
                tfs[slots[bounds_->run_rows()[i] - window.base]] = bounds_->run_tfs()[i];
            }
            continue;
        }
        if (rows.size() * kFindCost < list.count_in(window.number)) {
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const std::uint32_t tf = list.tf_in(window.number, rows[i] - window.base);
                tfs[i + 1] = static_cast<std::uint8_t>(tf);
            }
            continue;
        }
        list.each_in(window.number, [=](std::uint32_t local, RowCode code) {
            tfs[slots[local]] = static_cast<std::uint8_t>(code.tf());
        });
    }
    for (const std::uint32_t row : rows) slots[row - window.base] = 0;
    std::array<double, kMostTerms> parts;  // NOLINT: each is written before it is read
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double norm = length_norm_of(rows[i]);
        double unsure = 0;  // what terms may add that the row has more often than the lists say
        double most = 0;
        for (std::size_t t = 0; t < terms.size(); ++t) {
            const ListView::Form form = terms[t].list.form;
            std::uint32_t tf = scratch.tfs[256 * t + i + 1];
            const bool often = form == ListView::Form::Rows && tf == kTopTf;
            if (form == ListView::Form::Column || often) {
                tf = tf_of(terms[t], rows[i]);
            } else if (tf == kMostRunTf) {
                tf = kMore;
            }
            if (tf == kMore) unsure += terms[t].bound;
            parts[t] =
                tf == 0 || tf == kMore
                    ? 0.0
                    : terms[t].weight * saturation(scorer_->bm25(), static_cast<double>(tf), norm);
            most += parts[t];
        }
        if (unsure == 0) {
            scores[i] = sum(terms.size(), parts);
        } else if (most * kInflate + unsure < least) {
            scores[i] = 0;
        } else {
            BRAID_TRY(scores[i], scorer_->score(rows[i]));
        }
    }
    return {};
}

}  // namespace braid::sparse
