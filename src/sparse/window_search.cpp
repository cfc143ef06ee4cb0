#include "braid/sparse/window_search.hpp"

#include <algorithm>
#include <array>

namespace braid::sparse {
namespace {

/// The cost of looking at a candidate, in entries that could be added instead.
constexpr std::uint64_t kCandidateCost = 24;
/// With fewer entries than this, rows are found through them; with more, through the sums of all
/// rows.
constexpr std::uint64_t kFewEntries = 3072;
/// This few rows are scored right away, whatever else might be known about them.
constexpr std::size_t kFewRows = 8;
/// This few candidates are looked at right away.
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
      lists_(scorers[query], bounds),
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
    scratch_.classes = scorers_[query_].facts().length_classes() + window.base;
}

bool WindowSearch::any_allowed(const WindowSpan& window) const noexcept {
    if (window.mask == nullptr) return true;
    return std::any_of(window.mask, window.mask + window.padded / 64,
                       [](std::uint64_t word) { return word != 0; });
}

std::uint64_t WindowSearch::entries_in(std::size_t term, const WindowSpan& window) const noexcept {
    const ListView& list = bounds_.terms()[term].list;
    switch (list.form) {
        case ListView::Form::Column:
            return std::max<std::uint64_t>(window.padded, kFewEntries);
        case ListView::Form::Rows:
            return list.count_in(window.number);
        default:
            return scratch_.runs[term].end - scratch_.runs[term].begin;
    }
}

/// Calls use(row in the window, byte) for each entry of a term that is not a column. An entry whose
/// byte is 0 may not be a row.
template <class Use>
void WindowSearch::each_byte(std::size_t number, const WindowSpan& window,
                             const Use& use) const noexcept {
    const BoundedTerm& term = bounds_.terms()[number];
    const ListView& list = term.list;
    if (list.form == ListView::Form::Single || list.form == ListView::Form::Run) {
        const auto rows = bounds_.run_rows();
        const auto bytes = bounds_.run_bytes();
        const auto [begin, end] = scratch_.runs[number];
        for (std::uint32_t i = begin; i < end; ++i) use(rows[i] - window.base, bytes[i]);
        return;
    }
    const std::uint8_t* const table = bounds_.tables(term).by_code.data();
    list.each_in(window.number, [&use, table](std::uint32_t local, RowCode code) {
        use(local, table[code.bits()]);
    });
}

void WindowSearch::add(std::size_t number, const WindowSpan& window) noexcept {
    const BoundedTerm& term = bounds_.terms()[number];
    std::uint8_t* sums = scratch_.sums.data();
    const ListView& list = term.list;
    if (list.form == ListView::Form::Column) {
        const std::uint8_t* nibbles = list.tfs + window.base / 2;
        return kernels_.add_nibbles(sums, nibbles, window.padded,
                                    bounds_.tables(term).by_nibble.data());
    }
    if (bounds_.saturates()) {
        each_byte(number, window, [sums](std::uint32_t local, std::uint8_t more) {
            sums[local] = add_bytes(sums[local], more);
        });
        return;
    }
    each_byte(number, window, [sums](std::uint32_t local, std::uint8_t more) {
        sums[local] = static_cast<std::uint8_t>(sums[local] + more);
    });
}

/// Adds a term with few entries in the window: rows that had no sum before are listed. Returns how
/// many are listed then.
std::size_t WindowSearch::add_touching(std::size_t number, const WindowSpan& window,
                                       std::size_t touched) noexcept {
    std::uint8_t* const sums = scratch_.sums.data();
    std::uint16_t* const rows = scratch_.touched.data();
    if (touched == 0) {
        // All sums are 0, and each row comes once.
        each_byte(number, window, [&touched, sums, rows](std::uint32_t local, std::uint8_t more) {
            rows[touched] = static_cast<std::uint16_t>(local);
            touched += static_cast<std::size_t>(more != 0);
            sums[local] = more;
        });
        return touched;
    }
    each_byte(number, window, [&touched, sums, rows](std::uint32_t local, std::uint8_t more) {
        const std::uint8_t sum = sums[local];
        rows[touched] = static_cast<std::uint16_t>(local);
        touched += static_cast<std::size_t>((sum == 0) & (more != 0));
        sums[local] = add_bytes(sum, more);
    });
    return touched;
}

/// The same for the only term of a window, when all sums are 0: rows that it alone does not lift to
/// the cut, or that are not allowed, are left out.
std::size_t WindowSearch::add_only(std::size_t number, const WindowSpan& window, int cut) noexcept {
    std::uint16_t* const rows = scratch_.touched.data();
    std::uint8_t* const bytes = scratch_.bytes.data();
    std::size_t found = 0;
    if (window.mask == nullptr) {
        each_byte(number, window, [=, &found](std::uint32_t local, std::uint8_t more) {
            rows[found] = static_cast<std::uint16_t>(local);
            bytes[found] = more;
            found += static_cast<std::size_t>(more >= cut);
        });
    } else {
        const std::uint64_t* const mask = window.mask;
        const auto last = static_cast<std::uint32_t>(window.padded - 1);
        each_byte(number, window, [=, &found](std::uint32_t local, std::uint8_t more) {
            const std::uint32_t row = std::min(local, last);
            rows[found] = static_cast<std::uint16_t>(row);
            bytes[found] = more;
            found += static_cast<std::size_t>(more >= cut) & (mask[row / 64] >> (row % 64));
        });
    }
    for (std::size_t i = 0; i < found; ++i) scratch_.sums[rows[i]] = bytes[i];
    return found;
}

/// Adds a term to those rows alone that have a sum.
void WindowSearch::add_to_touched(std::size_t number, const WindowSpan& window) noexcept {
    std::uint8_t* const sums = scratch_.sums.data();
    each_byte(number, window, [sums](std::uint32_t local, std::uint8_t more) {
        const std::uint8_t sum = sums[local];
        sums[local] = sum == 0 ? std::uint8_t{0} : add_bytes(sum, more);
    });
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
        // Rows that hold nothing but the first `skipped` terms cannot reach the threshold.
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
    double rest = bounds_.sum_of_first(skipped);
    const int cut = cut_for(threshold, rest);
    std::size_t holding = 0;  // terms that have entries, and the last of them
    std::size_t last = skipped;
    for (std::size_t i = skipped; i < terms.size(); ++i) {
        if (entries_in(i, window) == 0) continue;
        ++holding;
        last = i;
    }
    std::size_t touched = 0;
    std::size_t found = 0;
    if (holding == 1) {
        found = touched = add_only(last, window, cut);
        std::copy_n(scratch_.touched.begin(), found, scratch_.candidates.begin());
    } else {
        for (std::size_t i = skipped; i < terms.size(); ++i) {
            touched = add_touching(i, window, touched);
        }
        found = filter(window, std::span(scratch_.touched).first(touched), cut);
    }
    // Lists that were skipped are added after all if that leaves sufficiently fewer candidates.
    // Rows that hold nothing else cannot win and are not looked at.
    for (std::size_t i = skipped; i-- > 0 && found >= kFewRows;) {
        if (is_column(terms[i]) || found * kCandidateCost < entries_in(i, window)) continue;
        add_to_touched(i, window);
        scratch_.added[i] = true;
        rest -= terms[i].bound;
        found =
            filter(window, std::span(scratch_.candidates).first(found), cut_for(threshold, rest));
    }
    keep_candidates(window, found, threshold);
    for (std::size_t i = 0; i < touched; ++i) scratch_.sums[scratch_.touched[i]] = 0;
}

/// The allowed ones among `rows` with a large enough sum are candidates. No branch per row: which
/// are allowed is unpredictable.
std::size_t WindowSearch::filter(const WindowSpan& window, std::span<const std::uint16_t> rows,
                                 int cut) noexcept {
    const std::uint8_t* const sums = scratch_.sums.data();
    std::uint16_t* const out = scratch_.candidates.data();
    std::size_t found = 0;
    if (window.mask == nullptr) {
        for (const std::uint16_t row : rows) {
            out[found] = row;
            found += static_cast<std::size_t>(sums[row] >= cut);
        }
        return found;
    }
    const auto last = static_cast<std::uint32_t>(window.padded - 1);
    for (const std::uint16_t row : rows) {
        const std::uint32_t local = std::min<std::uint32_t>(row, last);
        out[found] = static_cast<std::uint16_t>(local);
        found += static_cast<std::size_t>(sums[local] >= cut) &
                 (window.mask[local / 64] >> (local % 64));
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

void WindowSearch::keep_candidates(const WindowSpan& window, std::size_t count, double threshold) {
    constexpr std::size_t kAhead = 16;
    constexpr std::array<std::uint8_t, 16> kNothing{};
    struct Column {
        const std::uint8_t* nibbles;
        const float* bounds;        // what it adds, by nibble and class
        const std::uint8_t* added;  // what of it is in the sums, by nibble
    };
    if (count == 0) return;
    const auto terms = bounds_.terms();
    double lists = 0;  // what the lists that were not added may add
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (!scratch_.added[i] && !is_column(terms[i])) lists += terms[i].bound;
    }
    std::array<Column, kMostBoundedTerms> columns;  // NOLINT: written before it is read
    std::size_t size = 0;
    for (const std::size_t i : columns_) {
        columns[size++] = {
            terms[i].list.tfs, bounds_.column_bounds(terms[i]).data(),
            scratch_.added[i] ? bounds_.tables(terms[i]).by_nibble.data() : kNothing.data()};
    }
    const double unit = 1 / bounds_.scale();
    const double all = bounds_.sum_of_first(terms.size());
    const auto prefetch = [&](std::size_t i) {
        const std::uint32_t next = window.base + scratch_.candidates[i];
        for (std::size_t c = 0; c < size; ++c) __builtin_prefetch(columns[c].nibbles + next / 2);
        __builtin_prefetch(scratch_.classes + scratch_.candidates[i]);
    };
    for (std::size_t i = 0; i < std::min(kAhead, count); ++i) prefetch(i);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint16_t local = scratch_.candidates[i];
        const std::uint32_t row = window.base + local;
        if (i + kAhead < count) prefetch(i + kAhead);
        if (row >= reader_.rows()) continue;
        const std::uint8_t sum = scratch_.sums[local];
        double bound = all;
        if (sum != 255 || !bounds_.saturates()) {
            // The sum without what columns were bounded by, plus what their nibbles say.
            const std::size_t length_class = scratch_.classes[local] % kLengthClasses;
            int bytes = sum;
            double more = 0;
            for (std::size_t c = 0; c < size; ++c) {
                const std::size_t nibble = columns[c].nibbles[row / 2] >> (row % 2 * 4) & 15U;
                bytes -= columns[c].added[nibble];
                more +=
                    static_cast<double>(columns[c].bounds[nibble * kLengthClasses + length_class]);
            }
            bound = lists + (more + bytes) * unit;
        }
        if (bound >= threshold) scratch_.pending.push_back({bound, row});
    }
}

Result<double> WindowSearch::sample_threshold(std::size_t k, std::optional<ScoredRow> after) {
    if (reader_.rows() == 0 || k == 0 || bounds_.terms().empty()) return 0.0;
    const WindowSpan sample = window(0);
    if (!any_allowed(sample)) return 0.0;
    add_all(0, true);
    sampled_ = true;
    // The best of every eight rows is enough, since most of the rows wanted are in different
    // eights.
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
        if (top.full()) return std::max(top.threshold(), top.worst());
        if (cut == 1) return 0.0;
    }
}

}  // namespace braid::sparse
