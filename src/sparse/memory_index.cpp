#include "braid/sparse/memory_index.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "braid/sparse/row_merge.hpp"
#include "braid/sparse/term_dictionary.hpp"

namespace braid::sparse {
namespace {

constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

/// The terms of a MemoryPostings in byte order, and how its rows are renumbered.
class MemoryTerms final : public TermSource {
public:
    static Result<MemoryTerms> create(const MemoryPostings& postings,
                                      std::span<const MemoryRow> rows, std::uint32_t fields) {
        MemoryTerms source(rows, fields);
        source.sorted_.reserve(postings.terms());
        for (const MemoryPostings::Entry& entry : postings) {
            if (entry.first.size() > kMaxIndexTermBytes) return term_too_long(entry.first);
            source.sorted_.push_back({leading_bytes(entry.first), &entry});
        }
        std::ranges::sort(source.sorted_, [](const Sorted& a, const Sorted& b) {
            return a.key != b.key ? a.key < b.key : a.entry->first < b.entry->first;
        });
        std::uint32_t last = 0;
        for (const MemoryRow& row : rows) last = std::max(last, row.row);
        source.numbers_.assign(rows.empty() ? 0 : std::size_t{last} + 1, kAbsent);
        for (std::uint32_t i = 0; i < rows.size(); ++i) source.numbers_[rows[i].row] = i;
        return source;
    }

    std::uint32_t fields() const noexcept override { return fields_; }

    Result<> each_row(
        const std::function<Result<>(std::uint32_t, const FieldCounts&)>& visit) const override {
        for (const MemoryRow& row : rows_) BRAID_CHECK(visit(row.label, row.lengths));
        return {};
    }

    Result<> each_frequent(
        std::uint32_t least,
        const std::function<void(std::string_view, std::uint32_t)>& visit) const override {
        std::vector<std::uint32_t> rows;
        for (const Sorted& term : sorted_) {
            if (term.entry->second.size() < least) continue;
            rows.clear();
            for (const Posting& posting : term.entry->second) {
                const std::uint32_t row = number_of(posting.row);
                if (row != kAbsent && (rows.empty() || rows.back() != row)) rows.push_back(row);
            }
            if (rows.size() < least) continue;
            visit(term.entry->first, static_cast<std::uint32_t>(rows.size()));
        }
        return {};
    }

    Result<> each_term(
        const std::function<Result<>(std::string_view, const CountedRows&)>& visit) const override {
        RowMerge merge(fields_);
        for (const Sorted& term : sorted_) {
            merge.clear();
            std::uint32_t before = kAbsent;
            std::uint32_t* counts = nullptr;
            for (const Posting& posting : term.entry->second) {
                const std::uint32_t row = number_of(posting.row);
                if (row == kAbsent) continue;
                if (row != before) counts = merge.add(row);
                before = row;
                counts[posting.field] = posting.count;
            }
            if (merge.size() > 0) BRAID_CHECK(visit(term.entry->first, merge.sorted()));
        }
        return {};
    }

    /// The rows as the source of an index with forward lists.
    std::vector<const MemoryPostings::Entry*> entries() const {
        std::vector<const MemoryPostings::Entry*> entries;
        entries.reserve(sorted_.size());
        for (const Sorted& term : sorted_) entries.push_back(term.entry);
        return entries;
    }
    std::uint32_t number_of(std::uint32_t row) const noexcept {
        return row < numbers_.size() ? numbers_[row] : kAbsent;
    }

private:
    struct Sorted {
        std::uint64_t key;  // the first bytes: most comparisons need no more
        const MemoryPostings::Entry* entry;
    };

    MemoryTerms(std::span<const MemoryRow> rows, std::uint32_t fields)
        : rows_(rows), fields_(fields) {}

    std::span<const MemoryRow> rows_;
    std::uint32_t fields_;
    std::vector<Sorted> sorted_;
    std::vector<std::uint32_t> numbers_;  // by row of the postings
};

/// The same rows one by one.
class MemoryRows final : public RowSource {
public:
    MemoryRows(const MemoryTerms& terms, std::span<const MemoryRow> rows)
        : rows_(rows), fields_(terms.fields()), sorted_(terms.entries()) {
        turn(terms);
    }

    std::uint32_t fields() const noexcept override { return fields_; }
    std::uint32_t terms() const noexcept override {
        return static_cast<std::uint32_t>(sorted_.size());
    }
    bool has_positions() const noexcept override { return true; }
    Result<> each_row(const std::function<Result<>(const SourceRow&)>& visit) const override;
    Result<> each_term(const std::function<Result<>(std::string_view)>& visit) const override {
        for (const auto* entry : sorted_) BRAID_CHECK(visit(entry->first));
        return {};
    }

private:
    struct Entry {
        std::uint32_t place = 0;
        std::uint32_t field = 0;
        std::uint32_t count = 0;
    };
    /// The postings by row, made in one walk along every list.
    void turn(const MemoryTerms& terms);

    std::span<const MemoryRow> rows_;
    std::uint32_t fields_;
    std::vector<const MemoryPostings::Entry*> sorted_;  // terms in byte order
    std::vector<Entry> entries_;                        // of all rows, by row, then by place
    std::vector<std::size_t> ends_;                     // of each row's
};

void MemoryRows::turn(const MemoryTerms& terms) {
    const auto each_posting = [&](const auto& use) {
        for (std::uint32_t place = 0; place < sorted_.size(); ++place) {
            for (const Posting& posting : sorted_[place]->second) {
                const std::uint32_t row = terms.number_of(posting.row);
                if (row != kAbsent) use(row, Entry{place, posting.field, posting.count});
            }
        }
    };
    std::vector<std::size_t> next(rows_.size() + 1, 0);
    each_posting([&](std::uint32_t row, const Entry&) { ++next[row + 1]; });
    for (std::size_t row = 1; row < next.size(); ++row) next[row] += next[row - 1];
    entries_.resize(next.back());
    each_posting([&](std::uint32_t row, const Entry& entry) { entries_[next[row]++] = entry; });
    next.pop_back();
    ends_ = std::move(next);
}

Result<> MemoryRows::each_row(const std::function<Result<>(const SourceRow&)>& visit) const {
    SourceRow out;
    std::size_t at = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        out.label = rows_[row].label;
        out.lengths = rows_[row].lengths;
        out.positions.assign(rows_[row].positions.begin(), rows_[row].positions.end());
        out.terms.clear();
        out.counts.clear();
        for (; at < ends_[row]; ++at) {
            const Entry& entry = entries_[at];
            if (out.terms.empty() || out.terms.back() != entry.place) {
                out.terms.push_back(entry.place);
                out.counts.emplace_back();
            }
            out.counts.back()[entry.field] = entry.count;
        }
        BRAID_CHECK(visit(out));
    }
    return {};
}

}  // namespace

tl::unexpected<Error> term_too_long(std::string_view term) {
    return invalid_argument("a term of " + std::to_string(term.size()) + " bytes; " +
                            std::to_string(kMaxIndexTermBytes) + " is the limit");
}

Result<> write_memory_index(const MemoryPostings& postings, std::span<const MemoryRow> rows,
                            std::uint32_t fields, bool positions, const WriteOptions& options,
                            store::SectionSink& sink) {
    BRAID_TRY(const MemoryTerms terms, MemoryTerms::create(postings, rows, fields));
    if (!positions) return write_index(terms, options, sink);
    return write_forward_index(MemoryRows(terms, rows), options, sink);
}

}  // namespace braid::sparse
