#include "braid/sparse/window_search.hpp"

#include <algorithm>
#include <cstring>

namespace braid::sparse {
namespace {

/// Looking at a candidate costs about as much as adding so many postings.
constexpr std::uint64_t kCandidateCost = 24;
/// Candidates that wait to be scored, the most promising first.
constexpr std::size_t kMostPending = 2048;

void add_gaps(std::uint8_t* sums, const std::uint8_t* table, const std::uint8_t* entry,
              std::size_t count) noexcept {
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t pair = load<std::uint16_t>(entry, i);
        at += pair & 255U;
        std::uint8_t& sum = sums[at % kWindowRows];
        sum = static_cast<std::uint8_t>(sum + table[pair >> 8]);
    }
}

void add_ids(std::uint8_t* sums, const std::uint8_t* table, const std::uint8_t* ids,
             const std::uint8_t* codes, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        std::uint8_t& sum = sums[load<std::uint16_t>(ids, i) % kWindowRows];
        sum = static_cast<std::uint8_t>(sum + table[codes[i]]);
    }
}

bool is_column(const BoundedTerm& term) noexcept {
    return term.list.form == ListView::Form::Column;
}

}  // namespace

WindowSearch::Window WindowSearch::window(std::uint32_t number) const noexcept {
    const std::uint32_t base = number * kWindowRows;
    const std::size_t rows = std::min(kWindowRows, reader_.rows() - base);
    return {number, base, (rows + 63) / 64 * 64,
            allowed_.empty() ? nullptr : allowed_.data() + base / 64};
}

std::uint64_t WindowSearch::entries_in(const BoundedTerm& term,
                                       const Window& window) const noexcept {
    switch (term.list.form) {
        case ListView::Form::Column:
            return window.padded;
        case ListView::Form::Gaps:
        case ListView::Form::Ids:
            return term.list.first_entry(window.number + 1) - term.list.first_entry(window.number);
        default:
            break;
    }
    const auto rows = bounds_.run_rows().subspan(term.run_begin, term.run_end - term.run_begin);
    const auto first = std::ranges::lower_bound(rows, window.base);
    return static_cast<std::uint64_t>(
        std::lower_bound(first, rows.end(), window.base + kWindowRows) - first);
}

void WindowSearch::add(const BoundedTerm& term, const Window& window) noexcept {
    std::uint8_t* sums = scratch_.sums.data();
    const ListView& list = term.list;
    if (list.form == ListView::Form::Column) {
        const std::uint8_t* nibbles = list.entries + window.base / 2;
        return kernels_.add_nibbles(sums, nibbles, window.padded, term.by_nibble.data());
    }
    if (list.form == ListView::Form::Single || list.form == ListView::Form::Run) {
        for (std::uint32_t i = term.run_begin; i < term.run_end; ++i) {
            const std::uint32_t local = bounds_.run_rows()[i] - window.base;
            if (local >= kWindowRows) continue;
            sums[local] =
                static_cast<std::uint8_t>(sums[local] + term.by_code[bounds_.run_codes()[i]]);
        }
        return;
    }
    const std::size_t first = list.first_entry(window.number);
    const std::size_t count = list.first_entry(window.number + 1) - first;
    if (list.form == ListView::Form::Gaps) {
        return add_gaps(sums, term.by_code.data(), list.entries + 2 * first, count);
    }
    const std::uint8_t* codes = list.entries + 2ULL * list.entry.df;
    add_ids(sums, term.by_code.data(), list.entries + 2 * first, codes + first, count);
}

std::size_t WindowSearch::count(const Window& window, int cut) const noexcept {
    if (cut > 255) return 0;
    return kernels_.count_at_least(scratch_.sums.data(), window.padded,
                                   static_cast<std::uint8_t>(cut), window.mask);
}

std::size_t WindowSearch::collect(const Window& window, int cut) noexcept {
    if (cut > 255) return 0;
    return kernels_.collect_at_least(scratch_.sums.data(), window.padded,
                                     static_cast<std::uint8_t>(cut), window.mask,
                                     scratch_.candidates.data());
}

int WindowSearch::cut_for(double threshold, double rest) const noexcept {
    constexpr double kDeflate = 0.99999;
    const double sum = (threshold - rest) * bounds_.scale() * kDeflate;
    if (!(sum > 1)) return 1;
    return sum > 255 ? 256 : static_cast<int>(sum);
}

Result<> WindowSearch::run(RowSink& sink) {
    const auto terms = bounds_.terms();
    for (std::uint32_t number = 0; number < reader_.header().windows(); ++number) {
        // Rows that hold none but the first `skipped` terms cannot reach the threshold.
        std::size_t skipped = 0;
        while (skipped < terms.size() && bounds_.sum_of_first(skipped + 1) < sink.threshold()) {
            ++skipped;
        }
        if (skipped == terms.size()) break;
        BRAID_CHECK(search_window(window(number), skipped, sink));
    }
    return score_pending(sink);
}

Result<> WindowSearch::search_window(const Window& window, std::size_t skipped, RowSink& sink) {
    const auto terms = bounds_.terms();
    std::uint64_t entries = 0;
    for (const BoundedTerm& term : terms.subspan(skipped)) entries += entries_in(term, window);
    if (entries == 0) return {};
    std::memset(scratch_.sums.data(), 0, window.padded);
    for (const BoundedTerm& term : terms.subspan(skipped)) add(term, window);
    const double threshold = sink.threshold();
    double rest = bounds_.sum_of_first(skipped);
    // Of the terms skipped, lists are added after all where that leaves enough fewer candidates.
    std::size_t added = skipped;
    while (added > 0 && !is_column(terms[added - 1])) {
        const BoundedTerm& term = terms[added - 1];
        const std::size_t candidates = count(window, cut_for(threshold, rest));
        if (candidates * kCandidateCost < entries_in(term, window)) break;
        if (candidates == 0) return {};
        add(term, window);
        rest = bounds_.sum_of_first(--added);
    }
    const std::size_t found = collect(window, cut_for(threshold, rest));
    return keep_candidates(window, found, added, sink);
}

void WindowSearch::add_all(std::uint32_t number, bool clear) noexcept {
    const Window at = window(number);
    if (clear) std::memset(scratch_.sums.data(), 0, at.padded);
    for (const BoundedTerm& term : bounds_.terms()) add(term, at);
}

/// The sum without what columns were bounded by, plus what their nibbles bound them by.
double WindowSearch::refined(std::uint32_t row, std::uint8_t sum,
                             std::size_t skipped) const noexcept {
    const std::uint32_t length_class = scorers_[query_].facts().length_class(row);
    int bytes = sum;
    double bound = 0;
    for (const std::size_t i : columns_) {
        const BoundedTerm& term = bounds_.terms()[i];
        const std::uint32_t nibble = term.list.entries[row / 2] >> (row % 2 * 4) & 15U;
        if (i >= skipped) bytes -= term.by_nibble[nibble];
        bound += static_cast<double>(
            bounds_.column_bounds(term)[nibble * kLengthClasses + length_class]);
    }
    return (bound + bytes) / bounds_.scale();
}

void WindowSearch::prefetch_columns(std::uint32_t row) const noexcept {
    for (const std::size_t i : columns_) {
        __builtin_prefetch(bounds_.terms()[i].list.entries + row / 2);
    }
}

Result<> WindowSearch::keep_candidates(const Window& window, std::size_t count, std::size_t skipped,
                                       RowSink& sink) {
    constexpr std::size_t kAhead = 8;
    const double threshold = sink.threshold();
    double lists = 0;  // what the lists that were not added may add
    for (std::size_t i = 0; i < skipped; ++i) {
        if (!is_column(bounds_.terms()[i])) lists += bounds_.terms()[i].bound;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint16_t local = scratch_.candidates[i];
        const std::uint32_t row = window.base + local;
        if (i + kAhead < count) prefetch_columns(window.base + scratch_.candidates[i + kAhead]);
        if (row >= reader_.rows()) continue;
        const double bound = lists + refined(row, scratch_.sums[local], skipped);
        if (bound < threshold) continue;
        scorers_[query_].facts().prefetch_offset(row);
        pending_.push_back({bound, row});
    }
    return pending_.size() < kMostPending ? Result<>() : score_pending(sink);
}

Result<> WindowSearch::score_pending(RowSink& sink) {
    constexpr auto kWorse = [](const Candidate& a, const Candidate& b) {
        return a.bound != b.bound ? a.bound < b.bound : a.row > b.row;
    };
    const RowFacts& facts = scorers_[query_].facts();
    std::ranges::make_heap(pending_, kWorse);
    // A few are taken at a time, so that their terms are on the way before they are needed.
    std::array<std::uint32_t, 8> batch{};
    while (!pending_.empty() && pending_.front().bound >= sink.threshold()) {
        std::size_t size = 0;
        while (size < batch.size() && !pending_.empty() &&
               pending_.front().bound >= sink.threshold()) {
            batch[size] = pending_.front().row;
            facts.prefetch(batch[size++]);
            std::ranges::pop_heap(pending_, kWorse);
            pending_.pop_back();
        }
        for (std::size_t i = 0; i < size; ++i) BRAID_CHECK(score_row(batch[i], sink));
    }
    pending_.clear();
    return {};
}

Result<> WindowSearch::score_row(std::uint32_t row, RowSink& sink) {
    BRAID_TRY(const double own, scorers_[query_].score(row));
    if (!(own > 0)) return {};
    for (std::size_t other = 0; other < scorers_.size(); ++other) {
        if (other == query_) continue;
        BRAID_TRY(const double score, scorers_[other].score(row));
        // Offered when the query that scores it best is searched for, the first among equals.
        if (score > own || (score == own && other < query_)) return {};
    }
    ++matched_;
    sink.offer({row, own});
    return {};
}

Result<double> WindowSearch::sample_threshold(std::size_t k, std::optional<ScoredRow> after) {
    if (reader_.rows() == 0 || k == 0 || bounds_.terms().empty()) return 0.0;
    const Window sample = window(0);
    std::memset(scratch_.sums.data(), 0, sample.padded);
    for (const BoundedTerm& term : bounds_.terms()) {
        if (!is_column(term)) add(term, sample);
    }
    if (count(sample, 1) < k) {
        for (const BoundedTerm& term : bounds_.terms()) {
            if (is_column(term)) add(term, sample);
        }
    }
    const std::uint64_t before = matched_;
    for (std::size_t wanted = k;; wanted *= 4) {
        int cut = 1;  // the largest that leaves enough rows
        for (int step = 128; step > 0; step /= 2) {
            if (cut + step <= 255 && count(sample, cut + step) >= wanted) cut += step;
        }
        const std::size_t found = collect(sample, cut);
        TopRows top(k, 0, after);
        for (std::size_t i = 0; i < std::min(found, 4 * wanted); ++i) {
            const std::uint32_t row = sample.base + scratch_.candidates[i];
            if (row < reader_.rows()) BRAID_CHECK(score_row(row, top));
        }
        matched_ = before;
        if (top.full()) return top.threshold();
        if (cut == 1) return 0.0;
    }
}

}  // namespace braid::sparse
