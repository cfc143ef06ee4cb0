#include "braid/sparse/joint_rows.hpp"

#include <algorithm>

#include "braid/kernels/byte_kernels.hpp"

namespace braid::sparse {
namespace {

/// A list longer by this factor is searched row by row; a shorter one is merged.
constexpr std::size_t kMuchLonger = 16;

std::uint16_t row_at(const std::uint8_t* rows, std::size_t i) noexcept {
    return static_cast<std::uint16_t>(load<std::uint16_t>(rows, i) % kWindowRows);
}

}  // namespace

JointRows::JointRows(const IndexReader& reader, const RowFacts& facts, const QueryBounds& bounds,
                     std::span<const std::size_t> terms)
    : reader_(reader),
      facts_(facts),
      bounds_(bounds),
      scratch_(thread_scratch()),
      terms_(terms.begin(), terms.end()),
      runs_(terms.size()),
      spelt_(terms.size()) {
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        const BoundedTerm& term = bounds.terms()[terms_[i]];
        order_.push_back(i);
        for (std::uint32_t at = term.run_begin; at < term.run_end; ++at) {
            const std::uint32_t row = bounds.run_rows()[at];
            runs_[i].rows.push_back(static_cast<std::uint16_t>(row % kWindowRows));
            runs_[i].codes.push_back(RowCode(bounds.run_tfs()[at], facts.length_class(row)).bits());
        }
    }
}

JointRows::Part JointRows::part_of(std::size_t i, std::uint32_t window) const noexcept {
    const BoundedTerm& term = bounds_.terms()[terms_[i]];
    const ListView& list = term.list;
    if (list.form == ListView::Form::Column) {
        return {.nibbles = list.tfs + std::size_t{window} * kWindowRows / 2};
    }
    if (list.form == ListView::Form::Rows) {
        const std::size_t first = list.first_entry(window);
        const std::size_t size = list.count_in(window);
        if (list.gaps != nullptr) {
            return {.codes = list.codes + first, .size = size, .gaps = &list};
        }
        return {.rows = list.rows + 2 * first, .codes = list.codes + first, .size = size};
    }
    const auto rows = bounds_.run_rows().subspan(term.run_begin, term.run_end - term.run_begin);
    const auto first = std::ranges::lower_bound(rows, window * kWindowRows) - rows.begin();
    const auto end = std::ranges::lower_bound(rows, (window + 1) * kWindowRows) - rows.begin();
    const auto octets_of = reinterpret_cast<const std::uint8_t*>(runs_[i].rows.data());  // NOLINT
    return {.rows = octets_of + 2 * first,
            .codes = runs_[i].codes.data() + first,
            .size = static_cast<std::size_t>(end - first)};
}

const JointRows::Part& JointRows::spelt(std::size_t i) {
    Part& part = parts_[i];
    if (part.gaps == nullptr) return part;
    Run& run = spelt_[i];
    run.rows.resize(part.size);
    run.codes.resize(part.size);
    std::size_t size = 0;
    part.gaps->each_in(window_, [&, rows = run.rows.data(), codes = run.codes.data()](
                                    std::uint32_t local, RowCode code) {
        rows[size] = static_cast<std::uint16_t>(local);
        codes[size] = code.bits();
        size += code.tf() > 0 ? 1 : 0;
    });
    part = {.rows = reinterpret_cast<const std::uint8_t*>(run.rows.data()),  // NOLINT
            .codes = run.codes.data(),
            .size = size};
    return part;
}

std::span<const std::uint16_t> JointRows::find(std::uint32_t window,
                                               std::span<const std::uint8_t> least,
                                               std::span<const std::uint64_t> mask) {
    window_ = window;
    rows_ = std::min(kWindowRows, reader_.rows() - window * kWindowRows);
    found_ = 0;
    done_.clear();
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        parts_[i] = part_of(i, window);
        if (parts_[i].nibbles == nullptr && parts_[i].size == 0) return {};
    }
    std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
        const bool lists = parts_[a].nibbles == nullptr && parts_[b].nibbles == nullptr;
        if (!lists) return parts_[a].nibbles == nullptr && parts_[b].nibbles != nullptr;
        return parts_[a].size < parts_[b].size;
    });
    if (parts_[order_.front()].nibbles == nullptr) {
        begin_with_list(order_.front(), least[order_.front()], mask);
    } else {
        begin_with_columns(least, mask);
    }
    for (const std::size_t i : order_) {
        if (std::ranges::find(done_, i) != done_.end()) continue;
        if (found_ == 0) return {};
        if (parts_[i].nibbles == nullptr) {
            keep_in_list(i, least[i]);
        } else {
            keep_in_column(i, least[i]);
        }
        done_.push_back(i);
    }
    return {local_.data(), found_};
}

void JointRows::begin_with_list(std::size_t term, std::uint32_t least,
                                std::span<const std::uint64_t> mask) {
    const Part part = spelt(term);
    local_.resize(part.size);
    codes_[term].resize(part.size);
    std::uint16_t* const rows = local_.data();
    std::uint8_t* const codes = codes_[term].data();
    const std::uint64_t* const words =
        mask.empty() ? nullptr : mask.data() + std::size_t{window_} * kWindowRows / 64;
    // No branch per row: which of them stay is unpredictable.
    std::size_t found = 0;
    for (std::size_t i = 0; i < part.size; ++i) {
        const std::uint16_t row = row_at(part.rows, i);
        const std::uint8_t code = part.codes[i];
        rows[found] = row;
        codes[found] = code;
        bool stays = (RowCode(code).tf() >= least) & (row < rows_);
        if (words != nullptr && stays) stays = (words[row / 64] >> (row % 64) & 1) != 0;
        found += stays ? 1 : 0;
    }
    found_ = found;
    done_.push_back(term);
}

void JointRows::begin_with_columns(std::span<const std::uint8_t> least,
                                   std::span<const std::uint64_t> mask) {
    const std::size_t padded = (rows_ + std::size_t{63}) / 64 * 64;
    scratch_.clear_sums();
    scratch_.clean = false;
    const kernels::ByteKernels& kernels = kernels::byte_kernels();
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        std::array<std::uint8_t, 16> enough{};
        std::fill(enough.begin() + least[i], enough.end(), std::uint8_t{1});
        kernels.add_nibbles(scratch_.sums.data(), parts_[i].nibbles, padded, enough.data());
    }
    local_.resize(kWindowRows);
    const std::uint64_t* const words =
        mask.empty() ? nullptr : mask.data() + std::size_t{window_} * kWindowRows / 64;
    found_ = kernels.collect_at_least(scratch_.sums.data(), padded,
                                      static_cast<std::uint8_t>(terms_.size()), words, kWindowRows,
                                      local_.data());
    while (found_ > 0 && local_[found_ - 1] >= rows_) --found_;
    const std::uint8_t* const classes =
        facts_.length_classes() + std::size_t{window_} * kWindowRows;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        codes_[i].resize(found_);
        for (std::size_t f = 0; f < found_; ++f) {
            const std::uint16_t row = local_[f];
            const std::uint32_t tf = parts_[i].nibbles[row / 2] >> (row % 2 * 4) & 15U;
            codes_[i][f] = RowCode(tf, classes[row]).bits();
        }
        done_.push_back(i);
    }
}

void JointRows::keep(std::size_t count) noexcept {
    for (std::size_t k = 0; k < count; ++k) local_[k] = local_[kept_[k]];
    for (const std::size_t term : done_) {
        std::uint8_t* const codes = codes_[term].data();
        for (std::size_t k = 0; k < count; ++k) codes[k] = codes[kept_[k]];
    }
    found_ = count;
}

std::size_t JointRows::look_up(const Part& part) {
    std::size_t count = 0;
    if (part.gaps != nullptr) {
        const std::uint32_t begin = part.gaps->first_entry(window_);
        for (std::size_t f = 0; f < found_; ++f) {
            const std::uint32_t entry = part.gaps->find_in(window_, local_[f]);
            if (entry == ListView::kNoEntry) continue;
            kept_[count] = static_cast<std::uint16_t>(f);
            entries_[count++] = entry - begin;
        }
        return count;
    }
    std::size_t first = 0;
    for (std::size_t f = 0; f < found_ && first < part.size; ++f) {
        const std::uint16_t row = local_[f];
        std::size_t left = part.size - first;
        while (left > 1) {
            const std::size_t half = left / 2;
            first += row_at(part.rows, first + half) <= row ? half : 0;
            left -= half;
        }
        kept_[count] = static_cast<std::uint16_t>(f);
        entries_[count] = static_cast<std::uint32_t>(first);
        count += row_at(part.rows, first) == row ? 1 : 0;
    }
    return count;
}

std::size_t JointRows::merge(const Part& part) {
    std::size_t count = 0;
    std::size_t f = 0;
    std::size_t e = 0;
    while (f < found_ && e < part.size) {
        const std::uint16_t a = local_[f];
        const std::uint16_t b = row_at(part.rows, e);
        kept_[count] = static_cast<std::uint16_t>(f);
        entries_[count] = static_cast<std::uint32_t>(e);
        count += a == b ? 1 : 0;
        f += a <= b ? 1 : 0;
        e += b <= a ? 1 : 0;
    }
    return count;
}

void JointRows::keep_in_list(std::size_t term, std::uint32_t least) {
    kept_.resize(found_ + 1);
    entries_.resize(found_ + 1);
    const bool longer = found_ * kMuchLonger < parts_[term].size;
    const std::size_t count = longer ? look_up(parts_[term]) : merge(spelt(term));
    const Part part = parts_[term];
    std::size_t enough = 0;
    for (std::size_t k = 0; k < count; ++k) {
        kept_[enough] = kept_[k];
        entries_[enough] = entries_[k];
        enough += RowCode(part.codes[entries_[k]]).tf() >= least ? 1 : 0;
    }
    keep(enough);
    codes_[term].resize(enough);
    for (std::size_t k = 0; k < enough; ++k) codes_[term][k] = part.codes[entries_[k]];
}

void JointRows::keep_in_column(std::size_t term, std::uint32_t least) {
    const Part part = parts_[term];
    const std::uint8_t* const classes =
        facts_.length_classes() + std::size_t{window_} * kWindowRows;
    kept_.resize(found_ + 1);
    codes_[term].resize(found_ + 1);
    std::size_t count = 0;
    for (std::size_t f = 0; f < found_; ++f) {
        const std::uint16_t row = local_[f];
        const std::uint32_t tf = part.nibbles[row / 2] >> (row % 2 * 4) & 15U;
        kept_[count] = static_cast<std::uint16_t>(f);
        codes_[term][count] = RowCode(tf, classes[row]).bits();
        count += tf >= least ? 1 : 0;
    }
    keep(count);
}

}  // namespace braid::sparse
