#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "braid/sparse/facts_writer.hpp"
#include "braid/sparse/forward_list.hpp"
#include "braid/sparse/index_writer.hpp"
#include "braid/sparse/list_writer.hpp"
#include "braid/sparse/term_dictionary.hpp"

namespace braid::sparse {
namespace {

constexpr std::uint32_t kNoTerm = std::numeric_limits<std::uint32_t>::max();

/// Writes one version 3 index, section by section.
class ForwardIndexWriter {
    static constexpr std::size_t kWriteBytes = 1U << 20;

public:
    ForwardIndexWriter(const RowSource& source, const WriteOptions& options,
                       store::SectionSink& sink)
        : source_(source), options_(options), sink_(sink), facts_(header_, sink) {
        header_.fields = source.fields();
    }

    Result<> run() {
        BRAID_CHECK(look_at_rows());
        number_terms();
        BRAID_CHECK(facts_.write());
        choose_columns();
        BRAID_CHECK(write_forward_lists());
        if (source_.has_positions()) BRAID_CHECK(write_positions());
        BRAID_CHECK(write_columns());
        BRAID_CHECK(write_postings());
        BRAID_CHECK(write_terms());
        BRAID_CHECK(sink_.begin(kHeaderSection));
        return sink_.write(raw(encode_header(header_)));
    }

private:
    /// What is known of a term, by its place in byte order.
    struct Term {
        std::uint32_t df = 0;
        std::uint32_t max_tf = 0;
        std::uint32_t id = kNoTerm;
        std::uint8_t fields = 0;
        std::uint64_t place = 0;  // bytes of the run or list; of a single row: it
    };

    Result<> look_at_rows();
    void number_terms();
    void choose_columns();
    Result<> write_forward_lists();
    Result<> write_positions();
    Result<> write_offsets(std::string_view section, const std::vector<std::uint64_t>& offsets,
                           std::uint32_t width);
    Result<> write_columns();
    Result<> write_postings();
    Result<> write_lists(std::uint32_t begin, std::uint32_t end, ListWriter& lists);
    Result<> write_terms();

    /// Flushes `buffer` when it is large, or at the end.
    Result<> flush(Bytes& buffer, std::size_t least) {
        if (buffer.size() < least) return {};
        BRAID_CHECK(sink_.write(raw(buffer)));
        buffer.clear();
        return {};
    }
    const RowSource& source_;
    WriteOptions options_;
    store::SectionSink& sink_;
    IndexHeader header_;
    std::vector<Term> terms_;
    FactsWriter facts_;
};

Result<> ForwardIndexWriter::look_at_rows() {
    terms_.resize(source_.terms());
    std::array<std::uint64_t, kMaxFields> plain{};
    BRAID_CHECK(source_.each_row([&](const SourceRow& row) -> Result<> {
        if (auto added = facts_.add(row.label, row.lengths); !added) return added;
        header_.postings += row.terms.size();
        for (std::size_t i = 0; i < row.terms.size(); ++i) {
            Term& term = terms_[row.terms[i]];
            ++term.df;
            const std::uint32_t tf = total_of(row.counts[i].data(), header_.fields);
            term.max_tf = std::max(term.max_tf, tf);
            for (std::size_t f = 0; f < header_.fields; ++f) {
                if (row.counts[i][f] == 0) continue;
                term.fields = static_cast<std::uint8_t>(term.fields | 1U << f);
                if (tf == 1) ++plain[f];
            }
        }
        return {};
    }));
    header_.main_field =
        static_cast<std::uint32_t>(std::ranges::max_element(plain) - plain.begin());
    return {};
}

void ForwardIndexWriter::number_terms() {
    std::vector<std::uint32_t> places;
    for (std::uint32_t place = 0; place < terms_.size(); ++place) {
        if (terms_[place].df > 0) places.push_back(place);
    }
    std::ranges::stable_sort(
        places, [&](std::uint32_t a, std::uint32_t b) { return terms_[a].df > terms_[b].df; });
    for (std::uint32_t id = 0; id < places.size(); ++id) terms_[places[id]].id = id;
    header_.terms = static_cast<std::uint32_t>(places.size());
}

void ForwardIndexWriter::choose_columns() {
    const std::uint32_t least = std::max(kListRows, header_.rows / 16);
    std::uint64_t frequent = 0;
    for (const Term& term : terms_) frequent += term.df >= least ? 1 : 0;
    const std::uint64_t room =
        header_.rows == 0 ? 0 : options_.column_bytes / header_.column_stride();
    header_.columns = static_cast<std::uint32_t>(std::min(frequent, room));
}

Result<> ForwardIndexWriter::write_forward_lists() {
    BRAID_CHECK(sink_.begin(kForwardSection));
    std::vector<std::uint64_t> offsets{0};
    offsets.reserve(header_.rows + std::size_t{1});
    std::vector<std::pair<std::uint32_t, const FieldCounts*>> entries;
    Bytes buffer;
    std::uint64_t written = 0;
    BRAID_CHECK(source_.each_row([&](const SourceRow& row) -> Result<> {
        entries.clear();
        for (std::size_t i = 0; i < row.terms.size(); ++i) {
            entries.emplace_back(terms_[row.terms[i]].id, &row.counts[i]);
        }
        std::ranges::sort(entries, {}, &std::pair<std::uint32_t, const FieldCounts*>::first);
        const std::size_t before = buffer.size();
        ForwardWriter writer(buffer, header_.fields, header_.main_field);
        for (const auto& [id, counts] : entries) writer.add(id, counts->data());
        written += buffer.size() - before;
        offsets.push_back(written);
        return flush(buffer, kWriteBytes);
    }));
    BRAID_CHECK(flush(buffer, 0));
    header_.offset_width = written >> 32 == 0 ? 4 : 8;
    return write_offsets(kForwardOffsetsSection, offsets, header_.offset_width);
}

Result<> ForwardIndexWriter::write_offsets(std::string_view section,
                                           const std::vector<std::uint64_t>& offsets,
                                           std::uint32_t width) {
    BRAID_CHECK(sink_.begin(section));
    if (width == 8) return sink_.write(raw(offsets));
    const std::vector<std::uint32_t> narrow(offsets.begin(), offsets.end());
    return sink_.write(raw(narrow));
}

/// In the order of the forward lists, so that frequent terms come first.
Result<> ForwardIndexWriter::write_positions() {
    struct Entry {
        std::uint32_t id;
        std::size_t first;  // of the row's positions
        std::size_t count;
    };
    BRAID_CHECK(sink_.begin(kPositionsSection));
    std::vector<std::uint64_t> offsets{0};
    offsets.reserve(header_.rows + std::size_t{1});
    std::vector<Entry> entries;
    Bytes buffer;
    std::uint64_t written = 0;
    BRAID_CHECK(source_.each_row([&](const SourceRow& row) -> Result<> {
        entries.clear();
        std::size_t next = 0;
        for (std::size_t i = 0; i < row.terms.size(); ++i) {
            const auto& counts = row.counts[i];
            const auto count = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
            entries.push_back({terms_[row.terms[i]].id, next, count});
            next += count;
        }
        if (next != row.positions.size() || next != total_of(row.lengths.data(), header_.fields)) {
            return invalid_argument(
                "a row of " + std::to_string(total_of(row.lengths.data(), header_.fields)) +
                " words has " + std::to_string(row.positions.size()) + " positions");
        }
        std::ranges::sort(entries, {}, &Entry::id);
        const std::uint32_t largest = next == 0 ? 0 : std::ranges::max(row.positions);
        const std::uint32_t width = width_of(largest);
        for (const Entry& entry : entries) {
            for (std::size_t i = 0; i < entry.count; ++i) {
                put_narrow(buffer, width, row.positions[entry.first + i]);
            }
        }
        written += next * width;
        offsets.push_back(written);
        return flush(buffer, kWriteBytes);
    }));
    BRAID_CHECK(flush(buffer, 0));
    return write_offsets(kPositionOffsetsSection, offsets, written >> 32 == 0 ? 4 : 8);
}

Result<> ForwardIndexWriter::write_columns() {
    BRAID_CHECK(sink_.begin(kColumnsSection));
    if (header_.columns == 0) return {};
    const std::uint64_t stride = header_.column_stride();
    Bytes columns(stride * header_.columns);
    std::uint32_t number = 0;
    BRAID_CHECK(source_.each_row([&](const SourceRow& row) -> Result<> {
        for (std::size_t i = 0; i < row.terms.size(); ++i) {
            const std::uint32_t id = terms_[row.terms[i]].id;
            if (id >= header_.columns) continue;
            const std::uint32_t tf =
                std::min(total_of(row.counts[i].data(), header_.fields), kTopNibble);
            std::uint8_t& pair = columns[id * stride + number / 2];
            pair = static_cast<std::uint8_t>(pair | tf << (number % 2 * 4));
        }
        ++number;
        return {};
    }));
    return sink_.write(raw(columns));
}

Result<> ForwardIndexWriter::write_postings() {
    BRAID_CHECK(sink_.begin(kPostingsSection));
    ListWriter lists({.rows = header_.rows,
                      .columns = header_.columns,
                      .length_classes = facts_.length_classes(),
                      .label_numbers = facts_.label_numbers(),
                      .labels = header_.labels});
    const std::uint64_t most = std::max<std::uint64_t>(1024, options_.sort_bytes / 5);
    for (std::uint32_t begin = 0; begin < terms_.size();) {
        std::uint32_t end = begin;
        std::uint64_t postings = 0;
        while (end < terms_.size() && (end == begin || postings + terms_[end].df <= most)) {
            postings += terms_[end++].df;
        }
        BRAID_CHECK(write_lists(begin, end, lists));
        begin = end;
    }
    return {};
}

/// The lists of the terms [begin, end): their postings are grouped by term, then written.
Result<> ForwardIndexWriter::write_lists(std::uint32_t begin, std::uint32_t end,
                                         ListWriter& lists) {
    std::vector<std::uint64_t> next;
    std::uint64_t postings = 0;
    for (std::uint32_t place = begin; place < end; ++place) {
        next.push_back(postings);
        postings += terms_[place].df;
    }
    std::vector<std::uint32_t> rows(postings);
    std::vector<std::uint8_t> tfs(postings);
    std::uint32_t number = 0;
    BRAID_CHECK(source_.each_row([&](const SourceRow& row) -> Result<> {
        for (std::size_t i = 0; i < row.terms.size(); ++i) {
            if (row.terms[i] < begin || row.terms[i] >= end) continue;
            const std::uint64_t at = next[row.terms[i] - begin]++;
            rows[at] = number;
            tfs[at] = static_cast<std::uint8_t>(
                std::min(total_of(row.counts[i].data(), header_.fields), kMostRunTf));
        }
        ++number;
        return {};
    }));
    Bytes buffer;
    Bytes list;
    for (std::uint32_t place = begin; place < end; ++place) {
        Term& term = terms_[place];
        const std::uint64_t last = next[place - begin];
        const TermPostings all{term.id, term.max_tf, term.fields,
                               std::span(rows).subspan(last - term.df, term.df),
                               std::span(tfs).subspan(last - term.df, term.df)};
        if (term.df == 0) continue;
        if (term.df == 1) {
            term.place = all.rows[0];
            continue;
        }
        lists.write(all, list);
        term.place = list.size();
        const std::uint64_t offset = sink_.offset() + buffer.size();
        if (term.df >= kListRows) buffer.resize(buffer.size() + (4 - offset % 4) % 4);
        buffer.insert(buffer.end(), list.begin(), list.end());
        BRAID_CHECK(flush(buffer, kWriteBytes));
    }
    return flush(buffer, 0);
}

Result<> ForwardIndexWriter::write_terms() {
    TermDictionaryWriter dictionary({header_.version, header_.fields});
    std::uint32_t place = 0;
    BRAID_CHECK(source_.each_term([&](std::string_view text) -> Result<> {
        const Term& term = terms_[place++];
        if (term.df == 0) return {};
        TermEntry entry{.id = term.id, .df = term.df};
        if (term.df == 1) {
            entry.row = static_cast<std::uint32_t>(term.place);
            entry.tf = term.max_tf;
        } else {
            entry.length = term.place;
        }
        dictionary.add(text, entry);
        return {};
    }));
    return dictionary.finish(sink_);
}

}  // namespace

Result<> write_forward_index(const RowSource& source, const WriteOptions& options,
                             store::SectionSink& sink) {
    return ForwardIndexWriter(source, options, sink).run();
}

}  // namespace braid::sparse
