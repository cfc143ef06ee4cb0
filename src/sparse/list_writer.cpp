#include "braid/sparse/list_writer.hpp"

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

void ListWriter::put_rows(const TermPostings& term, Bytes& out) const {
    const std::uint32_t windows = (context_.rows + kWindowRows - 1) / kWindowRows;
    std::uint32_t entry = 0;
    for (std::uint32_t window = 0; window < windows; ++window) {
        put(out, entry);
        while (entry < term.rows.size() && term.rows[entry] / kWindowRows == window) ++entry;
    }
    put(out, entry);
    for (const std::uint32_t row : term.rows) {
        put(out, static_cast<std::uint16_t>(row % kWindowRows));
    }
    for (std::size_t i = 0; i < term.rows.size(); ++i) {
        out.push_back(RowCode(term.tfs[i], context_.length_classes[term.rows[i]]).bits());
    }
    for (std::uint32_t i = 0; i < term.rows.size(); ++i) {
        if (term.tfs[i] >= kTopTf) put(out, i);
    }
    for (const std::uint8_t tf : term.tfs) {
        if (tf >= kTopTf) out.push_back(tf);
    }
}

void ListWriter::write(const TermPostings& term, Bytes& out) {
    out.clear();
    if (term.rows.size() < kListRows) return write_run(term, out);
    ListHeader header{.form = ListForm::Rows, .fields = term.fields, .max_tf = term.max_tf};
    for (std::size_t i = 0; i < term.rows.size(); ++i) {
        header.add_row(term.tfs[i], context_.length_classes[term.rows[i]]);
    }
    const Bytes& labels = labels_.of(term.rows);
    header.label_bytes = static_cast<std::uint32_t>(labels.size());
    if (term.id < context_.columns) header.form = ListForm::Column;
    put_list_header(out, header);
    out.insert(out.end(), labels.begin(), labels.end());
    if (header.form == ListForm::Rows) put_rows(term, out);
}

}  // namespace braid::sparse
