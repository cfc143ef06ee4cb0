#include "braid/sparse/counted_list.hpp"

#include <algorithm>
#include <limits>

namespace braid::sparse {

void CountedListWriter::write_run(const CountedRows& term, Bytes& out) const {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < term.rows.size(); ++i) {
        const std::uint32_t* const counts = term.counts_of(i, context_.fields);
        const bool plain = is_plain(counts, 1);
        put_varint(out, std::uint64_t{term.rows[i] - next} << 1 | (plain ? 0U : 1U));
        if (!plain) put_counts(out, counts, context_.fields);
        next = term.rows[i] + 1;
    }
}

void CountedListWriter::put_rows(const CountedRows& term, std::uint32_t width, Bytes& out) const {
    const std::uint32_t windows = (context_.rows + kWindowRows - 1) / kWindowRows;
    std::uint32_t entry = 0;
    for (std::uint32_t window = 0; window < windows; ++window) {
        put_narrow(out, width, entry);
        while (entry < term.rows.size() && term.rows[entry] / kWindowRows == window) ++entry;
    }
    put_narrow(out, width, entry);
    const std::size_t begin = out.size();
    const std::size_t size = term.rows.size();
    out.resize(begin + 3 * size);
    std::uint8_t* const rows = out.data() + begin;
    std::uint8_t* const codes = rows + 2 * size;
    for (std::size_t i = 0; i < size; ++i) {
        const auto local = static_cast<std::uint16_t>(term.rows[i] % kWindowRows);
        std::memcpy(rows + 2 * i, &local, sizeof(local));
        codes[i] = RowCode(totals_[i], context_.length_classes[term.rows[i]]).bits();
    }
}

std::uint32_t CountedListWriter::count_gaps(std::span<const std::uint32_t> rows) const noexcept {
    std::uint64_t count = 0;
    std::uint32_t before = 0;  // where the window's next row would be at a distance of 1
    for (const std::uint32_t row : rows) {
        before = std::max(before, row / kWindowRows * kWindowRows);
        count += (row - before) / kMostGap + 1;
        before = row + 1;
    }
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

void CountedListWriter::put_gaps(const CountedRows& term, std::uint32_t width, Bytes& out) {
    Bytes gaps;
    Bytes codes;
    Bytes marks;
    std::uint32_t before = 0;
    const auto put_entry = [&](std::uint32_t gap, RowCode code) {
        if (gaps.size() % kMarkedEntries == 0) {
            put(marks, static_cast<std::uint16_t>(before % kWindowRows));
        }
        gaps.push_back(static_cast<std::uint8_t>(gap));
        codes.push_back(code.bits());
        before += gap;
    };
    const std::uint32_t windows = (context_.rows + kWindowRows - 1) / kWindowRows;
    std::size_t i = 0;
    for (std::uint32_t window = 0; window < windows; ++window) {
        put_narrow(out, width, static_cast<std::uint32_t>(gaps.size()));
        before = window * kWindowRows;
        for (; i < term.rows.size() && term.rows[i] / kWindowRows == window; ++i) {
            std::uint32_t gap = term.rows[i] + 1 - before;
            for (; gap > kMostGap; gap -= kMostGap) put_entry(kMostGap, RowCode(0));
            numbers_.push_back(static_cast<std::uint32_t>(gaps.size()));
            put_entry(gap, RowCode(totals_[i], context_.length_classes[term.rows[i]]));
        }
    }
    put_narrow(out, width, static_cast<std::uint32_t>(gaps.size()));
    for (const Bytes& part : {marks, gaps, codes}) out.insert(out.end(), part.begin(), part.end());
}

void CountedListWriter::put_column(const CountedRows& term, std::uint64_t offset,
                                   Bytes& out) const {
    const std::uint64_t begin = column_begin(offset + out.size()) - offset;
    const std::uint64_t stride = (static_cast<std::uint64_t>(context_.rows) + 63) / 64 * 32;
    out.resize(begin + stride);
    for (std::size_t i = 0; i < term.rows.size(); ++i) {
        const std::uint32_t tf = std::min(totals_[i], kTopNibble);
        std::uint8_t& pair = out[begin + term.rows[i] / 2];
        pair = static_cast<std::uint8_t>(pair | tf << (term.rows[i] % 2 * 4));
    }
}

void CountedListWriter::put_apart(const CountedRows& term, bool column, std::uint32_t width,
                                  Bytes& out) const {
    for (const std::uint32_t place : apart_) {
        if (column) {
            put(out, term.rows[place]);
        } else {
            put(out, numbers_.empty() ? place : numbers_[place]);
        }
    }
    for (const std::uint32_t place : apart_) {
        for (std::uint32_t f = 0; f < context_.fields; ++f) {
            put_narrow(out, width, term.counts_of(place, context_.fields)[f]);
        }
    }
}

void CountedListWriter::write(const CountedRows& term, bool column, std::uint64_t offset,
                              Bytes& out) {
    out.clear();
    if (term.rows.size() < kListRows) return write_run(term, out);
    ListHeader header{.form = column ? ListForm::CountedColumn : ListForm::CountedRows};
    const std::uint32_t most = (column ? kTopNibble : kTopTf) - 1;
    totals_.clear();
    apart_.clear();
    std::uint32_t largest = 0;
    for (std::uint32_t i = 0; i < term.rows.size(); ++i) {
        const std::uint32_t* const counts = term.counts_of(i, context_.fields);
        for (std::uint32_t f = 0; f < context_.fields; ++f) {
            if (counts[f] != 0) header.fields = static_cast<std::uint8_t>(header.fields | 1U << f);
        }
        totals_.push_back(total_of(counts, context_.fields));
        header.max_tf = std::max(header.max_tf, totals_.back());
        header.add_row(totals_.back(), context_.length_classes[term.rows[i]]);
        if (is_plain(counts, most)) continue;
        apart_.push_back(i);
        largest = std::max(largest, *std::max_element(counts, counts + context_.fields));
    }
    const Bytes& labels = labels_.of(term.rows);
    header.label_bytes = static_cast<std::uint32_t>(labels.size());
    header.count_width = static_cast<std::uint8_t>(width_of(largest));
    numbers_.clear();
    auto entries = static_cast<std::uint32_t>(term.rows.size());
    // Distances are smaller than rows but take longer to walk, so they are for frequent terms,
    // whose lists only some of the queries walk.
    if (!column && std::uint64_t{entries} * kGapsFrom >= context_.rows) {
        header.form = ListForm::CountedGaps;
        entries = count_gaps(term.rows);
    }
    header.entry_width = static_cast<std::uint8_t>(width_of(entries));
    put_list_header(out, header);
    out.insert(out.end(), labels.begin(), labels.end());
    if (column) {
        put_column(term, offset, out);
    } else if (header.form == ListForm::CountedGaps) {
        put_gaps(term, header.entry_width, out);
    } else {
        put_rows(term, header.entry_width, out);
    }
    put_apart(term, column, header.count_width, out);
}

Result<CountsApart> CountsApart::create(std::span<const std::uint8_t> bytes, std::uint32_t width,
                                        std::uint32_t fields) {
    const std::uint64_t each = sizeof(std::uint32_t) + std::uint64_t{width} * fields;
    if ((width != 1 && width != 2 && width != 4) || bytes.size() % each != 0) {
        return corrupt_index("a list is cut off");
    }
    CountsApart apart;
    apart.size_ = static_cast<std::uint32_t>(bytes.size() / each);
    apart.numbers_ = bytes.data();
    apart.counts_ = bytes.data() + sizeof(std::uint32_t) * apart.size_;
    apart.width_ = static_cast<std::uint8_t>(width);
    apart.fields_ = static_cast<std::uint8_t>(fields);
    return apart;
}

std::uint32_t CountsApart::place_of(std::uint32_t number) const noexcept {
    std::uint32_t first = 0;
    for (std::uint32_t left = size_; left > 0;) {
        const std::uint32_t half = left / 2;
        if (this->number(first + half) < number) {
            first += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return first < size_ && this->number(first) == number ? first : size_;
}

void CountsApart::read(std::uint32_t place, FieldCounts& counts) const noexcept {
    for (std::uint32_t f = 0; f < fields_; ++f) {
        counts[f] = load_narrow(counts_, width_, std::size_t{place} * fields_ + f);
    }
}

bool CountsApart::find(std::uint32_t number, FieldCounts& counts) const noexcept {
    const std::uint32_t place = place_of(number);
    if (place == size_) return false;
    counts.fill(0);
    read(place, counts);
    return true;
}

std::uint32_t CountsApart::total(std::uint32_t number) const noexcept {
    FieldCounts counts;
    return find(number, counts) ? total_of(counts.data(), fields_) : 0;
}

}  // namespace braid::sparse
