#include "braid/sparse/list_writer.hpp"

#include <algorithm>

namespace braid::sparse {

void ListWriter::write_run(const TermPostings& term, Bytes& out) {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < term.rows.size(); ++i) {
        const bool often = term.tfs[i] > 1;
        put_varint(out, std::uint64_t{term.rows[i] - next} << 1 | (often ? 1U : 0U));
        if (often) out.push_back(term.tfs[i]);
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

void ListWriter::make_gaps(const TermPostings& term, std::uint32_t most) {
    std::uint32_t window = 0;
    std::uint32_t at = 0;
    directory_.assign(1, 0);
    gaps_.clear();
    tfs_.clear();
    for (std::size_t i = 0; i < term.rows.size(); ++i) {
        for (; window < term.rows[i] / kWindowRows; ++window, at = 0) {
            directory_.push_back(static_cast<std::uint32_t>(gaps_.size()));
        }
        const std::uint32_t local = term.rows[i] % kWindowRows;
        for (; local - at > most; at += most) {
            gaps_.push_back(static_cast<std::uint16_t>(most));
            tfs_.push_back(0);
        }
        gaps_.push_back(static_cast<std::uint16_t>(local - at));
        tfs_.push_back(std::min<std::uint8_t>(term.tfs[i], kTopNibble));
        at = local;
    }
    const std::size_t windows = (context_.rows + kWindowRows - 1) / kWindowRows;
    directory_.resize(windows + 1, static_cast<std::uint32_t>(gaps_.size()));
}

void ListWriter::put_gaps(Bytes& out) const {
    for (const std::uint16_t gap : gaps_) out.push_back(static_cast<std::uint8_t>(gap));
    for (std::size_t i = 0; i < tfs_.size(); i += 2) {
        const unsigned high = i + 1 < tfs_.size() ? tfs_[i + 1] : 0U;
        out.push_back(static_cast<std::uint8_t>(tfs_[i] | high << 4));
    }
}

void ListWriter::put_wide_gaps(Bytes& out) const {
    for (std::size_t i = 0; i < gaps_.size(); ++i) put(out, WideGap(gaps_[i], tfs_[i]).bits());
}

void ListWriter::write(const TermPostings& term, Bytes& out) {
    out.clear();
    if (term.rows.size() < kListRows) return write_run(term, out);
    ListHeader header{.form = ListForm::Gaps, .fields = term.fields, .max_tf = term.max_tf};
    for (std::size_t i = 0; i < term.rows.size(); ++i) {
        header.add_row(term.tfs[i], context_.length_classes[term.rows[i]]);
    }
    write_labels(term);
    header.label_bytes = static_cast<std::uint32_t>(labels_.size());
    directory_.clear();
    gaps_.clear();
    tfs_.clear();
    if (term.id < context_.columns) {
        header.form = ListForm::Column;
    } else {
        constexpr std::uint32_t kMostGap = 255;
        make_gaps(term, kMostGap);
        // A gap takes a byte and a half, a wide one two.
        if (3 * gaps_.size() > 4 * term.rows.size()) {
            header.form = ListForm::WideGaps;
            make_gaps(term, WideGap::kMost);
        }
    }
    put_list_header(out, header);
    out.insert(out.end(), labels_.begin(), labels_.end());
    for (const std::uint32_t start : directory_) put(out, start);
    if (header.form == ListForm::Gaps) put_gaps(out);
    if (header.form == ListForm::WideGaps) put_wide_gaps(out);
}

}  // namespace braid::sparse
