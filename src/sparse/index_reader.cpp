#include "braid/sparse/index_reader.hpp"

#include <string>

namespace braid::sparse {
namespace {

Result<> expect_size(const store::Section& section, std::uint64_t expected) {
    if (section.size() == expected) return {};
    return corrupt_index("section \"" + std::string(section.name()) + "\" has " +
                         std::to_string(section.size()) + " bytes, not " +
                         std::to_string(expected));
}

}  // namespace

void RowFacts::prefetch(std::uint32_t row) const noexcept {
    prefetch_lengths(row);
    // As a number: an offset that is wrong must not make a pointer.
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(forward_begin_) + offset(row);
    __builtin_prefetch(reinterpret_cast<const void*>(at));       // NOLINT: never read through
    __builtin_prefetch(reinterpret_cast<const void*>(at + 64));  // NOLINT: the same
}

void RowFacts::prefetch_positions(std::uint32_t row) const noexcept {
    const std::uintptr_t at =
        reinterpret_cast<std::uintptr_t>(positions_.place()) + position_offset(row);
    __builtin_prefetch(reinterpret_cast<const void*>(at));  // NOLINT: never read through
}

Result<Positions> RowFacts::positions(std::uint32_t row) const {
    const std::uint64_t begin = position_offset(row);
    const std::uint64_t end = position_offset(row + 1);
    const std::uint64_t count = total_length(row);
    const std::uint64_t size = end - begin;
    const bool whole = begin <= end && (count == 0 ? size == 0 : size % count == 0);
    const std::uint64_t width = count == 0 ? 1 : size / count;
    if (!whole || (width != 1 && width != 2 && width != 4)) {
        return corrupt_index("the positions of a row are not as many as its words");
    }
    BRAID_TRY(const auto bytes, positions_.bytes(begin, size));
    return Positions(octets(bytes).data(), static_cast<std::uint32_t>(width), count);
}

Result<ForwardCursor> RowFacts::terms(std::uint32_t row) const {
    const std::uint64_t begin = offset(row);
    const std::uint64_t end = offset(row + 1);
    if (begin > end) return corrupt_index("the terms of a row end before they begin");
    BRAID_TRY(const auto bytes, forward_.bytes(begin, end - begin));
    return ForwardCursor(octets(bytes), header_->fields, header_->main_field);
}

Result<IndexReader> IndexReader::open(const store::SectionSource& source) {
    IndexReader reader;
    BRAID_TRY(const store::Section header, source.section(kHeaderSection));
    BRAID_TRY(const auto bytes, header.bytes());
    BRAID_TRY(reader.header_, decode_header(bytes));
    BRAID_TRY(reader.dictionary_, TermDictionary::open(source, reader.header_.terms));
    BRAID_TRY(reader.lengths_, source.section(kLengthsSection));
    BRAID_TRY(reader.classes_, source.section(kClassesSection));
    BRAID_TRY(reader.labels_, source.section(kLabelsSection));
    BRAID_TRY(reader.offsets_, source.section(kForwardOffsetsSection));
    BRAID_TRY(reader.forward_, source.section(kForwardSection));
    BRAID_TRY(reader.postings_, source.section(kPostingsSection));
    BRAID_TRY(reader.columns_, source.section(kColumnsSection));
    if (auto offsets = source.section(kPositionOffsetsSection)) {
        reader.position_offsets_ = *offsets;
        BRAID_TRY(reader.positions_, source.section(kPositionsSection));
    } else if (offsets.error().code != ErrorCode::NotFound) {
        return tl::unexpected(std::move(offsets).error());
    }
    BRAID_CHECK(reader.check_sizes());
    return reader;
}

Result<> IndexReader::check_sizes() const {
    const std::uint64_t rows = header_.rows;
    BRAID_CHECK(expect_size(lengths_, header_.lengths_offset(header_.fields)));
    BRAID_CHECK(expect_size(classes_, rows));
    BRAID_CHECK(
        expect_size(labels_, header_.labels * header_.label_entry() + rows * header_.label_width));
    BRAID_CHECK(expect_size(offsets_, (rows + 1) * header_.offset_width));
    if (position_offsets_ && position_offsets_->size() != (rows + 1) * 8) {
        BRAID_CHECK(expect_size(*position_offsets_, (rows + 1) * 4));
    }
    return expect_size(columns_, header_.columns * header_.column_stride());
}

Result<ListView> IndexReader::list(const TermEntry& entry) const {
    ListView list;
    list.entry = entry;
    if (entry.df > header_.rows) return corrupt_index("a term has more rows than the index");
    if (entry.df == 1) {
        if (entry.row >= header_.rows)
            return corrupt_index("a term is in a row that does not exist");
        return list;
    }
    BRAID_TRY(const auto bytes, postings_.bytes(entry.offset, entry.length));
    const auto all = octets(bytes);
    if (entry.df < kListRows) {
        list.form = ListView::Form::Run;
        list.run = all;
        return list;
    }
    const std::uint64_t windows = header_.windows();
    if (all.size() < kListHeaderBytes) return corrupt_index("a list has no header");
    list.header = load_list_header(all.data());
    std::uint64_t need = kListHeaderBytes + std::uint64_t{list.header.label_bytes};
    if (need > all.size()) return corrupt_index("a list ends within its labels");
    list.label_counts = all.subspan(kListHeaderBytes, list.header.label_bytes);
    if (list.header.form == ListForm::Column) {
        list.form = ListView::Form::Column;
        if (entry.id >= header_.columns) return corrupt_index("a column does not exist");
        const std::uint64_t stride = header_.column_stride();
        BRAID_TRY(const auto nibbles, columns_.bytes(entry.id * stride, stride));
        list.tfs = octets(nibbles).data();
        return list;
    }
    if (list.header.form != ListForm::Rows) {
        BRAID_TRY(const auto classes, classes_.bytes());
        BRAID_TRY(list.decoded, decode_list(list.header.form, all.subspan(need), octets(classes)));
        list.directory = octets(std::as_bytes(std::span(list.decoded->directory))).data();
        list.rows = octets(std::as_bytes(std::span(list.decoded->rows))).data();
        list.codes = list.decoded->codes.data();
        list.form = ListView::Form::Rows;
        return list;
    }
    list.form = ListView::Form::Rows;
    list.directory = all.data() + need;
    need += 4 * (windows + 1);
    if (need > all.size()) return corrupt_index("a list ends within its directory");
    const std::uint64_t count = list.first_entry(static_cast<std::uint32_t>(windows));
    list.rows = all.data() + need;
    list.codes = list.rows + 2 * count;
    if (all.size() < need + 3 * count || (all.size() - need - 3 * count) % kOftenBytes != 0) {
        return corrupt_index("a list is cut off");
    }
    list.often = all.subspan(need + 3 * count);
    BRAID_CHECK(check_directory(list.directory, windows));
    return list;
}

std::uint32_t ListView::tf_in(std::uint32_t window, std::uint32_t row) const noexcept {
    std::uint32_t first = first_entry(window);
    std::uint32_t left = count_in(window);
    if (left == 0) return 0;
    // Without a branch for each step: where it ends cannot be foretold.
    while (left > 1) {
        const std::uint32_t half = left / 2;
        first += row_at(first + half) <= row ? half : 0;
        left -= half;
    }
    return row_at(first) == row ? tf_at(first) : 0;
}

std::uint32_t ListView::often_at(std::uint32_t i) const noexcept {
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

Result<RowFacts> IndexReader::row_facts(bool positions) const {
    RowFacts facts;
    facts.header_ = &header_;
    BRAID_TRY(const auto lengths, lengths_.bytes());
    for (std::size_t f = 0; f < header_.fields; ++f) {
        facts.lengths_[f] = octets(lengths).data() + header_.lengths_offset(f);
    }
    BRAID_TRY(const auto classes, classes_.bytes());
    BRAID_TRY(const auto offsets, offsets_.bytes());
    BRAID_TRY(const auto nothing, forward_.bytes(0, 0));
    facts.classes_ = octets(classes).data();
    facts.offsets_ = octets(offsets).data();
    facts.forward_begin_ = octets(nothing).data();
    facts.forward_ = forward_;
    if (positions && position_offsets_) {
        BRAID_TRY(const auto position_offsets, position_offsets_->bytes());
        facts.position_offsets_ = octets(position_offsets).data();
        facts.position_offset_width_ =
            position_offsets.size() == (std::uint64_t{header_.rows} + 1) * 8 ? 8 : 4;
        facts.positions_ = positions_;
    }
    return facts;
}

Result<LabelFacts> IndexReader::label(std::uint32_t number) const {
    BRAID_TRY(const auto bytes,
              labels_.bytes(number * header_.label_entry(), header_.label_entry()));
    const std::uint8_t* at = octets(bytes).data();
    LabelFacts facts{.label = load<std::uint32_t>(at), .rows = load<std::uint32_t>(at + 4)};
    for (std::size_t f = 0; f < header_.fields; ++f) {
        facts.total_lengths[f] = load<std::uint64_t>(at + 8, f);
    }
    return facts;
}

Result<RowLabels> IndexReader::row_labels() const {
    RowLabels labels;
    labels.width_ = header_.label_width;
    const std::uint64_t begin = header_.labels * header_.label_entry();
    BRAID_TRY(const auto bytes, labels_.bytes(begin, labels_.size() - begin));
    labels.numbers_ = octets(bytes).data();
    return labels;
}

Result<std::uint32_t> IndexReader::label_number(std::uint32_t row) const {
    if (header_.label_width == 0) return 0;
    const std::uint64_t begin = header_.labels * header_.label_entry();
    const std::uint64_t at = begin + static_cast<std::uint64_t>(row) * header_.label_width;
    BRAID_TRY(const auto bytes, labels_.bytes(at, header_.label_width));
    const std::uint32_t number = load_narrow(octets(bytes).data(), header_.label_width, 0);
    if (number >= header_.labels) return corrupt_index("a label does not exist");
    return number;
}

Result<std::uint32_t> IndexReader::label_of(std::uint32_t row) const {
    BRAID_TRY(const std::uint32_t number, label_number(row));
    BRAID_TRY(const LabelFacts facts, label(number));
    return facts.label;
}

ListCursor::ListCursor(const ListView& list, std::uint32_t rows) noexcept
    : list_(list), rows_(rows) {
    if (list.form == ListView::Form::Single) {
        take(list.entry.row, list.entry.tf);
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
    const std::uint32_t tf = often ? *at_++ : 1U;
    if (row < rows_) take(static_cast<std::uint32_t>(row), tf);
}

void ListCursor::next_in_windows() noexcept {
    const std::uint32_t windows = (rows_ + kWindowRows - 1) / kWindowRows;
    for (row_ = kEnd; window_ < windows;) {
        if (entry_ >= list_.first_entry(window_ + 1)) {
            ++window_;
            continue;
        }
        const std::uint32_t at = entry_++;
        const std::uint32_t tf = list_.tf_at(at);
        if (tf != 0) return take(window_ * kWindowRows + list_.row_at(at), tf);
    }
}

void ListCursor::next_in_column() noexcept {
    for (row_ = kEnd; next_row_ < rows_;) {
        const std::uint64_t row = next_row_++;
        const std::uint32_t tf = list_.nibble(row);
        if (tf != 0) return take(static_cast<std::uint32_t>(row), tf);
    }
}

}  // namespace braid::sparse
