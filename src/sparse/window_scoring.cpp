// The rows that a window keeps, and their exact scores.
#include <algorithm>
#include <array>

#include "braid/sparse/window_search.hpp"

namespace braid::sparse {

void WindowSearch::refine_kept(const WindowSpan& window, double threshold) {
    std::vector<Candidate>& kept = scratch_.pending;
    const RowScorer& scorer = scorers_[query_];
    const Bm25& bm25 = scorer.bm25();
    scratch_.norms.resize(kept.size() + 1);
    scratch_.refined.assign(kept.size() + 1, 0.0);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        scratch_.places[kept[i].row - window.base] = static_cast<std::uint16_t>(i + 1);
        scratch_.norms[i + 1] =
            length_norm(bm25, scorer.weighted_length(kept[i].row), scorer.average_length());
    }
    for (std::size_t number = 0; number < bounds_.terms().size(); ++number) {
        const BoundedTerm& term = bounds_.terms()[number];
        // `most`: the tf that means "or more" in a list.
        const auto add = [&](std::size_t place, std::uint32_t tf, std::uint32_t most) {
            const double weighted = term.tf_weight * (tf < most ? tf : term.list.header.max_tf);
            scratch_.refined[place] +=
                term.weight * saturation(bm25, weighted, scratch_.norms[place]);
        };
        if (term.list.form == ListView::Form::Column) {
            for (std::size_t i = 0; i < kept.size(); ++i) {
                const std::uint32_t tf = term.list.nibble(kept[i].row);
                if (tf > 0) add(i + 1, tf, kTopNibble);
            }
        } else if (term.list.form != ListView::Form::Rows) {
            for (std::uint32_t i = scratch_.runs[number].begin; i < scratch_.runs[number].end;
                 ++i) {
                const std::size_t place = scratch_.places[bounds_.run_rows()[i] - window.base];
                if (place > 0) add(place, bounds_.run_tfs()[i], kMostRunTf);
            }
        } else if (kept.size() * ListScorer::kFindCost < term.list.count_in(window.number)) {
            for (std::size_t i = 0; i < kept.size(); ++i) {
                const std::uint32_t tf = term.list.tf_in(window.number, kept[i].row - window.base);
                if (tf > 0) add(i + 1, tf, kMostRunTf);
            }
        } else {
            term.list.each_in(window.number, [&](std::uint32_t local, RowCode code) {
                const std::size_t place = scratch_.places[local];
                if (place > 0 && code.tf() > 0) add(place, code.tf(), kTopTf);
            });
        }
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        scratch_.places[kept[i].row - window.base] = 0;
        const double bound = scratch_.refined[i + 1] * kInflate;
        if (bound >= threshold) kept[left++] = {bound, kept[i].row};
    }
    kept.resize(left);
}

Result<> WindowSearch::score_kept(const WindowSpan& window, RowSink& sink) {
    if (!by_lists_ && scratch_.pending.size() >= kWorthRefining) {
        refine_kept(window, sink.threshold());
    }
    const std::span kept = scratch_.pending;
    if (!by_lists_ || kept.size() < kManyRows) return score_best_first(sink);
    std::array<std::uint32_t, ListScorer::kMostSlots> rows;  // NOLINT: written before it is read
    for (std::size_t next = 0; next < kept.size();) {
        std::size_t size = 0;
        for (; next < kept.size() && size < rows.size(); ++next) {
            if (kept[next].bound >= sink.threshold()) rows[size++] = kept[next].row;
        }
        BRAID_CHECK(score_rows(window, std::span(rows).first(size), sink));
    }
    return {};
}

Result<> WindowSearch::score_best_first(RowSink& sink) {
    constexpr auto kBetter = [](const Candidate& a, const Candidate& b) {
        return a.bound != b.bound ? a.bound > b.bound : a.row < b.row;
    };
    constexpr std::size_t kAhead = 4;  // rows whose terms are on the way
    const RowFacts& facts = scorers_[query_].facts();
    const std::span kept = scratch_.pending;
    const bool own = !finds_;
    for (const Candidate& one : kept) {
        if (own) facts.prefetch_offset(one.row);
    }
    std::ranges::sort(kept, kBetter);
    for (std::size_t i = 0; own && i < std::min(kAhead, kept.size()); ++i) {
        facts.prefetch(kept[i].row);
    }
    for (std::size_t i = 0; i < kept.size() && kept[i].bound >= sink.threshold(); ++i) {
        if (own && i + kAhead < kept.size()) facts.prefetch(kept[i + kAhead].row);
        BRAID_CHECK(score_row(kept[i].row, sink));
    }
    return {};
}

Result<> WindowSearch::score_row(std::uint32_t row, RowSink& sink) {
    if (finds_) {
        BRAID_TRY(const double score, lists_.score(row, sink.threshold()));
        offer({row, score}, sink);
        return {};
    }
    BRAID_TRY(const double own, scorers_[query_].score(row));
    if (!(own > 0)) return {};
    for (std::size_t other = 0; other < scorers_.size(); ++other) {
        if (other == query_) continue;
        BRAID_TRY(const double score, scorers_[other].score(row));
        // Offered when the best-scoring query's turn comes; the first one wins ties.
        if (score > own || (score == own && other < query_)) return {};
    }
    offer({row, own}, sink);
    return {};
}

Result<> WindowSearch::score_rows(const WindowSpan& window, std::span<const std::uint32_t> rows,
                                  RowSink& sink) {
    std::array<double, ListScorer::kMostSlots> scores;  // NOLINT: written before it is read
    BRAID_CHECK(lists_.score_all(window, rows, sink.threshold(), scratch_, scores.data()));
    for (std::size_t i = 0; i < rows.size(); ++i) offer({rows[i], scores[i]}, sink);
    return {};
}

}  // namespace braid::sparse
