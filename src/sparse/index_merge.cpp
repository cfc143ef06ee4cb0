#include "braid/sparse/index_merge.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace braid::sparse {
namespace {

/// The rows of several indexes in their new order, terms numbered in the order of all.
class MergedRows final : public RowSource {
public:
    explicit MergedRows(std::span<const MergeInput> inputs)
        : inputs_(inputs.begin(), inputs.end()) {}

    /// Checks the numbers and finds the places of all terms.
    Result<> prepare() {
        places_.resize(inputs_.size());
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const IndexReader& reader = *inputs_[i].reader;
            if (reader.fields() != fields()) {
                return invalid_argument("merge: " + std::to_string(reader.fields()) + " and " +
                                        std::to_string(fields()) + " text fields");
            }
            if (inputs_[i].numbers.size() != reader.rows()) {
                return invalid_argument("merge: " + std::to_string(inputs_[i].numbers.size()) +
                                        " numbers for " + std::to_string(reader.rows()) + " rows");
            }
            places_[i].resize(reader.dictionary().terms(),
                              std::numeric_limits<std::uint32_t>::max());
            BRAID_TRY(facts_.emplace_back(), reader.row_facts(true));
            // An index without them has no text to find them in.
            positions_ = (i == 0 || positions_) && reader.has_positions();
        }
        std::uint32_t place = 0;
        BRAID_CHECK(merge_terms(
            [&](std::string_view, std::size_t input, std::uint32_t id, bool last) -> Result<> {
                if (id >= places_[input].size())
                    return corrupt_index("a term's number is too high");
                places_[input][id] = place;
                if (last) ++place;
                return {};
            }));
        terms_ = place;
        return {};
    }

    std::uint32_t fields() const noexcept override {
        return inputs_.empty() ? 1 : inputs_.front().reader->fields();
    }
    std::uint32_t terms() const noexcept override { return terms_; }
    bool has_positions() const noexcept override { return positions_; }

    Result<> each_row(const std::function<Result<>(const SourceRow&)>& visit) const override {
        std::vector<std::uint32_t> next(inputs_.size(), 0);
        SourceRow row;
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
            BRAID_CHECK(read(found, next[found]++, row));
            BRAID_CHECK(visit(row));
        }
    }

    Result<> each_term(const std::function<Result<>(std::string_view)>& visit) const override {
        return merge_terms([&](std::string_view term, std::size_t, std::uint32_t, bool last) {
            return last ? visit(term) : Result<>();
        });
    }

private:
    /// Visits the terms of all inputs in byte order; `last` of those that hold the same one.
    template <class Visit>
    Result<> merge_terms(const Visit& visit) const {
        std::vector<TermStream> streams;
        std::vector<std::size_t> alive;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            streams.emplace_back(inputs_[i].reader->dictionary());
            BRAID_TRY(const bool more, streams[i].next());
            if (more) alive.push_back(i);
        }
        while (!alive.empty()) {
            std::string term(streams[alive.front()].term());
            for (const std::size_t i : alive) {
                if (streams[i].term() < term) term = streams[i].term();
            }
            std::vector<std::size_t> holders;
            for (const std::size_t i : alive) {
                if (streams[i].term() == term) holders.push_back(i);
            }
            for (const std::size_t i : holders) {
                BRAID_CHECK(visit(term, i, streams[i].entry().id, i == holders.back()));
                BRAID_TRY(const bool more, streams[i].next());
                if (!more) std::erase(alive, i);
            }
        }
        return {};
    }

    Result<> read(std::size_t input, std::uint32_t from, SourceRow& row) const {
        const IndexReader& reader = *inputs_[input].reader;
        BRAID_TRY(row.label, reader.label_of(from));
        for (std::size_t f = 0; f < fields(); ++f) row.lengths[f] = facts_[input].length(from, f);
        row.terms.clear();
        row.counts.clear();
        BRAID_TRY(ForwardCursor cursor, facts_[input].terms(from));
        while (cursor.next()) {
            if (cursor.term() >= places_[input].size() || places_[input][cursor.term()] >= terms_) {
                return corrupt_index("a row has a term that does not exist");
            }
            row.terms.push_back(places_[input][cursor.term()]);
            FieldCounts& counts = row.counts.emplace_back();
            for (std::uint32_t f = 0; f < fields(); ++f) counts[f] = cursor.count(f);
        }
        if (cursor.broken()) return corrupt_index("the terms of a row cannot be read");
        if (!positions_) return {};
        BRAID_TRY(const Positions positions, facts_[input].positions(from));
        row.positions.resize(positions.size());
        for (std::size_t i = 0; i < positions.size(); ++i) row.positions[i] = positions[i];
        return {};
    }

    std::vector<MergeInput> inputs_;
    std::vector<RowFacts> facts_;
    std::vector<std::vector<std::uint32_t>> places_;  // by input and id
    std::uint32_t terms_ = 0;
    bool positions_ = false;
};

}  // namespace

Result<> merge_indexes(std::span<const MergeInput> inputs, const WriteOptions& options,
                       store::SectionSink& sink) {
    if (inputs.empty()) return invalid_argument("merge: there is nothing to merge");
    MergedRows rows(inputs);
    BRAID_CHECK(rows.prepare());
    return write_index(rows, options, sink);
}

}  // namespace braid::sparse
