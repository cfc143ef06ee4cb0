#include "braid/sparse/window_search.hpp"

#include <algorithm>
#include <array>

namespace braid::sparse {
namespace {

/// What looking at a candidate costs, in entries that could be added instead.
constexpr std::uint64_t kCandidateCost = 24;
/// With fewer entries than this, rows are found by them; with more, by the sums of all rows.
constexpr std::uint64_t kFewEntries = 3072;
/// So few candidates are looked at as they are.
constexpr std::size_t kFewCandidates = 256;

std::uint8_t add_bytes(std::uint8_t a, std::uint8_t b) noexcept {
    return static_cast<std::uint8_t>(std::min(255U, unsigned{a} + b));
}

bool is_column(const BoundedTerm& term) noexcept {
    return term.list.form == ListView::Form::Column;
}

}  // namespace

WindowSearch::WindowSearch(const IndexReader& reader, std::span<RowScorer> scorers,
                           std::size_t query, const QueryBounds& bounds,
                           std::span<const std::uint64_t> allowed, WindowScratch& scratch)
    : reader_(reader),
      scorers_(scorers),
      query_(query),
      bounds_(bounds),
      allowed_(allowed),
      scratch_(scratch),
      kernels_(kernels::byte_kernels()),
      lists_(reader, scorers[query], bounds),
      by_lists_(lists_.usable() && scorers.size() == 1),
      finds_(by_lists_ && lists_.finds_fast()) {
    for (std::size_t i = 0; i < bounds.terms().size(); ++i) {
        if (is_column(bounds.terms()[i])) columns_.push_back(i);
    }
    scratch_.begin(bounds);
    scratch_.pending.clear();
}

WindowSpan WindowSearch::window(std::uint32_t number) const noexcept {
    const std::uint32_t base = number * kWindowRows;
    const std::size_t rows = std::min(kWindowRows, reader_.rows() - base);
    return {number, base, (rows + 63) / 64 * 64,
            allowed_.empty() ? nullptr : allowed_.data() + base / 64};
}

void WindowSearch::enter(const WindowSpan& window) noexcept {
    scratch_.enter(bounds_, window);
    const std::uint8_t* classes = scorers_[query_].facts().length_classes() + window.base;
    const std::size_t rows = std::min(kWindowRows, reader_.rows() - window.base);
    scratch_.classes = classes;
    if (rows == kWindowRows) return;
    // Of the last window a copy: what damaged lists name beyond it must not be read.
    std::copy_n(classes, rows, scratch_.last_classes.begin());
    std::fill(scratch_.last_classes.begin() + static_cast<std::ptrdiff_t>(rows),
              scratch_.last_classes.end(), std::uint8_t{0});
    scratch_.classes = scratch_.last_classes.data();
}

bool WindowSearch::any_allowed(const WindowSpan& window) const noexcept {
    if (window.mask == nullptr) return true;
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < window.padded / 64; ++i) any |= window.mask[i];
    return any != 0;
}

std::uint64_t WindowSearch::entries_in(std::size_t term, const WindowSpan& window) const noexcept {
    const ListView& list = bounds_.terms()[term].list;
    switch (list.form) {
        case ListView::Form::Column:
            return std::max<std::uint64_t>(window.padded, kFewEntries);
        case ListView::Form::Gaps:
        case ListView::Form::WideGaps:
            return list.first_entry(window.number + 1) - list.first_entry(window.number);
        default:
            return scratch_.runs[term].end - scratch_.runs[term].begin;
    }
}

void WindowSearch::add(std::size_t number, const WindowSpan& window) noexcept {
    const BoundedTerm& term = bounds_.terms()[number];
    std::uint8_t* sums = scratch_.sums.data();
    const ListView& list = term.list;
    if (list.form == ListView::Form::Column) {
        const std::uint8_t* nibbles = list.tfs + window.base / 2;
        return kernels_.add_nibbles(sums, nibbles, window.padded, term.by_nibble.data());
    }
    if (list.form == ListView::Form::Single || list.form == ListView::Form::Run) {
        for (std::uint32_t i = scratch_.runs[number].begin; i < scratch_.runs[number].end; ++i) {
            std::uint8_t& sum = sums[bounds_.run_rows()[i] - window.base];
            sum = add_bytes(sum, bounds_.run_bytes()[i]);
        }
        return;
    }
    const std::uint8_t* classes = scratch_.classes;
    const std::uint8_t* table = term.by_class.data();
    if (bounds_.saturates()) {
        list.each_in(window.number, [=](std::uint32_t local, std::uint32_t tf) {
            const std::size_t index = tf * kLengthClasses + classes[local] % kLengthClasses;
            sums[local] = add_bytes(sums[local], table[index]);
        });
        return;
    }
    list.each_in(window.number, [=](std::uint32_t local, std::uint32_t tf) {
        const std::size_t index = tf * kLengthClasses + classes[local] % kLengthClasses;
        sums[local] = static_cast<std::uint8_t>(sums[local] + table[index]);
    });
}

/// The same for a term with few entries in the window: the rows that had no sum before are listed.
/// Returns how many there are then.
std::size_t WindowSearch::add_touching(std::size_t number, const WindowSpan& window,
                                       std::size_t touched) noexcept {
    const BoundedTerm& term = bounds_.terms()[number];
    const auto one = [&](std::uint32_t local, std::uint8_t more) {
        std::uint8_t& sum = scratch_.sums[local];
        scratch_.touched[touched] = static_cast<std::uint16_t>(local);
        touched += static_cast<std::size_t>((sum == 0) & (more != 0));
        sum = add_bytes(sum, more);
    };
    const ListView& list = term.list;
    if (list.form == ListView::Form::Single || list.form == ListView::Form::Run) {
        for (std::uint32_t i = scratch_.runs[number].begin; i < scratch_.runs[number].end; ++i) {
            one(bounds_.run_rows()[i] - window.base, bounds_.run_bytes()[i]);
        }
        return touched;
    }
    list.each_in(window.number, [&](std::uint32_t local, std::uint32_t tf) {
        one(local, term.by_class[tf * kLengthClasses + scratch_.classes[local] % kLengthClasses]);
    });
    return touched;
}

std::size_t WindowSearch::count(const WindowSpan& window, int cut) const noexcept {
    if (cut > 255) return 0;
    return kernels_.count_at_least(scratch_.sums.data(), window.padded,
                                   static_cast<std::uint8_t>(cut), window.mask);
}

std::size_t WindowSearch::collect(const WindowSpan& window, int cut, std::size_t most) noexcept {
    if (cut > 255) return 0;
    return kernels_.collect_at_least(scratch_.sums.data(), window.padded,
                                     static_cast<std::uint8_t>(cut), window.mask, most,
                                     scratch_.candidates.data());
}

int WindowSearch::cut_for(double threshold, double rest) const noexcept {
    constexpr double kDeflate = 0.99999;
    const double sum = (threshold - rest) * bounds_.scale() * kDeflate;
    if (!(sum > 1)) return 1;
    if (sum > 255) return bounds_.saturates() ? 255 : 256;
    return static_cast<int>(sum);
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
        const WindowSpan next = window(number);
        if (number == 0 && sampled_) {
            BRAID_CHECK(search_sampled(next, sink));
        } else if (any_allowed(next)) {
            BRAID_CHECK(search_window(next, skipped, sink));
        }
        sink.progressed(number + 1, reader_.header().windows());
    }
    return {};
}

Result<> WindowSearch::search_window(const WindowSpan& window, std::size_t skipped, RowSink& sink) {
    enter(window);
    std::uint64_t entries = 0;
    for (std::size_t i = skipped; i < bounds_.terms().size(); ++i) {
        entries += entries_in(i, window);
    }
    if (entries == 0) return {};
    scratch_.clear_sums();
    scratch_.pending.clear();
    for (std::size_t i = 0; i < bounds_.terms().size(); ++i) scratch_.added[i] = i >= skipped;
    const double threshold = sink.threshold();
    if (entries < kFewEntries) {
        search_entries(window, skipped, threshold);
    } else {
        for (std::size_t i = skipped; i < bounds_.terms().size(); ++i) add(i, window);
        search_sums(window, skipped, threshold);
    }
    return score_kept(window, sink);
}

Result<> WindowSearch::search_sampled(const WindowSpan& window, RowSink& sink) {
    sampled_ = false;
    scratch_.pending.clear();
    std::fill_n(scratch_.added.begin(), bounds_.terms().size(), true);
    search_sums(window, 0, sink.threshold());
    return score_kept(window, sink);
}

void WindowSearch::search_entries(const WindowSpan& window, std::size_t skipped, double threshold) {
    const auto terms = bounds_.terms();
    std::size_t touched = 0;
    for (std::size_t i = skipped; i < terms.size(); ++i) touched = add_touching(i, window, touched);
    double rest = bounds_.sum_of_first(skipped);
    const std::span rows = std::span(scratch_.touched).first(touched);
    std::size_t found = filter(window, rows, cut_for(threshold, rest));
    // Lists that were skipped are added after all where that leaves enough fewer candidates. Rows
    // that hold nothing else cannot win: they are not looked at.
    for (std::size_t i = skipped; i-- > 0 && found >= kManyRows;) {
        if (is_column(terms[i]) || found * kCandidateCost < entries_in(i, window)) continue;
        add(i, window);
        scratch_.clean = false;
        scratch_.added[i] = true;
        rest -= terms[i].bound;
        found =
            filter(window, std::span(scratch_.candidates).first(found), cut_for(threshold, rest));
    }
    keep_candidates(window, found, threshold);
    if (!scratch_.clean) return;
    for (const std::uint16_t local : rows) scratch_.sums[local] = 0;
}

/// Candidates are those of `rows` that are allowed and have enough. Without a branch for each: who
/// is allowed cannot be foretold.
std::size_t WindowSearch::filter(const WindowSpan& window, std::span<const std::uint16_t> rows,
                                 int cut) noexcept {
    constexpr std::uint64_t kAll = ~std::uint64_t{0};
    std::size_t found = 0;
    for (const std::uint16_t row : rows) {
        const std::size_t local = std::min<std::size_t>(row, window.padded - 1);
        const std::uint64_t word = window.mask == nullptr ? kAll : window.mask[local / 64];
        const bool may = (word >> (local % 64) & 1) != 0;
        const bool enough = scratch_.sums[local] >= cut;
        scratch_.candidates[found] = static_cast<std::uint16_t>(local);
        found += static_cast<std::size_t>(may & enough);
    }
    return found;
}

void WindowSearch::search_sums(const WindowSpan& window, std::size_t skipped, double threshold) {
    scratch_.clean = false;
    double rest = bounds_.sum_of_first(skipped);
    std::size_t found =
        collect(window, cut_for(threshold, rest), skipped == 0 ? kWindowRows : kFewCandidates);
    if (skipped > 0 && found > kFewCandidates) {
        rest = add_columns(window, skipped, rest);
        rest = add_lists(window, skipped, threshold, rest);
        found = collect(window, cut_for(threshold, rest), kWindowRows);
    }
    keep_candidates(window, found, threshold);
}

double WindowSearch::add_columns(const WindowSpan& window, std::size_t skipped,
                                 double rest) noexcept {
    for (const std::size_t i : columns_) {
        if (i >= skipped) continue;
        add(i, window);
        scratch_.added[i] = true;
        rest -= bounds_.terms()[i].bound;
    }
    return rest;
}

double WindowSearch::add_lists(const WindowSpan& window, std::size_t skipped, double threshold,
                               double rest) noexcept {
    const auto terms = bounds_.terms();
    std::size_t candidates = count(window, cut_for(threshold, rest));
    for (std::size_t i = skipped; i-- > 0 && candidates > 0;) {
        if (is_column(terms[i]) || candidates * kCandidateCost < entries_in(i, window)) continue;
        add(i, window);
        scratch_.added[i] = true;
        rest -= terms[i].bound;
        candidates = count(window, cut_for(threshold, rest));
    }
    return rest;
}

void WindowSearch::add_all(std::uint32_t number, bool clear) noexcept {
    const WindowSpan at = window(number);
    enter(at);
    if (clear) scratch_.clear_sums();
    scratch_.clean = false;
    for (std::size_t i = 0; i < bounds_.terms().size(); ++i) add(i, at);
}

/// The sum without what columns were bounded by, plus what their nibbles bound them by; in units of
/// bytes.
double WindowSearch::refined(std::uint32_t row, std::uint8_t sum) const noexcept {
    if (sum == 255 && bounds_.saturates())
        return bounds_.sum_of_first(bounds_.terms().size()) * bounds_.scale();
    const std::uint32_t length_class = scorers_[query_].facts().length_class(row);
    int bytes = sum;
    double bound = 0;
    for (const std::size_t i : columns_) {
        const BoundedTerm& term = bounds_.terms()[i];
        const std::uint32_t nibble = term.list.nibble(row);
        if (scratch_.added[i]) bytes -= term.by_nibble[nibble];
        bound += static_cast<double>(
            bounds_.column_bounds(term)[nibble * kLengthClasses + length_class]);
    }
    return bound + bytes;
}

void WindowSearch::prefetch_columns(std::uint32_t row) const noexcept {
    for (const std::size_t i : columns_) {
        __builtin_prefetch(bounds_.terms()[i].list.tfs + row / 2);
    }
}

void WindowSearch::keep_candidates(const WindowSpan& window, std::size_t count, double threshold) {
    constexpr std::size_t kAhead = 8;
    double lists = 0;  // what the lists that were not added may add
    for (std::size_t i = 0; i < bounds_.terms().size(); ++i) {
        if (!scratch_.added[i] && !is_column(bounds_.terms()[i])) lists += bounds_.terms()[i].bound;
    }
    const double unit = 1 / bounds_.scale();
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint16_t local = scratch_.candidates[i];
        const std::uint32_t row = window.base + local;
        if (i + kAhead < count) prefetch_columns(window.base + scratch_.candidates[i + kAhead]);
        if (row >= reader_.rows()) continue;
        const double bound = lists + refined(row, scratch_.sums[local]) * unit;
        if (bound >= threshold) scratch_.pending.push_back({bound, row});
    }
}

Result<double> WindowSearch::sample_threshold(std::size_t k, std::optional<ScoredRow> after) {
    if (reader_.rows() == 0 || k == 0 || bounds_.terms().empty()) return 0.0;
    const WindowSpan sample = window(0);
    if (!any_allowed(sample)) return 0.0;
    add_all(0, true);
    sampled_ = true;
    // Of eight rows the best, for most of those looked for are not among the same eight.
    const std::size_t folded = kernels_.fold_maxima(scratch_.sums.data(), sample.padded,
                                                    sample.mask, scratch_.maxima.data());
    const std::uint64_t before = matched_;
    std::vector<std::uint32_t> rows;
    for (std::size_t wanted = k;; wanted *= 4) {
        int cut = 1;  // the largest that leaves enough rows
        for (int step = 128; step > 0; step /= 2) {
            if (cut + step > 255) continue;
            const std::size_t left = kernels_.count_at_least(
                scratch_.maxima.data(), folded, static_cast<std::uint8_t>(cut + step), nullptr);
            if (left >= wanted) cut += step;
        }
        const std::size_t found = collect(sample, cut, 4 * wanted);
        rows.clear();
        for (std::size_t i = 0; i < std::min(found, 4 * wanted); ++i) {
            const std::uint32_t row = sample.base + scratch_.candidates[i];
            if (row < reader_.rows()) rows.push_back(row);
        }
        TopRows top(k, 0, after);
        if (by_lists_ && rows.size() >= kManyRows && rows.size() <= ListScorer::kMostSlots) {
            BRAID_CHECK(score_rows(sample, rows, top));
        } else {
            for (const std::uint32_t row : rows) BRAID_CHECK(score_row(row, top));
        }
        matched_ = before;
        if (top.full()) return top.threshold();
        if (cut == 1) return 0.0;
    }
}

}  // namespace braid::sparse
