#include "braid/sparse/search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "braid/sparse/window_search.hpp"

namespace braid::sparse {
namespace {

Result<> check_allowed(const IndexReader& reader, std::span<const std::uint64_t> allowed) {
    const std::size_t words = (static_cast<std::size_t>(reader.rows()) + 63) / 64;
    if (allowed.empty() || allowed.size() >= words) return {};
    return invalid_argument("search: " + std::to_string(allowed.size()) +
                            " words of allowed rows, " + std::to_string(words) + " are needed");
}

Result<std::vector<RowScorer>> make_scorers(const IndexReader& reader,
                                            std::span<const Query> queries) {
    std::vector<RowScorer> scorers;
    scorers.reserve(queries.size());
    for (const Query& query : queries) {
        BRAID_TRY(scorers.emplace_back(), RowScorer::create(reader, query));
    }
    return scorers;
}

Result<double> best_score(std::span<RowScorer> scorers, std::uint32_t row) {
    double best = 0;
    for (RowScorer& scorer : scorers) {
        BRAID_TRY(const double score, scorer.score(row));
        best = std::max(best, score);
    }
    return best;
}

std::uint64_t count_allowed(const IndexReader& reader, std::span<const std::uint64_t> allowed) {
    if (allowed.empty()) return reader.rows();
    std::uint64_t count = 0;
    for (const std::uint64_t word : allowed) count += static_cast<unsigned>(std::popcount(word));
    return count;
}

/// Scores every allowed row: what is cheapest when few are, and the last resort for queries of
/// very many terms.
Result<std::uint64_t> score_allowed(const IndexReader& reader, std::span<RowScorer> scorers,
                                    std::span<const std::uint64_t> allowed, RowSink& sink) {
    std::uint64_t matched = 0;
    const auto offer = [&](std::uint32_t row) -> Result<> {
        BRAID_TRY(const double best, best_score(scorers, row));
        if (!(best > 0)) return {};
        ++matched;
        sink.offer({row, best});
        return {};
    };
    for (std::uint32_t base = 0; base < reader.rows(); base += 64) {
        std::uint64_t word = allowed.empty() ? ~std::uint64_t{0} : allowed[base / 64];
        for (; word != 0; word &= word - 1) {
            const std::uint32_t row = base + static_cast<std::uint32_t>(std::countr_zero(word));
            if (row >= reader.rows()) break;
            BRAID_CHECK(offer(row));
        }
    }
    return matched;
}

/// Counts the rows that score more than 0.
class MatchCounter final : public RowSink {
public:
    double threshold() const noexcept override { return 0; }
    void offer(ScoredRow row) override { count_ += row.score > 0 ? 1 : 0; }
    std::uint64_t count() const noexcept { return count_; }

private:
    std::uint64_t count_ = 0;
};

/// Products and quotients of such numbers are not rounded to 0.
constexpr double kModerate = 1e9;
constexpr bool moderate(double value) noexcept {
    return value > 1 / kModerate && value < kModerate;
}

/// One search over all queries.
class Searcher {
public:
    Searcher(const IndexReader& reader, std::vector<RowScorer> scorers,
             std::span<const std::uint64_t> allowed)
        : reader_(reader), scorers_(std::move(scorers)), allowed_(allowed) {}

    /// Makes the bounds of every query; afterwards the plan is known.
    Result<> prepare() {
        for (const RowScorer& scorer : scorers_) {
            if (scorer.terms().size() > kMostBoundedTerms) {
                direct_ = true;
                return {};
            }
            BRAID_TRY(bounds_.emplace_back(), QueryBounds::create(reader_, scorer));
            if (!bounds_.back().usable()) direct_ = true;
        }
        if (direct_ || allowed_.empty()) return {};
        // A row that is scored outright costs about as much as 64 postings.
        std::uint64_t work = 0;
        for (const QueryBounds& bounds : bounds_) {
            work += bounds.list_rows() + std::uint64_t{1024} * reader_.header().windows();
        }
        direct_ = count_allowed(reader_, allowed_) * 64 * scorers_.size() < work;
        return {};
    }

    /// All rows that can reach the sink's threshold. With a sample, `raise` is told what at least
    /// k rows score before they are looked for.
    template <class Raise>
    Result<> run(RowSink& sink, const Raise& raise) {
        if (direct_) {
            BRAID_TRY(matched_, score_allowed(reader_, scorers_, allowed_, sink));
            complete_ = true;
            return {};
        }
        if (!scratch_) scratch_ = std::make_unique_for_overwrite<WindowScratch>();
        matched_ = 0;
        for (std::size_t query = 0; query < scorers_.size(); ++query) {
            WindowSearch windows(reader_, scorers_, query, bounds_[query], allowed_, *scratch_);
            BRAID_CHECK(raise(windows));
            BRAID_CHECK(windows.run(sink));
            matched_ += windows.matched();
        }
        return {};
    }

    /// Rows that score more than 0. Where every term raises scores those that hold one are counted,
    /// otherwise they are scored.
    Result<std::uint64_t> count_matches() {
        std::size_t terms = 0;
        bool simple = !direct_;
        for (const RowScorer& scorer : scorers_) {
            terms += scorer.terms().size();
            for (const FoundTerm& term : scorer.terms()) simple = simple && moderate(term.weight);
            for (const double weight : scorer.field_weights()) simple = simple && moderate(weight);
            const double average = scorer.average_length();
            simple = simple && scorer.bm25().k1 < kModerate && (average == 0 || moderate(average));
        }
        constexpr std::size_t kMost = 255;  // in a byte
        if (!simple || terms > kMost) {
            MatchCounter counter;
            BRAID_CHECK(run(counter, [](WindowSearch&) { return Result<>(); }));
            return counter.count();
        }
        scratch_ = std::make_unique_for_overwrite<WindowScratch>();
        std::vector<QueryBounds> ones;
        std::vector<WindowSearch> windows;
        ones.reserve(scorers_.size());
        for (std::size_t query = 0; query < scorers_.size(); ++query) {
            ones.push_back(bounds_[query].counting());
            windows.emplace_back(reader_, scorers_, query, ones.back(), allowed_, *scratch_);
        }
        std::uint64_t count = 0;
        for (std::uint32_t w = 0; w < reader_.header().windows() && !windows.empty(); ++w) {
            for (auto& search : windows) search.add_all(w, &search == windows.data());
            count += windows.front().count_any(w);
        }
        return count;
    }

    std::uint64_t matched() const noexcept { return matched_; }
    bool complete() const noexcept { return complete_; }
    std::span<RowScorer> scorers() noexcept { return scorers_; }

private:
    const IndexReader& reader_;
    std::vector<RowScorer> scorers_;
    std::span<const std::uint64_t> allowed_;
    std::vector<QueryBounds> bounds_;
    std::unique_ptr<WindowScratch> scratch_;
    bool direct_ = false;
    bool complete_ = false;
    std::uint64_t matched_ = 0;
};

/// Keeps the best rows; the threshold can be raised from outside.
class RaisedTop final : public RowSink {
public:
    RaisedTop(const SearchOptions& options)  // NOLINT(google-explicit-constructor): local
        : top_(options.k, options.threshold, options.after), least_(options.threshold) {}

    double threshold() const noexcept override { return std::max(least_, top_.threshold()); }
    void offer(ScoredRow row) override {
        if (row.score >= least_) top_.offer(row);
    }
    void raise(double threshold) noexcept { least_ = std::max(least_, threshold); }
    bool full() const noexcept { return top_.full(); }
    std::vector<ScoredRow> take() && { return std::move(top_).take(); }

private:
    TopRows top_;
    double least_;
};

/// Counts the rows that are better than some others.
class RankCounter final : public RowSink {
public:
    explicit RankCounter(std::vector<ScoredRow> of) : of_(std::move(of)), better_(of_.size(), 0) {
        for (const ScoredRow& row : of_) least_ = std::min(least_, row.score);
    }

    double threshold() const noexcept override { return least_; }
    void offer(ScoredRow row) override {
        for (std::size_t i = 0; i < of_.size(); ++i) better_[i] += better(row, of_[i]) ? 1 : 0;
    }
    std::uint64_t rank(std::size_t i) const noexcept { return better_[i] + 1; }

private:
    std::vector<ScoredRow> of_;
    std::vector<std::uint64_t> better_;
    double least_ = std::numeric_limits<double>::infinity();
};

/// How good a row of the sample is likely to be a bit worse than the k-th best of all `windows`.
std::size_t guessed_rank(std::size_t k, std::uint32_t windows) {
    const double share = static_cast<double>(k) / std::max(1U, windows);
    return std::min(k, static_cast<std::size_t>(share + 2 * std::sqrt(share) + 2));
}

/// A guess of the k-th best score spares most candidates. If k rows reach it, they are the best;
/// otherwise the search starts again from a score that k rows are known to reach.
Result<std::vector<ScoredRow>> best_rows(Searcher& searcher, const SearchOptions& options,
                                         std::uint32_t windows) {
    for (std::size_t rank = guessed_rank(options.k, windows);; rank = options.k) {
        RaisedTop top(options);
        bool guessed = false;
        BRAID_CHECK(searcher.run(top, [&](WindowSearch& window_search) -> Result<> {
            if (top.threshold() > 0) return {};
            BRAID_TRY(const double sampled, window_search.sample_threshold(rank, options.after));
            guessed = guessed || (rank < options.k && sampled > 0);
            top.raise(sampled);
            return {};
        }));
        if (!guessed || top.full()) return std::move(top).take();
    }
}

constexpr auto kNoSample = [](WindowSearch&) { return Result<>(); };

}  // namespace

Result<SearchResult> search(const IndexReader& reader, std::span<const Query> queries,
                            const SearchOptions& options) {
    BRAID_CHECK(check_allowed(reader, options.allowed));
    BRAID_TRY(auto scorers, make_scorers(reader, queries));
    Searcher searcher(reader, std::move(scorers), options.allowed);
    BRAID_CHECK(searcher.prepare());
    SearchResult result;
    if (options.count_all) {
        BRAID_TRY(const std::uint64_t count, searcher.count_matches());
        result.matched = {count, true};
    }
    if (options.k > 0) {
        BRAID_TRY(result.rows, best_rows(searcher, options, reader.header().windows()));
    }
    if (!options.count_all) result.matched = {searcher.matched(), searcher.complete()};
    BRAID_CHECK(reader.intact());
    return result;
}

Result<std::vector<double>> score(const IndexReader& reader, std::span<const Query> queries,
                                  std::span<const std::uint32_t> rows) {
    BRAID_TRY(auto scorers, make_scorers(reader, queries));
    std::vector<double> scores;
    for (const std::uint32_t row : rows) {
        if (row >= reader.rows()) {
            return invalid_argument("score: there is no row " + std::to_string(row));
        }
        BRAID_TRY(scores.emplace_back(), best_score(scorers, row));
    }
    BRAID_CHECK(reader.intact());
    return scores;
}

Result<std::vector<std::uint64_t>> rank_of(const IndexReader& reader,
                                           std::span<const Query> queries,
                                           std::span<const std::uint32_t> rows,
                                           std::span<const std::uint64_t> allowed) {
    BRAID_CHECK(check_allowed(reader, allowed));
    BRAID_TRY(const std::vector<double> scores, score(reader, queries, rows));
    std::vector<ScoredRow> hits;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool may = allowed.empty() || (allowed[rows[i] / 64] >> (rows[i] % 64) & 1) != 0;
        if (may && scores[i] > 0) hits.push_back({rows[i], scores[i]});
    }
    std::vector<std::uint64_t> ranks(rows.size(), 0);
    if (hits.empty()) return ranks;
    RankCounter counter(hits);
    BRAID_TRY(auto scorers, make_scorers(reader, queries));
    Searcher searcher(reader, std::move(scorers), allowed);
    BRAID_CHECK(searcher.prepare());
    BRAID_CHECK(searcher.run(counter, kNoSample));
    BRAID_CHECK(reader.intact());
    std::size_t hit = 0;
    for (std::size_t i = 0; i < rows.size() && hit < hits.size(); ++i) {
        if (hits[hit].row == rows[i]) ranks[i] = counter.rank(hit++);
    }
    return ranks;
}

}  // namespace braid::sparse
