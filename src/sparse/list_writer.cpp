#include "braid/sparse/list_writer.hpp"

#include <algorithm>

namespace braid::sparse {

void ListWriter::write_run(const TermPostings& term, Bytes& out) const {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < term.rows.size(); ++i) {
        put_varint(out, term.rows[i] - next);
        out.push_back(code(term, i));
        next = term.rows[i] + 1;
    }
}

void ListWriter::write_labels(const TermPostings& term) {
    constexpr std::size_t kRowsPerByte = 8;
    labels_.clear();
    if (context_.label_numbers.empty()) return;
    labels_seen_.clear();
    for (const std::uint32_t row : term.rows) {
        const std::uint32_t label = context_.label_numbers[row];
        if (label_rows_[label]++ == 0) labels_seen_.push_back(label);
    }
    std::ranges::sort(labels_seen_);
    std::uint32_t next = 0;
    for (const std::uint32_t label : labels_seen_) {
        put_varint(labels_, label - next);
        put_varint(labels_, label_rows_[label]);
        label_rows_[label] = 0;
        next = label + 1;
    }
    if (labels_.size() > term.rows.size() / kRowsPerByte) labels_.clear();
}

void ListWriter::write_gaps(const TermPostings& term) {
    constexpr std::uint32_t kMostGap = 255;
    std::uint32_t window = 0;
    std::uint32_t at = 0;
    directory_.assign(1, 0);
    entries_.clear();
    for (std::size_t i = 0; i < term.rows.size(); ++i) {
        for (; window < term.rows[i] / kWindowRows; ++window, at = 0) {
            directory_.push_back(static_cast<std::uint32_t>(entries_.size() / 2));
        }
        const std::uint32_t local = term.rows[i] % kWindowRows;
        for (; local - at > kMostGap; at += kMostGap) {
            entries_.push_back(kMostGap);
            entries_.push_back(0);
        }
        entries_.push_back(static_cast<std::uint8_t>(local - at));
        entries_.push_back(code(term, i));
        at = local;
    }
    const std::size_t windows = (context_.rows + kWindowRows - 1) / kWindowRows;
    directory_.resize(windows + 1, static_cast<std::uint32_t>(entries_.size() / 2));
}

void ListWriter::write_ids(const TermPostings& term) {
    std::uint32_t window = 0;
    directory_.assign(1, 0);
    entries_.clear();
    for (std::size_t i = 0; i < term.rows.size(); ++i) {
        for (; window < term.rows[i] / kWindowRows; ++window) {
            directory_.push_back(static_cast<std::uint32_t>(i));
        }
        put(entries_, static_cast<std::uint16_t>(term.rows[i] % kWindowRows));
    }
    for (std::size_t i = 0; i < term.rows.size(); ++i) entries_.push_back(code(term, i));
    const std::size_t windows = (context_.rows + kWindowRows - 1) / kWindowRows;
    directory_.resize(windows + 1, static_cast<std::uint32_t>(term.rows.size()));
}

void ListWriter::write(const TermPostings& term, Bytes& out) {
    out.clear();
    if (term.rows.size() < kListRows) return write_run(term, out);
    ListHeader header{.form = ListForm::Gaps, .fields = term.fields, .max_tf = term.max_tf};
    for (std::size_t i = 0; i < term.rows.size(); ++i) {
        const std::uint8_t bits = code(term, i);
        header.codes[bits / 32U] |= 1U << (bits % 32U);
    }
    write_labels(term);
    header.label_bytes = static_cast<std::uint32_t>(labels_.size());
    directory_.clear();
    entries_.clear();
    if (term.id < context_.columns) {
        header.form = ListForm::Column;
    } else {
        write_gaps(term);
        if (entries_.size() > 3 * term.rows.size()) {
            header.form = ListForm::Ids;
            write_ids(term);
        }
    }
    put_list_header(out, header);
    out.insert(out.end(), labels_.begin(), labels_.end());
    for (const std::uint32_t start : directory_) put(out, start);
    out.insert(out.end(), entries_.begin(), entries_.end());
}

}  // namespace braid::sparse
