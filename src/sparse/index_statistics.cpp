#include "braid/sparse/index_statistics.hpp"

namespace braid::sparse {

Result<> RemovedRows::add(const IndexReader& reader, std::uint32_t row) {
    BRAID_TRY(const RowFacts facts, reader.row_facts());
    BRAID_TRY(const std::uint32_t number, reader.label_number(row));
    BRAID_TRY(ForwardCursor cursor, facts.terms(row));
    row_.clear();
    while (cursor.next()) row_.push_back({.term = cursor.term(), .label = number, .rows = 1});
    if (cursor.broken()) return corrupt_index("the terms of a row cannot be read");
    LabelRows label{.number = number, .facts = {.rows = 1}};
    for (std::size_t f = 0; f < reader.fields(); ++f) {
        label.facts.total_lengths[f] = facts.length(row, f);
    }
    labels_.add(std::span(&label, 1));
    terms_.add(row_);
    return {};
}

void RemovedRows::LabelRows::add(const LabelRows& other) noexcept {
    facts.rows += other.facts.rows;
    for (std::size_t f = 0; f < kMaxFields; ++f) {
        facts.total_lengths[f] += other.facts.total_lengths[f];
    }
}

Result<IndexStatistics> IndexStatistics::create(const IndexReader& reader,
                                                const LabelPredicate& visible,
                                                const RemovedRows* removed) {
    IndexStatistics statistics(reader, removed);
    if (!visible && removed == nullptr) {
        statistics.totals_ = {reader.rows(), reader.header().total_lengths};
        statistics.none_ = false;
        return statistics;
    }
    for (std::uint32_t number = 0; number < reader.labels(); ++number) {
        BRAID_TRY(const LabelFacts label, reader.label(number));
        const bool seen = !visible || visible(label.label);
        statistics.visible_.push_back(seen);
        (seen ? statistics.none_ : statistics.all_) = false;
        if (!seen) continue;
        statistics.totals_.rows += label.rows;
        for (std::size_t f = 0; f < reader.fields(); ++f) {
            statistics.totals_.total_lengths[f] += label.total_lengths[f];
        }
    }
    if (removed == nullptr) return statistics;
    removed->each_label([&](const auto& gone) {
        if (gone.number >= reader.labels() || !statistics.visible_[gone.number]) return;
        statistics.totals_.rows -= gone.facts.rows;
        for (std::size_t f = 0; f < reader.fields(); ++f) {
            statistics.totals_.total_lengths[f] -= gone.facts.total_lengths[f];
        }
    });
    return statistics;
}

Result<std::uint64_t> IndexStatistics::document_frequency(std::string_view term) const {
    BRAID_TRY(const auto entry, reader_->dictionary().find(term));
    if (!entry) return 0;
    return document_frequency(*entry);
}

Result<std::uint64_t> IndexStatistics::document_frequency(const TermEntry& entry) const {
    BRAID_TRY(std::uint64_t df, stored_frequency(entry));
    if (removed_ == nullptr) return df;
    removed_->each_label_of(entry.id, [&](std::uint32_t number, std::uint32_t rows) {
        if (number < visible_.size() && visible_[number]) df -= std::min<std::uint64_t>(df, rows);
    });
    return df;
}

/// Of the index as it was written: from the labels that a list stores, or from those of its rows.
Result<std::uint64_t> IndexStatistics::stored_frequency(const TermEntry& entry) const {
    if (all_) return entry.df;
    if (none_) return 0;
    BRAID_TRY(const ListView list, reader_->list(entry));
    if (!list.label_counts.empty()) return counted_frequency(list.label_counts);
    BRAID_TRY(const RowLabels labels, reader_->row_labels());
    std::uint64_t df = 0;
    for (ListCursor cursor(list, reader_->rows()); cursor.row() != ListCursor::kEnd;
         cursor.next()) {
        const std::uint32_t number = labels.number(cursor.row());
        if (number >= visible_.size()) return corrupt_index("a label does not exist");
        df += visible_[number] ? 1 : 0;
    }
    return df;
}

Result<std::uint64_t> IndexStatistics::counted_frequency(
    std::span<const std::uint8_t> label_counts) const {
    const std::uint8_t* at = label_counts.data();
    const std::uint8_t* const end = at + label_counts.size();
    std::uint64_t df = 0;
    std::uint64_t next = 0;
    while (at != end) {
        std::uint64_t distance = 0;
        std::uint64_t rows = 0;
        if (!get_varint(at, end, distance) || !get_varint(at, end, rows)) {
            return corrupt_index("a list ends within its labels");
        }
        if (distance >= visible_.size() - next) return corrupt_index("a label does not exist");
        next += distance + 1;
        if (visible_[next - 1]) df += rows;
    }
    return df;
}

Result<> IndexStatistics::each(
    const std::function<void(std::string_view term, std::uint64_t df)>& visit) const {
    TermStream terms(reader_->dictionary());
    for (;;) {
        BRAID_TRY(const bool more, terms.next());
        if (!more) return {};
        BRAID_TRY(const std::uint64_t df, document_frequency(terms.entry()));
        if (df > 0) visit(terms.term(), df);
    }
}

}  // namespace braid::sparse
