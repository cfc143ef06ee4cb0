#include "braid/sparse/index_statistics.hpp"

#include <algorithm>
#include <array>

#include "braid/sparse/count_finder.hpp"

namespace braid::sparse {

namespace {

// The cost of looking up the terms of one row, counted in postings walked.
constexpr std::uint64_t kLookUpCost = 12'000;

}  // namespace

Result<> RemovedRows::add(const IndexReader& reader, std::span<const std::uint32_t> rows,
                          const TermsOfRow& terms_of) {
    BRAID_TRY(const RowFacts facts, reader.row_facts());
    const bool few = terms_of && rows.size() < 1 + reader.header().postings / kLookUpCost;
    std::vector<std::uint32_t> left;  // rows whose terms only the lists know
    for (const std::uint32_t row : rows) {
        BRAID_CHECK(add_label(reader, facts, row));
        BRAID_TRY(const std::uint32_t label, reader.label_number(row));
        if (facts.has_forward()) {
            BRAID_CHECK(read_forward(facts, row, label));
        } else {
            bool found = false;
            if (few) {
                BRAID_TRY(const auto terms, terms_of(row));
                BRAID_TRY(found, look_up(reader, facts, row, label, terms));
            }
            if (!found) {
                left.push_back(row);
                continue;
            }
        }
        terms_.add(row_);
    }
    return left.empty() ? Result<>() : walk_lists(reader, left);
}

Result<> RemovedRows::add_label(const IndexReader& reader, const RowFacts& facts,
                                std::uint32_t row) {
    BRAID_TRY(const std::uint32_t number, reader.label_number(row));
    LabelRows label{.number = number, .facts = {.rows = 1}};
    for (std::size_t f = 0; f < reader.fields(); ++f) {
        label.facts.total_lengths[f] = facts.length(row, f);
    }
    labels_.add(std::span(&label, 1));
    return {};
}

Result<> RemovedRows::read_forward(const RowFacts& facts, std::uint32_t row, std::uint32_t label) {
    BRAID_TRY(ForwardCursor cursor, facts.terms(row));
    row_.clear();
    while (cursor.next()) row_.push_back({.term = cursor.term(), .label = label, .rows = 1});
    if (cursor.broken()) return corrupt_index("the terms of a row cannot be read");
    return {};
}

Result<bool> RemovedRows::look_up(const IndexReader& reader, const RowFacts& facts,
                                  std::uint32_t row, std::uint32_t label,
                                  std::span<const std::string> terms) {
    row_.clear();
    std::array<std::uint64_t, kMaxFields> found{};
    FieldCounts counts;
    for (const std::string& term : terms) {
        BRAID_TRY(const auto entry, reader.dictionary().find(term));
        if (!entry) continue;
        BRAID_TRY(const CountFinder finder, CountFinder::create(reader, *entry));
        if (!finder.find(row, counts)) continue;
        row_.push_back({.term = entry->id, .label = label, .rows = 1});
        for (std::size_t f = 0; f < reader.fields(); ++f) found[f] += counts[f];
    }
    // A row has no further terms if these account for all of its words.
    for (std::size_t f = 0; f < reader.fields(); ++f) {
        if (found[f] != facts.length(row, f)) return false;
    }
    std::ranges::sort(row_, {}, &TermRows::key);
    return std::ranges::adjacent_find(row_, {}, &TermRows::key) == row_.end();
}

Result<> RemovedRows::walk_lists(const IndexReader& reader, std::span<const std::uint32_t> rows) {
    std::vector<std::uint32_t> labels(reader.rows(), 0);  // of those rows, their numbers from 1
    for (const std::uint32_t row : rows) {
        BRAID_TRY(const std::uint32_t label, reader.label_number(row));
        labels[row] = label + 1;
    }
    std::vector<TermRows> found;
    std::vector<std::uint32_t> seen;  // labels of the rows of one term
    TermStream terms(reader.dictionary());
    for (;;) {
        BRAID_TRY(const bool more, terms.next());
        if (!more) break;
        BRAID_TRY(const ListView list, reader.list(terms.entry()));
        seen.clear();
        for (ListCursor cursor(list, reader.rows()); cursor.row() != ListCursor::kEnd;
             cursor.next()) {
            if (labels[cursor.row()] != 0) seen.push_back(labels[cursor.row()] - 1);
        }
        std::ranges::sort(seen);
        for (const std::uint32_t label : seen) {
            const bool same = !found.empty() && found.back().term == terms.entry().id &&
                              found.back().label == label;
            if (!same) found.push_back({.term = terms.entry().id, .label = label, .rows = 0});
            ++found.back().rows;
        }
    }
    terms_.add(found);
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

/// For the index as written: from the labels that a list stores, or from those of its rows.
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
