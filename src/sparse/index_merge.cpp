#include "braid/sparse/index_merge.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "braid/sparse/counted_rows.hpp"
#include "braid/sparse/row_merge.hpp"

namespace braid::sparse {
namespace {

/// One input of a merge of terms.
struct TermHead {
    explicit TermHead(const IndexReader& reader) : terms(reader.dictionary()) {}

    TermStream terms;
    std::uint64_t key = 0;  // the first bytes: most comparisons need no more

    Result<bool> next() {
        BRAID_TRY(const bool more, terms.next());
        if (more) key = leading_bytes(terms.term());
        return more;
    }
    int compare(const TermHead& other) const noexcept {
        if (key != other.key) return key < other.key ? -1 : 1;
        return terms.term().compare(other.terms.term());
    }
};

/// Indexes being merged: their rows in the new order, their terms in byte order.
class Merging {
public:
    static Result<Merging> create(std::span<const MergeInput> inputs) {
        Merging merging;
        merging.inputs_.assign(inputs.begin(), inputs.end());
        for (const MergeInput& input : inputs) {
            const IndexReader& reader = *input.reader;
            if (reader.fields() != merging.fields()) {
                return invalid_argument("merge: " + std::to_string(reader.fields()) + " and " +
                                        std::to_string(merging.fields()) + " text fields");
            }
            if (input.numbers.size() != reader.rows()) {
                return invalid_argument("merge: " + std::to_string(input.numbers.size()) +
                                        " numbers for " + std::to_string(reader.rows()) + " rows");
            }
            BRAID_TRY(merging.facts_.emplace_back(), reader.row_facts(true));
        }
        return merging;
    }

    std::uint32_t fields() const noexcept { return inputs_.front().reader->fields(); }
    std::size_t size() const noexcept { return inputs_.size(); }
    const MergeInput& input(std::size_t i) const noexcept { return inputs_[i]; }
    const RowFacts& facts(std::size_t i) const noexcept { return facts_[i]; }

    /// Calls visit(input, row in that input) for each new row, in order.
    template <class Visit>
    Result<> each_row(const Visit& visit) const {
        std::vector<std::uint32_t> next(inputs_.size(), 0);
        for (std::uint32_t number = 0;; ++number) {
            std::size_t found = inputs_.size();
            bool left = false;
            for (std::size_t i = 0; i < inputs_.size(); ++i) {
                const auto numbers = inputs_[i].numbers;
                while (next[i] < numbers.size() && numbers[next[i]] == kDroppedRow) ++next[i];
                if (next[i] == numbers.size()) continue;
                left = true;
                if (numbers[next[i]] != number) continue;
                if (found != inputs_.size()) {
                    return invalid_argument("merge: two rows would become row " +
                                            std::to_string(number));
                }
                found = i;
            }
            if (!left) return {};
            if (found == inputs_.size()) {
                return invalid_argument("merge: no row becomes row " + std::to_string(number));
            }
            BRAID_CHECK(visit(found, next[found]++));
        }
    }

    /// What the index says about a row besides its terms.
    Result<> read_facts(std::size_t i, std::uint32_t row, std::uint32_t& label,
                        FieldCounts& lengths) const {
        BRAID_TRY(label, inputs_[i].reader->label_of(row));
        for (std::size_t f = 0; f < fields(); ++f) lengths[f] = facts_[i].length(row, f);
        return {};
    }

    /// Calls visit(term, holders, heads) for each term of all inputs, in byte order.
    template <class Visit>
    Result<> each_term(const Visit& visit) const {
        std::vector<TermHead> heads;
        heads.reserve(inputs_.size());
        std::vector<std::size_t> alive;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            heads.emplace_back(*inputs_[i].reader);
            BRAID_TRY(const bool more, heads[i].next());
            if (more) alive.push_back(i);
        }
        std::vector<std::size_t> holders;
        while (!alive.empty()) {
            holders.assign(1, alive.front());
            for (std::size_t a = 1; a < alive.size(); ++a) {
                const int order = heads[alive[a]].compare(heads[holders.front()]);
                if (order > 0) continue;
                if (order < 0) holders.clear();
                holders.push_back(alive[a]);
            }
            BRAID_CHECK(visit(heads[holders.front()].terms.term(), std::span(holders), heads));
            for (const std::size_t i : holders) {
                BRAID_TRY(const bool more, heads[i].next());
                if (!more) std::erase(alive, i);
            }
        }
        return {};
    }

private:
    std::vector<MergeInput> inputs_;
    std::vector<RowFacts> facts_;
};

/// The rows of indexes with positions; terms are numbered in the order of all of them.
class MergedRows final : public RowSource {
public:
    explicit MergedRows(const Merging& merging) : merging_(merging), places_(merging.size()) {}

    /// Finds the places of all terms.
    Result<> prepare() {
        for (std::size_t i = 0; i < merging_.size(); ++i) {
            places_[i].resize(merging_.input(i).reader->dictionary().terms(),
                              std::numeric_limits<std::uint32_t>::max());
        }
        return merging_.each_term([&](std::string_view, std::span<const std::size_t> holders,
                                      const auto& heads) { return place(holders, heads); });
    }

    std::uint32_t fields() const noexcept override { return merging_.fields(); }
    std::uint32_t terms() const noexcept override { return terms_; }
    bool has_positions() const noexcept override { return true; }

    Result<> each_row(const std::function<Result<>(const SourceRow&)>& visit) const override {
        SourceRow row;
        return merging_.each_row([&](std::size_t input, std::uint32_t from) -> Result<> {
            BRAID_CHECK(read(input, from, row));
            return visit(row);
        });
    }

    Result<> each_term(const std::function<Result<>(std::string_view)>& visit) const override {
        return merging_.each_term([&](std::string_view term, std::span<const std::size_t>,
                                      const auto&) { return visit(term); });
    }

private:
    Result<> place(std::span<const std::size_t> holders, const std::vector<TermHead>& heads) {
        for (const std::size_t i : holders) {
            const std::uint32_t id = heads[i].terms.entry().id;
            if (id >= places_[i].size()) return corrupt_index("a term's number is too high");
            places_[i][id] = terms_;
        }
        ++terms_;
        return {};
    }

    Result<> read(std::size_t input, std::uint32_t from, SourceRow& row) const {
        BRAID_CHECK(merging_.read_facts(input, from, row.label, row.lengths));
        const RowFacts& facts = merging_.facts(input);
        row.terms.clear();
        row.counts.clear();
        BRAID_TRY(ForwardCursor cursor, facts.terms(from));
        while (cursor.next()) {
            if (cursor.term() >= places_[input].size() || places_[input][cursor.term()] >= terms_) {
                return corrupt_index("a row has a term that does not exist");
            }
            row.terms.push_back(places_[input][cursor.term()]);
            FieldCounts& counts = row.counts.emplace_back();
            for (std::uint32_t f = 0; f < fields(); ++f) counts[f] = cursor.count(f);
        }
        if (cursor.broken()) return corrupt_index("the terms of a row cannot be read");
        BRAID_TRY(const Positions positions, facts.positions(from));
        row.positions.resize(positions.size());
        for (std::size_t i = 0; i < positions.size(); ++i) row.positions[i] = positions[i];
        return {};
    }

    const Merging& merging_;
    std::vector<std::vector<std::uint32_t>> places_;  // by input and id
    std::uint32_t terms_ = 0;
};

/// The terms of indexes, restricted to the rows that stay.
class MergedTerms final : public TermSource {
public:
    explicit MergedTerms(const Merging& merging) : merging_(merging) {}

    std::uint32_t fields() const noexcept override { return merging_.fields(); }

    Result<> each_row(
        const std::function<Result<>(std::uint32_t, const FieldCounts&)>& visit) const override {
        std::uint32_t label = 0;
        FieldCounts lengths{};
        return merging_.each_row([&](std::size_t input, std::uint32_t from) -> Result<> {
            BRAID_CHECK(merging_.read_facts(input, from, label, lengths));
            return visit(label, lengths);
        });
    }

    Result<> each_frequent(
        std::uint32_t least,
        const std::function<void(std::string_view, std::uint32_t)>& visit) const override {
        RowMerge rows(fields());
        return merging_.each_term([&](std::string_view term, std::span<const std::size_t> holders,
                                      const std::vector<TermHead>& heads) -> Result<> {
            std::uint64_t most = 0;
            for (const std::size_t i : holders) most += heads[i].terms.entry().df;
            if (most < least) return {};
            BRAID_CHECK(read(holders, heads, rows));
            if (rows.size() >= least) visit(term, static_cast<std::uint32_t>(rows.size()));
            return {};
        });
    }

    Result<> each_term(
        const std::function<Result<>(std::string_view, const CountedRows&)>& visit) const override {
        RowMerge rows(fields());
        return merging_.each_term([&](std::string_view term, std::span<const std::size_t> holders,
                                      const std::vector<TermHead>& heads) -> Result<> {
            BRAID_CHECK(read(holders, heads, rows));
            return rows.size() == 0 ? Result<>() : visit(term, rows.sorted());
        });
    }

private:
    /// The rows that stay.
    Result<> read(std::span<const std::size_t> holders, const std::vector<TermHead>& heads,
                  RowMerge& rows) const {
        rows.clear();
        for (const std::size_t i : holders) {
            const IndexReader& reader = *merging_.input(i).reader;
            const std::uint32_t* const numbers = merging_.input(i).numbers.data();
            BRAID_TRY(const ListView list, reader.list(heads[i].terms.entry()));
            const auto add = [&, fields = fields()](std::uint32_t row,
                                                    const std::uint32_t* counts) {
                if (numbers[row] == kDroppedRow) return;
                std::copy_n(counts, fields, rows.add(numbers[row]));
            };
            BRAID_CHECK(each_counted_row(reader, merging_.facts(i), list, add));
        }
        return {};
    }

    const Merging& merging_;
};

}  // namespace

Result<> merge_indexes(std::span<const MergeInput> inputs, const WriteOptions& options,
                       store::SectionSink& sink) {
    if (inputs.empty()) return invalid_argument("merge: there is nothing to merge");
    BRAID_TRY(const Merging merging, Merging::create(inputs));
    bool positions = true;  // an index without them cannot supply them
    for (const MergeInput& input : inputs) {
        positions = positions && input.reader->has_positions();
    }
    if (!positions) return write_index(MergedTerms(merging), options, sink);
    MergedRows rows(merging);
    BRAID_CHECK(rows.prepare());
    return write_forward_index(rows, options, sink);
}

}  // namespace braid::sparse
