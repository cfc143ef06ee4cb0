#include "braid/sparse/index_builder.hpp"

#include <algorithm>
#include <string>

namespace braid::sparse {
namespace {

/// Requires terms in byte order.
Result<std::vector<TermCount>> ordered_counts(std::span<const TermCounts> sorted,
                                              std::uint32_t fields) {
    std::vector<TermCount> ordered;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const std::string term(sorted[i].term);
        if (term.size() > kMaxIndexTermBytes) return term_too_long(term);
        if (i > 0 && sorted[i - 1].term == term) {
            return invalid_argument("term \"" + term + "\" is given twice");
        }
        const std::size_t before = ordered.size();
        for (std::uint32_t field = 0; field < fields; ++field) {
            const std::uint32_t count = sorted[i].counts[field];
            if (count != 0) ordered.push_back({term, field, count});
        }
        if (ordered.size() == before) {
            return invalid_argument("term \"" + term + "\" occurs nowhere");
        }
    }
    return ordered;
}

}  // namespace

Result<> IndexBuilder::add(std::uint32_t label, std::span<const std::uint32_t> lengths,
                           std::span<const TermCounts> terms) {
    if (lengths.size() != fields_) {
        return invalid_argument("a row has " + std::to_string(lengths.size()) +
                                " lengths, the index " + std::to_string(fields_) + " fields");
    }
    if (rows_.size() >= kMaxRows) return invalid_argument("an index holds at most 2^31 - 1 rows");
    std::vector<TermCounts> sorted(terms.begin(), terms.end());
    std::ranges::sort(sorted, {}, &TermCounts::term);
    BRAID_TRY(const auto counts, ordered_counts(sorted, fields_));
    MemoryRow row{.row = rows(), .label = label};
    std::ranges::copy(lengths, row.lengths.begin());
    postings_.add(row.row, counts);
    rows_.push_back(row);
    if (!with_positions_) return {};
    auto& positions = positions_.emplace_back();
    for (const TermCounts& one : sorted) {
        positions.insert(positions.end(), one.positions.begin(), one.positions.end());
    }
    return {};
}

Result<> IndexBuilder::finish(store::SectionSink& sink, const WriteOptions& options) const {
    std::vector<MemoryRow> rows = rows_;
    for (std::size_t i = 0; i < positions_.size(); ++i) rows[i].positions = positions_[i];
    return write_memory_index(postings_, rows, fields_, with_positions_, options, sink);
}

}  // namespace braid::sparse
