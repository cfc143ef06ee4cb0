#include "braid/sparse/direct_scoring.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace braid::sparse {

Result<double> best_score(std::span<RowScorer> scorers, std::uint32_t row) {
    std::optional<double> best;
    for (RowScorer& scorer : scorers) {
        BRAID_TRY(const double score, scorer.score(row));
        best = std::max(best.value_or(score), score);
    }
    return best.value_or(0);
}

Result<std::uint64_t> score_allowed(const IndexReader& reader, std::span<RowScorer> scorers,
                                    std::span<const std::uint64_t> allowed, RowSink& sink) {
    constexpr std::size_t kAhead = 8;  // rows whose terms are on the way
    std::uint64_t matched = 0;
    std::array<std::uint32_t, 64 + 2 * kAhead> rows;  // NOLINT: written before it is read
    std::size_t waiting = 0;
    const auto score_first = [&](std::size_t count) -> Result<> {
        for (std::size_t i = 0; i < count; ++i) {
            for (RowScorer& scorer : scorers) {
                if (i + kAhead < waiting) scorer.facts().prefetch(rows[i + kAhead]);
                if (i + 2 * kAhead < waiting) scorer.facts().prefetch_offset(rows[i + 2 * kAhead]);
            }
            BRAID_TRY(const double best, best_score(scorers, rows[i]));
            if (!(best > 0)) continue;
            ++matched;
            sink.offer({rows[i], best});
        }
        std::copy(rows.begin() + count, rows.begin() + waiting, rows.begin());
        waiting -= count;
        return {};
    };
    for (std::uint32_t base = 0; base < reader.rows(); base += 64) {
        std::uint64_t word = allowed.empty() ? ~std::uint64_t{0} : allowed[base / 64];
        for (; word != 0; word &= word - 1) {
            const std::uint32_t row = base + static_cast<std::uint32_t>(std::countr_zero(word));
            if (row < reader.rows()) rows[waiting++] = row;
        }
        if (waiting > 2 * kAhead) BRAID_CHECK(score_first(waiting - 2 * kAhead));
    }
    BRAID_CHECK(score_first(waiting));
    return matched;
}

Result<std::uint64_t> score_everything(const IndexReader& reader, std::span<RowScorer> scorers,
                                       std::span<const std::uint64_t> allowed, RowSink& sink) {
    std::vector<double> best(reader.rows(), 0.0);
    for (const RowScorer& scorer : scorers) {
        BRAID_TRY(const std::vector<double> scores, score_all(reader, scorer));
        std::ranges::transform(best, scores, best.begin(), std::ranges::max);
    }
    std::uint64_t matched = 0;
    for (std::uint32_t row = 0; row < reader.rows(); ++row) {
        const bool may = allowed.empty() || (allowed[row / 64] >> (row % 64) & 1) != 0;
        if (!may || !(best[row] > 0)) continue;
        ++matched;
        sink.offer({row, best[row]});
    }
    return matched;
}

}  // namespace braid::sparse
