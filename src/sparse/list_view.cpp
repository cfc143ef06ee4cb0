#include "braid/sparse/list_view.hpp"

#include <algorithm>
#include <array>

namespace braid::sparse {
namespace {

std::uint32_t sum_of_eight(const std::uint8_t* bytes) noexcept {
    constexpr std::uint64_t kEven = 0x00FF00FF00FF00FF;
    const auto eight = load<std::uint64_t>(bytes);
    const std::uint64_t pairs = (eight & kEven) + (eight >> 8U & kEven);
    return static_cast<std::uint32_t>(pairs * 0x0001000100010001 >> 48U);
}

}  // namespace

std::uint32_t ListView::find_in_gaps(std::uint32_t window, std::uint32_t row) const noexcept {
    static_assert(kMarkedEntries == 32);
    constexpr std::uint32_t kHalf = kMarkedEntries / 2;
    // No branch per step anywhere: where it ends is unpredictable.
    std::uint32_t at = first_entry(window);
    const std::uint32_t end = first_entry(window + 1);
    const std::uint32_t first_mark = (at + kMarkedEntries - 1) / kMarkedEntries;
    const std::uint32_t end_mark = (end + kMarkedEntries - 1) / kMarkedEntries;
    std::uint32_t passed = 0;  // marks whose entries begin at or before the row
    for (std::uint32_t left = std::max(end_mark, first_mark) - first_mark + 1; left > 1;) {
        const std::uint32_t half = left / 2;
        const auto begin = load<std::uint16_t>(marks, first_mark + passed + half - 1);
        passed += begin <= row ? half : 0;
        left -= half;
    }
    std::uint32_t after = 0;  // the row behind the entries so far
    if (passed > 0) {
        at = (first_mark + passed - 1) * kMarkedEntries;
        after = load<std::uint16_t>(marks, first_mark + passed - 1);
    }
    // What is read past the last entry is codes, of which there are enough.
    const std::uint32_t half_sum = sum_of_eight(gaps + at) + sum_of_eight(gaps + at + 8);
    const bool second = after + half_sum <= row;
    at += second ? kHalf : 0;
    after += second ? half_sum : 0;
    std::array<std::uint32_t, kHalf + 1> reached;  // NOLINT: written before it is read
    std::uint32_t before = 0;                      // entries that lie before the row
    for (std::uint32_t i = 0; i < kHalf; ++i) {
        after += gaps[at + i];
        reached[i] = after;
        before += after <= row ? 1 : 0;
    }
    reached[kHalf] = 0;
    at += before;
    const bool found = at < end && reached[before] == row + 1 && RowCode(codes[at]).tf() > 0;
    return found ? at : kNoEntry;
}

std::uint32_t ListView::find_in(std::uint32_t window, std::uint32_t row) const noexcept {
    if (gaps != nullptr) return find_in_gaps(window, row);
    std::uint32_t first = first_entry(window);
    std::uint32_t left = count_in(window);
    if (left == 0) return kNoEntry;
    // No branch per step: where it ends is unpredictable.
    while (left > 1) {
        const std::uint32_t half = left / 2;
        first += row_at(first + half) <= row ? half : 0;
        left -= half;
    }
    return row_at(first) == row ? first : kNoEntry;
}

std::uint32_t ListView::tf_in(std::uint32_t window, std::uint32_t row) const noexcept {
    const std::uint32_t found = find_in(window, row);
    return found == kNoEntry ? 0 : tf_at(found);
}

std::uint32_t ListView::tf_in_column(std::uint32_t row) const noexcept {
    const std::uint32_t tf = nibble(row);
    if (tf < kTopNibble) return tf;
    return counted ? std::min(apart.total(row), kMostRunTf) : kMostRunTf;
}

bool ListView::counts_of(std::uint32_t row, FieldCounts& counts) const noexcept {
    counts.fill(0);
    std::uint32_t tf = 0;
    std::uint32_t number = row;
    switch (form) {
        case Form::Single: {
            if (row != entry.row) return false;
            const std::uint8_t* at = entry.counts.data();
            counts[main_field] = 1;
            return at == nullptr || get_counts(at, at + entry.counts.size(), fields, counts);
        }
        case Form::Run:
            return false;
        case Form::Column:
            tf = nibble(row);
            break;
        default:
            number = find_in(row / kWindowRows, row % kWindowRows);
            tf = number == kNoEntry ? 0 : RowCode(codes[number]).tf();
    }
    if (tf == 0) return false;
    if (!apart.find(number, counts)) counts[main_field] = tf;
    return true;
}

std::uint32_t ListView::often_at(std::uint32_t i) const noexcept {
    if (counted) return std::min(apart.total(i), kMostRunTf);
    const std::size_t count = often.size() / kOftenBytes;
    std::size_t first = 0;
    for (std::size_t left = count; left > 0;) {
        const std::size_t half = left / 2;
        if (load<std::uint32_t>(often.data(), first + half) < i) {
            first += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    if (first == count || load<std::uint32_t>(often.data(), first) != i) return kMostRunTf;
    return often[count * sizeof(std::uint32_t) + first];
}

ListCursor::ListCursor(const ListView& list, std::uint32_t rows) noexcept
    : list_(list), rows_(rows) {
    if (list.form == ListView::Form::Single) {
        take(list.entry.row, list.entry.tf);
        const std::uint8_t* at = list.entry.counts.data();
        if (at != nullptr && get_counts(at, at + list.entry.counts.size(), list.fields, counts_)) {
            take_counts();
        }
        return;
    }
    at_ = list_.run.data();
    next();
}

void ListCursor::next() noexcept {
    switch (list_.form) {
        case ListView::Form::Single:
            row_ = kEnd;
            return;
        case ListView::Form::Run:
            return next_in_run();
        case ListView::Form::Column:
            return next_in_column();
        default:
            return next_in_windows();
    }
}

void ListCursor::next_in_run() noexcept {
    const std::uint8_t* end = list_.run.data() + list_.run.size();
    std::uint64_t value = 0;
    row_ = kEnd;
    if (!get_varint(at_, end, value) || value >> 1 > kMaxRows) return;
    const bool often = (value & 1) != 0;
    if (often && at_ == end) return;
    const std::uint64_t row = next_row_ + (value >> 1);
    next_row_ = row + 1;
    if (often && list_.counted && !get_counts(at_, end, list_.fields, counts_)) return;
    const std::uint32_t tf = often && !list_.counted ? *at_++ : 1U;
    if (row >= rows_) return;
    take(static_cast<std::uint32_t>(row), tf);
    if (often && list_.counted) take_counts();
}

void ListCursor::next_in_windows() noexcept {
    const std::uint32_t windows = (rows_ + kWindowRows - 1) / kWindowRows;
    for (row_ = kEnd; window_ < windows;) {
        if (entry_ >= list_.first_entry(window_ + 1)) {
            ++window_;
            after_ = 0;
            continue;
        }
        const std::uint32_t at = entry_++;
        if (list_.gaps != nullptr) after_ += list_.gaps[at];
        const std::uint32_t local =
            list_.gaps != nullptr ? (after_ - 1) % kWindowRows : list_.row_at(at);
        const std::uint32_t row = window_ * kWindowRows + local;
        const std::uint32_t tf = list_.counted ? list_.code_at(at).tf() : list_.tf_at(at);
        if (tf == 0) continue;
        take(row, tf);
        if (list_.counted && apart_.find(list_.apart, at, counts_)) take_counts();
        return;
    }
}

void ListCursor::next_in_column() noexcept {
    for (row_ = kEnd; next_row_ < rows_;) {
        const std::uint64_t row = next_row_++;
        const std::uint32_t tf = list_.nibble(row);
        if (tf == 0) continue;
        take(static_cast<std::uint32_t>(row), tf);
        if (list_.counted && apart_.find(list_.apart, row_, counts_)) take_counts();
        return;
    }
}

}  // namespace braid::sparse
