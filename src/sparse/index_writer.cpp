#include "braid/sparse/index_writer.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "braid/sparse/list_writer.hpp"
#include "braid/sparse/term_dictionary.hpp"

namespace braid::sparse {
namespace {

constexpr std::uint32_t kNoTerm = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kWriteBytes = 1U << 20;

std::uint32_t total_of(const FieldCounts& counts) noexcept {
    const auto sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
}

/// Writes one index, section by section.
class Writer {
public:
    Writer(const RowSource& source, const WriteOptions& options, store::SectionSink& sink)
        : source_(source), options_(options), sink_(sink) {
        header_.fields = source.fields();
    }

    Result<> run() {
        BRAID_CHECK(look_at_rows());
        number_terms();
        classify_lengths();
        choose_columns();
        BRAID_CHECK(write_lengths());
        BRAID_CHECK(write_labels());
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
    void classify_lengths();
    void choose_columns();
    Result<> write_lengths();
    Result<> write_labels();
    Result<> write_forward_lists();
    Result<> write_positions();
    Result<> write_offsets(std::string_view section, const std::vector<std::uint64_t>& offsets,
                           std::uint32_t width);
    Result<> write_columns();
    Result<> write_postings();
    Result<> write_lists(std::uint32_t begin, std::uint32_t end, ListWriter& lists);
    Result<> write_terms();

    /// Writes `buffer` away when it is large, or at the end.
    Result<> flush(Bytes& buffer, std::size_t least) {
        if (buffer.size() < least) return {};
        BRAID_CHECK(sink_.write(raw(buffer)));
        buffer.clear();
        return {};
    }
    const std::uint32_t* lengths_of(std::uint32_t row) const noexcept {
        return lengths_.data() + static_cast<std::size_t>(row) * header_.fields;
    }

    const RowSource& source_;
    WriteOptions options_;
    store::SectionSink& sink_;
    IndexHeader header_;
    std::vector<Term> terms_;
    std::vector<std::uint32_t> lengths_;  // fields per row
    std::vector<std::uint32_t> totals_;
    std::vector<std::uint32_t> labels_;         // per row
    std::vector<std::uint32_t> distinct_;       // labels, sorted
    std::vector<std::uint32_t> label_numbers_;  // per row, among distinct_; empty: one label
    std::vector<std::uint8_t> classes_;
};

Result<> Writer::look_at_rows() {
    terms_.resize(source_.terms());
    std::array<std::uint64_t, kMaxFields> plain{};
    BRAID_CHECK(source_.each_row([&](const SourceRow& row) -> Result<> {
        if (labels_.size() >= kMaxRows)
            return invalid_argument("an index holds at most 2^31 - 1 rows");
        labels_.push_back(row.label);
        for (std::size_t f = 0; f < header_.fields; ++f) {
            lengths_.push_back(row.lengths[f]);
            header_.total_lengths[f] += row.lengths[f];
        }
        totals_.push_back(total_of(row.lengths));
        header_.postings += row.terms.size();
        for (std::size_t i = 0; i < row.terms.size(); ++i) {
            Term& term = terms_[row.terms[i]];
            ++term.df;
            const std::uint32_t tf = total_of(row.counts[i]);
            term.max_tf = std::max(term.max_tf, tf);
            for (std::size_t f = 0; f < header_.fields; ++f) {
                if (row.counts[i][f] == 0) continue;
                term.fields = static_cast<std::uint8_t>(term.fields | 1U << f);
                if (tf == 1) ++plain[f];
            }
        }
        return {};
    }));
    header_.rows = static_cast<std::uint32_t>(labels_.size());
    header_.main_field =
        static_cast<std::uint32_t>(std::ranges::max_element(plain) - plain.begin());
    return {};
}

void Writer::number_terms() {
    std::vector<std::uint32_t> places;
    for (std::uint32_t place = 0; place < terms_.size(); ++place) {
        if (terms_[place].df > 0) places.push_back(place);
    }
    std::ranges::stable_sort(
        places, [&](std::uint32_t a, std::uint32_t b) { return terms_[a].df > terms_[b].df; });
    for (std::uint32_t id = 0; id < places.size(); ++id) terms_[places[id]].id = id;
    header_.terms = static_cast<std::uint32_t>(places.size());
}

void Writer::classify_lengths() {
    LengthClasses& classes = header_.classes;
    std::vector<std::uint32_t> sorted = totals_;
    std::ranges::sort(sorted);
    for (std::uint64_t c = 1; c < kLengthClasses && !sorted.empty(); ++c) {
        classes.first[c] = sorted[c * sorted.size() / kLengthClasses];
    }
    classes_.reserve(header_.rows);
    std::array<bool, kLengthClasses> seen{};
    for (std::uint32_t row = 0; row < header_.rows; ++row) {
        const std::uint32_t c = classes.class_of(totals_[row]);
        classes_.push_back(static_cast<std::uint8_t>(c));
        for (std::size_t f = 0; f < header_.fields; ++f) {
            std::uint32_t& smallest = classes.smallest[c][f];
            smallest = seen[c] ? std::min(smallest, lengths_of(row)[f]) : lengths_of(row)[f];
        }
        seen[c] = true;
    }
}

void Writer::choose_columns() {
    const std::uint32_t least = std::max(kListRows, header_.rows / 16);
    std::uint64_t frequent = 0;
    for (const Term& term : terms_) frequent += term.df >= least ? 1 : 0;
    const std::uint64_t room =
        header_.rows == 0 ? 0 : options_.column_bytes / header_.column_stride();
    header_.columns = static_cast<std::uint32_t>(std::min(frequent, room));
}

Result<> Writer::write_lengths() {
    BRAID_CHECK(sink_.begin(kLengthsSection));
    for (std::size_t f = 0; f < header_.fields; ++f) {
        std::uint32_t largest = 0;
        for (std::uint32_t row = 0; row < header_.rows; ++row) {
            largest = std::max(largest, lengths_of(row)[f]);
        }
        const std::uint32_t width = header_.length_widths[f] = width_of(largest);
        Bytes bytes;
        for (std::uint32_t row = 0; row < header_.rows; ++row) {
            put_narrow(bytes, width, lengths_of(row)[f]);
        }
        bytes.resize((bytes.size() + 63) / 64 * 64);
        BRAID_CHECK(sink_.write(raw(bytes)));
    }
    BRAID_CHECK(sink_.begin(kClassesSection));
    return sink_.write(raw(classes_));
}

Result<> Writer::write_labels() {
    distinct_ = labels_;
    std::ranges::sort(distinct_);
    distinct_.erase(std::ranges::unique(distinct_).begin(), distinct_.end());
    const std::size_t fields = header_.fields;
    std::vector<std::uint32_t> rows(distinct_.size());
    std::vector<std::uint64_t> totals(distinct_.size() * fields);
    if (distinct_.size() > 1) label_numbers_.reserve(labels_.size());
    for (std::uint32_t row = 0; row < header_.rows; ++row) {
        const auto found = std::ranges::lower_bound(distinct_, labels_[row]);
        const auto number = static_cast<std::size_t>(found - distinct_.begin());
        ++rows[number];
        for (std::size_t f = 0; f < fields; ++f) totals[number * fields + f] += lengths_of(row)[f];
        if (distinct_.size() > 1) label_numbers_.push_back(static_cast<std::uint32_t>(number));
    }
    header_.labels = static_cast<std::uint32_t>(distinct_.size());
    header_.label_width = distinct_.size() > 1 ? width_of(header_.labels - 1) : 0;
    Bytes bytes;
    for (std::size_t number = 0; number < distinct_.size(); ++number) {
        put(bytes, distinct_[number]);
        put(bytes, rows[number]);
        for (std::size_t f = 0; f < fields; ++f) put(bytes, totals[number * fields + f]);
    }
    for (const std::uint32_t number : label_numbers_)
        put_narrow(bytes, header_.label_width, number);
    BRAID_CHECK(sink_.begin(kLabelsSection));
    return sink_.write(raw(bytes));
}

Result<> Writer::write_forward_lists() {
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

Result<> Writer::write_offsets(std::string_view section, const std::vector<std::uint64_t>& offsets,
                               std::uint32_t width) {
    BRAID_CHECK(sink_.begin(section));
    if (width == 8) return sink_.write(raw(offsets));
    const std::vector<std::uint32_t> narrow(offsets.begin(), offsets.end());
    return sink_.write(raw(narrow));
}

/// In the order of the forward lists, so that those of frequent terms come first.
Result<> Writer::write_positions() {
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
        if (next != row.positions.size() || next != total_of(row.lengths)) {
            return invalid_argument("a row of " + std::to_string(total_of(row.lengths)) +
                                    " words has " + std::to_string(row.positions.size()) +
                                    " positions");
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

Result<> Writer::write_columns() {
    BRAID_CHECK(sink_.begin(kColumnsSection));
    if (header_.columns == 0) return {};
    const std::uint64_t stride = header_.column_stride();
    Bytes columns(stride * header_.columns);
    std::uint32_t number = 0;
    BRAID_CHECK(source_.each_row([&](const SourceRow& row) -> Result<> {
        for (std::size_t i = 0; i < row.terms.size(); ++i) {
            const std::uint32_t id = terms_[row.terms[i]].id;
            if (id >= header_.columns) continue;
            const std::uint32_t tf = std::min(total_of(row.counts[i]), kTopNibble);
            std::uint8_t& pair = columns[id * stride + number / 2];
            pair = static_cast<std::uint8_t>(pair | tf << (number % 2 * 4));
        }
        ++number;
        return {};
    }));
    return sink_.write(raw(columns));
}

Result<> Writer::write_postings() {
    BRAID_CHECK(sink_.begin(kPostingsSection));
    ListWriter lists({.rows = header_.rows,
                      .columns = header_.columns,
                      .length_classes = classes_,
                      .label_numbers = label_numbers_,
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

/// The lists of the terms [begin, end): their postings are put in order of terms, then written.
Result<> Writer::write_lists(std::uint32_t begin, std::uint32_t end, ListWriter& lists) {
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
            tfs[at] = static_cast<std::uint8_t>(std::min(total_of(row.counts[i]), kMostRunTf));
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

Result<> Writer::write_terms() {
    TermDictionaryWriter dictionary;
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

Result<> write_index(const RowSource& source, const WriteOptions& options,
                     store::SectionSink& sink) {
    return Writer(source, options, sink).run();
}

}  // namespace braid::sparse
