#include "braid/sparse/search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "braid/sparse/direct_scoring.hpp"
#include "braid/sparse/window_search.hpp"

namespace braid::sparse {
namespace {

Result<> check_allowed(const IndexReader& reader, std::span<const std::uint64_t> allowed) {
    const std::size_t words = (static_cast<std::size_t>(reader.rows()) + 63) / 64;
    if (allowed.empty() || allowed.size() >= words) return {};
    return invalid_argument("search: " + std::to_string(allowed.size()) +
                            " words of allowed rows, " + std::to_string(words) + " are required");
}

Result<std::vector<RowScorer>> make_scorers(
    const IndexReader& reader, std::span<const Query> queries,
    std::span<const std::optional<TermEntry>> entries = {}) {
    std::vector<RowScorer> scorers;
    scorers.reserve(queries.size());
    if (queries.size() > 1 && !entries.empty()) {
        return invalid_argument("search: the entries belong to another query");
    }
    for (const Query& query : queries) {
        BRAID_TRY(scorers.emplace_back(), RowScorer::create(reader, query, entries));
    }
    return scorers;
}

/// Whether no more than `most` bits are set. Stops early: a mask with many is not walked to its
/// end.
bool at_most(std::span<const std::uint64_t> allowed, std::uint64_t most) {
    std::uint64_t count = 0;
    for (std::uint64_t word : allowed) {
        for (; word != 0; word &= word - 1) {
            if (++count > most) return false;
        }
    }
    return true;
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

/// Products and quotients of such numbers do not underflow to 0.
constexpr double kModerate = 1e9;
constexpr bool moderate(double value) noexcept {
    return value > 1 / kModerate && value < kModerate;
}

/// From this threshold on, the bytes of bounds are scaled to it.
constexpr std::size_t kManyTerms = 12;

/// One search over all queries.
class Searcher {
public:
    Searcher(const IndexReader& reader, std::vector<RowScorer> scorers,
             std::span<const std::uint64_t> allowed)
        : reader_(reader), scorers_(std::move(scorers)), allowed_(allowed) {}

    /// Makes the bounds of every query; the plan is known afterwards.
    Result<> prepare() {
        for (const RowScorer& scorer : scorers_) {
            if (scorer.terms().size() > kMostBoundedTerms) return score_directly();
            BRAID_TRY(bounds_.emplace_back(), QueryBounds::create(reader_, scorer));
            if (!bounds_.back().usable()) direct_ = true;
        }
        if (direct_) return score_directly();
        if (allowed_.empty()) return {};
        // Costs of a window and of scoring a row outright, in entries added.
        constexpr std::uint64_t kWindowCost = 2500;
        std::uint64_t work = 0;
        for (const QueryBounds& bounds : bounds_) {
            work += bounds.list_rows() + kWindowCost * reader_.header().windows();
        }
        direct_ = at_most(allowed_, work / std::max<std::uint64_t>(1, row_cost()));
        return {};
    }

    /// All rows that can reach the sink's threshold. With a sample, `raise` is first told a score
    /// that at least k rows reach.
    template <class Raise>
    Result<> run(RowSink& sink, const Raise& raise) {
        if (direct_) {
            const auto score = everything_ ? score_everything : score_allowed;
            BRAID_TRY(matched_, score(reader_, scorers_, allowed_, sink));
            complete_ = true;
            return {};
        }
        matched_ = 0;
        for (std::size_t query = 0; query < scorers_.size(); ++query) {
            WindowSearch windows(reader_, scorers_, query, bounds_[query], allowed_,
                                 thread_scratch());
            const RowFacts& facts = scorers_[query].facts();
            bounds_[query].rescale(0, facts);
            BRAID_CHECK(raise(windows));
            if (scorers_[query].terms().size() >= kManyTerms &&
                bounds_[query].rescale(sink.threshold(), facts)) {
                windows.forget_sample();
            }
            BRAID_CHECK(windows.run(sink));
            matched_ += windows.matched();
        }
        return {};
    }

    /// Counts rows that score more than 0. Where every term raises the score, rows holding one are
    /// counted; otherwise they are scored.
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
        std::vector<QueryBounds> ones;
        std::vector<WindowSearch> windows;
        ones.reserve(scorers_.size());
        for (std::size_t query = 0; query < scorers_.size(); ++query) {
            ones.push_back(bounds_[query].counting());
            windows.emplace_back(reader_, scorers_, query, ones.back(), allowed_, thread_scratch());
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
    /// The cost of scoring one row outright, in entries added.
    std::uint64_t row_cost() const noexcept {
        constexpr std::uint64_t kForwardCost = 300;
        std::uint64_t cost = 0;
        for (const RowScorer& scorer : scorers_) {
            cost += reader_.header().has_forward() ? kForwardCost
                                                   : ListScorer::kFindCost * scorer.terms().size();
        }
        return cost;
    }
    /// Without bounds: row by row, or all rows list by list.
    Result<> score_directly() {
        direct_ = true;
        std::uint64_t rows = 0;
        for (const RowScorer& scorer : scorers_) {
            for (const FoundTerm& term : scorer.terms()) rows += term.entry.df;
        }
        const std::uint64_t most = rows / std::max<std::uint64_t>(1, row_cost());
        everything_ =
            !reader_.header().has_forward() && (allowed_.empty() || !at_most(allowed_, most));
        return {};
    }

    const IndexReader& reader_;
    std::vector<RowScorer> scorers_;
    std::span<const std::uint64_t> allowed_;
    std::vector<QueryBounds> bounds_;
    bool direct_ = false;
    bool everything_ = false;
    bool complete_ = false;
    std::uint64_t matched_ = 0;
};

/// A rank within a sample of this `share` of the rows whose score is most likely no better than
/// that of the k-th best of all rows.
std::size_t guessed_rank(std::size_t k, double share) {
    const double expected = static_cast<double>(k) * share;
    return std::min(k, static_cast<std::size_t>(expected + 6 * std::sqrt(expected) + 4));
}

/// Keeps the best rows; the threshold can be raised from outside, or by guesses along the way.
class RaisedTop final : public RowSink {
public:
    RaisedTop(const SearchOptions& options, bool guesses)
        : top_(options.k, options.threshold, options.after),
          least_(options.threshold),
          guesses_(guesses),
          k_(options.k) {}

    double threshold() const noexcept override { return std::max(least_, top_.threshold()); }
    void offer(ScoredRow row) override {
        if (row.score >= least_) top_.offer(row);
    }
    void progressed(std::uint32_t done, std::uint32_t all) override {
        // Guesses improve more slowly than the rows behind them grow: a new one only now and then.
        if (!guesses_ || done == all || done < next_guess_) return;
        next_guess_ = done + (done + 2) / 3;
        const std::size_t rank = guessed_rank(k_, static_cast<double>(done) / all);
        if (rank >= k_ || rank > top_.rows().size()) return;
        ranked_.clear();
        for (const ScoredRow& row : top_.rows()) ranked_.push_back(row.score);
        const auto at = ranked_.begin() + static_cast<std::ptrdiff_t>(rank - 1);
        std::ranges::nth_element(ranked_, at, std::ranges::greater{});
        raise(*at);
        guessed_ = true;
    }
    void raise(double threshold) noexcept { least_ = std::max(least_, threshold); }
    bool guessed() const noexcept { return guessed_; }
    /// Whether k rows reach the threshold, which may have been raised above some that were offered
    /// earlier.
    bool proven() { return top_.full() && (top_.rows().empty() || top_.worst() >= least_); }
    /// A score that k rows are known to reach; 0 if there are not that many.
    double worst() { return top_.full() ? top_.worst() : 0.0; }
    std::vector<ScoredRow> take() && { return std::move(top_).take(); }

private:
    TopRows top_;
    double least_;
    bool guesses_;
    bool guessed_ = false;
    std::size_t k_;
    std::uint32_t next_guess_ = 1;  // windows
    std::vector<double> ranked_;
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

/// Guessing the k-th best score saves most candidates. If k rows reach the guess, they are the
/// best; otherwise the search restarts from a score that k rows are known to reach.
Result<std::vector<ScoredRow>> best_rows(Searcher& searcher, const SearchOptions& options,
                                         std::uint32_t windows) {
    double known = 0;  // k rows reach it
    for (bool guess = windows > 1;; guess = false) {
        RaisedTop top(options, guess && searcher.scorers().size() == 1);
        top.raise(known);
        bool guessed = false;
        BRAID_CHECK(searcher.run(top, [&](WindowSearch& window_search) -> Result<> {
            if (top.threshold() > 0) return {};
            const std::size_t rank = guess ? guessed_rank(options.k, 1.0 / windows) : options.k;
            BRAID_TRY(const double sampled, window_search.sample_threshold(rank, options.after));
            guessed = guessed || (rank < options.k && sampled > 0);
            top.raise(sampled);
            return {};
        }));
        if (!(guessed || top.guessed()) || top.proven()) return std::move(top).take();
        known = top.worst();
    }
}

constexpr auto kNoSample = [](WindowSearch&) { return Result<>(); };

}  // namespace

Result<SearchResult> search(const IndexReader& reader, std::span<const Query> queries,
                            const SearchOptions& options) {
    BRAID_CHECK(check_allowed(reader, options.allowed));
    BRAID_TRY(auto scorers, make_scorers(reader, queries, options.entries));
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
    if (options.check_intact) BRAID_CHECK(reader.intact());
    return result;
}

Result<std::vector<double>> score(const IndexReader& reader, std::span<const Query> queries,
                                  std::span<const std::uint32_t> rows,
                                  std::span<const std::optional<TermEntry>> entries) {
    for (const std::uint32_t row : rows) {
        if (row >= reader.rows()) {
            return invalid_argument("score: there is no row " + std::to_string(row));
        }
    }
    BRAID_TRY(auto scorers, make_scorers(reader, queries, entries));
    constexpr std::size_t kAhead = 8;  // rows whose terms are on the way
    const auto prefetch = [&](std::size_t i) {
        if (scorers.empty()) return;
        const RowFacts& facts = scorers.front().facts();
        if (i < rows.size()) facts.prefetch(rows[i]);
        if (i + kAhead < rows.size()) facts.prefetch_offset(rows[i + kAhead]);
    };
    for (std::size_t i = 0; i < kAhead; ++i) prefetch(i);
    std::vector<double> scores;
    scores.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        prefetch(i + kAhead);
        BRAID_TRY(scores.emplace_back(), best_score(scorers, rows[i]));
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
