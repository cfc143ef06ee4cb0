#include "braid/sparse/index_writer.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "braid/sparse/counted_list.hpp"
#include "braid/sparse/facts_writer.hpp"
#include "braid/sparse/term_dictionary.hpp"

namespace braid::sparse {
namespace {

/// Writes one version 4 index, section by section.
class TermIndexWriter {
    static constexpr std::size_t kWriteBytes = 1U << 20;

public:
    TermIndexWriter(const TermSource& source, const WriteOptions& options, store::SectionSink& sink)
        : source_(source), options_(options), sink_(sink) {
        header_.version = kListsVersion;
        header_.fields = source.fields();
    }

    Result<> run() {
        BRAID_CHECK(write_facts());
        BRAID_CHECK(choose_columns());
        BRAID_CHECK(write_terms());
        BRAID_CHECK(sink_.begin(kHeaderSection));
        return sink_.write(raw(encode_header(header_)));
    }

private:
    Result<> write_facts();
    Result<> choose_columns();
    Result<> write_terms();
    Result<> write_term(std::string_view text, const CountedRows& rows);
    /// Writes the run or list of a term, and fills in its entry.
    Result<> write_rows(const CountedRows& rows, bool column, TermEntry& entry);
    Result<> flush(std::size_t least) {
        if (buffer_.size() < least) return {};
        BRAID_CHECK(sink_.write(raw(buffer_)));
        buffer_.clear();
        return {};
    }

    const TermSource& source_;
    WriteOptions options_;
    store::SectionSink& sink_;
    IndexHeader header_;
    std::optional<FactsWriter> facts_;
    std::optional<CountedListWriter> lists_;
    std::optional<TermDictionaryWriter> dictionary_;
    std::vector<std::string> columns_;  // terms that become columns, in byte order
    std::size_t next_column_ = 0;
    Bytes buffer_;  // of postings
    Bytes list_;    // of the term being written
};

Result<> TermIndexWriter::write_facts() {
    facts_.emplace(header_, sink_);
    BRAID_CHECK(source_.each_row([&](std::uint32_t label, const FieldCounts& lengths) {
        return facts_->add(label, lengths);
    }));
    BRAID_CHECK(facts_->write());
    const auto& totals = header_.total_lengths;
    header_.main_field =
        static_cast<std::uint32_t>(std::ranges::max_element(totals) - totals.begin());
    lists_.emplace(CountedContext{.rows = header_.rows,
                                  .fields = header_.fields,
                                  .main_field = header_.main_field,
                                  .length_classes = facts_->length_classes(),
                                  .label_numbers = facts_->label_numbers(),
                                  .labels = header_.labels});
    return {};
}

/// The most frequent terms, as many as the bytes for columns allow.
Result<> TermIndexWriter::choose_columns() {
    const std::uint32_t least = std::max(kListRows, header_.rows / 16);
    std::vector<std::pair<std::uint32_t, std::string>> frequent;
    BRAID_CHECK(source_.each_frequent(least, [&](std::string_view term, std::uint32_t rows) {
        frequent.emplace_back(rows, term);
    }));
    std::ranges::stable_sort(frequent, std::ranges::greater{},
                             &std::pair<std::uint32_t, std::string>::first);
    const std::uint64_t room =
        header_.rows == 0 ? 0 : options_.column_bytes / header_.column_stride();
    if (frequent.size() > room) frequent.resize(room);
    for (auto& [rows, term] : frequent) columns_.push_back(std::move(term));
    std::ranges::sort(columns_);
    header_.columns = static_cast<std::uint32_t>(columns_.size());
    return {};
}

Result<> TermIndexWriter::write_rows(const CountedRows& rows, bool column, TermEntry& entry) {
    const auto align = [&] { return (4 - (sink_.offset() + buffer_.size()) % 4) % 4; };
    if (rows.rows.size() >= kListRows) buffer_.resize(buffer_.size() + align());
    lists_->write(rows, column, sink_.offset() + buffer_.size(), list_);
    entry.length = list_.size();
    buffer_.insert(buffer_.end(), list_.begin(), list_.end());
    return flush(kWriteBytes);
}

Result<> TermIndexWriter::write_term(std::string_view text, const CountedRows& rows) {
    const bool column = next_column_ < columns_.size() && columns_[next_column_] == text;
    if (column) ++next_column_;
    TermEntry entry{.id = header_.terms++, .df = static_cast<std::uint32_t>(rows.rows.size())};
    header_.postings += entry.df;
    if (entry.df > 1) {
        BRAID_CHECK(write_rows(rows, column, entry));
    } else {
        entry.row = rows.rows[0];
        entry.tf = total_of(rows.counts.data(), header_.fields);
        list_.clear();
        if (entry.tf != 1 || rows.counts[header_.main_field] != 1) {
            put_counts(list_, rows.counts.data(), header_.fields);
        }
        entry.counts = list_;
    }
    dictionary_->add(text, entry);
    return {};
}

Result<> TermIndexWriter::write_terms() {
    BRAID_CHECK(sink_.begin(kPostingsSection));
    dictionary_.emplace(TermFormat{header_.version, header_.fields});
    BRAID_CHECK(source_.each_term(
        [this](std::string_view text, const CountedRows& rows) { return write_term(text, rows); }));
    BRAID_CHECK(flush(0));
    return dictionary_->finish(sink_);
}

}  // namespace

Result<> write_index(const TermSource& source, const WriteOptions& options,
                     store::SectionSink& sink) {
    return TermIndexWriter(source, options, sink).run();
}

}  // namespace braid::sparse
