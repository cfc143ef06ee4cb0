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
    if (!has_forward()) return;
    // As an integer: a wrong offset must not become a pointer.
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

Result<> RowFacts::read_counts(std::uint32_t row, std::uint32_t id, FieldCounts& counts) const {
    BRAID_TRY(ForwardCursor terms, this->terms(row));
    while (terms.next() && terms.term() <= id) {
        if (terms.term() != id) continue;
        for (std::uint32_t f = 0; f < header_->fields; ++f) counts[f] = terms.count(f);
        return {};
    }
    return corrupt_index("a list has a row that lacks the term");
}

Result<IndexReader> IndexReader::open(const store::SectionSource& source) {
    IndexReader reader;
    BRAID_TRY(const store::Section header, source.section(kHeaderSection));
    BRAID_TRY(const auto bytes, header.bytes());
    BRAID_TRY(reader.header_, decode_header(bytes));
    const TermFormat format{reader.header_.version, reader.header_.fields};
    BRAID_TRY(reader.dictionary_, TermDictionary::open(source, reader.header_.terms, format));
    BRAID_TRY(reader.lengths_, source.section(kLengthsSection));
    BRAID_TRY(reader.classes_, source.section(kClassesSection));
    BRAID_TRY(reader.labels_, source.section(kLabelsSection));
    BRAID_TRY(reader.postings_, source.section(kPostingsSection));
    if (reader.header_.has_forward()) BRAID_CHECK(reader.open_forward(source));
    BRAID_CHECK(reader.check_sizes());
    return reader;
}

Result<> IndexReader::open_forward(const store::SectionSource& source) {
    BRAID_TRY(offsets_, source.section(kForwardOffsetsSection));
    BRAID_TRY(forward_, source.section(kForwardSection));
    BRAID_TRY(columns_, source.section(kColumnsSection));
    if (auto offsets = source.section(kPositionOffsetsSection)) {
        position_offsets_ = *offsets;
        BRAID_TRY(positions_, source.section(kPositionsSection));
    } else if (offsets.error().code != ErrorCode::NotFound) {
        return tl::unexpected(std::move(offsets).error());
    }
    return {};
}

Result<> IndexReader::check_sizes() const {
    const std::uint64_t rows = header_.rows;
    BRAID_CHECK(expect_size(lengths_, header_.lengths_offset(header_.fields)));
    BRAID_CHECK(expect_size(classes_, rows));
    BRAID_CHECK(
        expect_size(labels_, header_.labels * header_.label_entry() + rows * header_.label_width));
    if (!header_.has_forward()) return {};
    BRAID_CHECK(expect_size(offsets_, (rows + 1) * header_.offset_width));
    if (position_offsets_ && position_offsets_->size() != (rows + 1) * 8) {
        BRAID_CHECK(expect_size(*position_offsets_, (rows + 1) * 4));
    }
    return expect_size(columns_, header_.columns * header_.column_stride());
}

Result<ListView> IndexReader::list(const TermEntry& entry) const {
    ListView list;
    list.entry = entry;
    list.counted = !header_.has_forward();
    list.fields = static_cast<std::uint8_t>(header_.fields);
    list.main_field = static_cast<std::uint8_t>(header_.main_field);
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
    if (all.size() < kListHeaderBytes) return corrupt_index("a list has no header");
    list.header = load_list_header(all.data());
    const std::uint64_t need = kListHeaderBytes + std::uint64_t{list.header.label_bytes};
    if (need > all.size()) return corrupt_index("a list ends within its labels");
    list.label_counts = all.subspan(kListHeaderBytes, list.header.label_bytes);
    BRAID_CHECK(list.counted ? read_counted_list(all, list) : read_list(all, list));
    return list;
}

Result<> IndexReader::read_list(std::span<const std::uint8_t> all, ListView& list) const {
    const TermEntry& entry = list.entry;
    const std::uint64_t windows = header_.windows();
    std::uint64_t need = kListHeaderBytes + std::uint64_t{list.header.label_bytes};
    if (list.header.form == ListForm::Column) {
        list.form = ListView::Form::Column;
        if (entry.id >= header_.columns) return corrupt_index("a column does not exist");
        const std::uint64_t stride = header_.column_stride();
        BRAID_TRY(const auto nibbles, columns_.bytes(entry.id * stride, stride));
        list.tfs = octets(nibbles).data();
        return {};
    }
    if (list.header.form != ListForm::Rows) {
        BRAID_TRY(const auto classes, classes_.bytes());
        BRAID_TRY(list.decoded, decode_list(list.header.form, all.subspan(need), octets(classes)));
        list.directory = octets(std::as_bytes(std::span(list.decoded->directory))).data();
        list.rows = octets(std::as_bytes(std::span(list.decoded->rows))).data();
        list.codes = list.decoded->codes.data();
        list.form = ListView::Form::Rows;
        return {};
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
    return check_directory(list.directory, 4, windows);
}

Result<> IndexReader::read_counted_list(std::span<const std::uint8_t> all, ListView& list) const {
    const ListHeader& header = list.header;
    std::uint64_t need = kListHeaderBytes + std::uint64_t{header.label_bytes};
    if (header.form == ListForm::CountedColumn) {
        list.form = ListView::Form::Column;
        const std::uint64_t begin = column_begin(list.entry.offset + need) - list.entry.offset;
        need = begin + header_.column_stride();
        if (need > all.size()) return corrupt_index("a list is cut off");
        list.tfs = all.data() + begin;
    } else if (header.form == ListForm::CountedRows || header.form == ListForm::CountedGaps) {
        list.form = ListView::Form::Rows;
        list.entry_width = header.entry_width;
        if (!is_width(list.entry_width)) return corrupt_index("a list has an unknown form");
        const std::uint64_t windows = header_.windows();
        list.directory = all.data() + need;
        need += list.entry_width * (windows + 1);
        if (need > all.size()) return corrupt_index("a list ends within its directory");
        const std::uint64_t count = list.first_entry(static_cast<std::uint32_t>(windows));
        if (header.form == ListForm::CountedRows) {
            list.rows = all.data() + need;
            list.codes = list.rows + 2 * count;
            need += 3 * count;
        } else {
            if (count < kListRows) return corrupt_index("a list is cut off");
            list.marks = all.data() + need;
            list.gaps = list.marks + 2 * ((count + kMarkedEntries - 1) / kMarkedEntries);
            list.codes = list.gaps + count;
            need = static_cast<std::uint64_t>(list.codes - all.data()) + count;
        }
        if (need > all.size()) return corrupt_index("a list is cut off");
        BRAID_CHECK(check_directory(list.directory, list.entry_width, windows));
    } else {
        return corrupt_index("a list has an unknown form");
    }
    BRAID_TRY(list.apart,
              CountsApart::create(all.subspan(need), header.count_width, header_.fields));
    return {};
}

Result<RowFacts> IndexReader::row_facts(bool positions) const {
    RowFacts facts;
    facts.header_ = &header_;
    BRAID_TRY(const auto lengths, lengths_.bytes());
    for (std::size_t f = 0; f < header_.fields; ++f) {
        facts.lengths_[f] = octets(lengths).data() + header_.lengths_offset(f);
    }
    BRAID_TRY(const auto classes, classes_.bytes());
    facts.classes_ = octets(classes).data();
    if (!header_.has_forward()) return facts;
    BRAID_TRY(const auto offsets, offsets_.bytes());
    BRAID_TRY(const auto nothing, forward_.bytes(0, 0));
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

}  // namespace braid::sparse
