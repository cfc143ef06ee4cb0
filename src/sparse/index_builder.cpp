#include "braid/sparse/index_builder.hpp"

#include <algorithm>
#include <string>

namespace braid::sparse {
namespace {

Result<std::vector<TermCount>> ordered_counts(std::span<const TermCounts> terms,
                                              std::uint32_t fields) {
    std::vector<TermCounts> sorted(terms.begin(), terms.end());
    std::ranges::sort(sorted, {}, &TermCounts::term);
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
    if (rows_.size() >= kMaxRows) return invalid_argument("an index holds 2^31 - 1 rows");
    BRAID_TRY(const auto counts, ordered_counts(terms, fields_));
    MemoryRows::Row row{.row = rows(), .label = label};
    std::ranges::copy(lengths, row.lengths.begin());
    postings_.add(row.row, counts);
    rows_.push_back(row);
    return {};
}

Result<> IndexBuilder::finish(store::SectionSink& sink, const WriteOptions& options) const {
    BRAID_TRY(const MemoryRows source, MemoryRows::create(postings_, rows_, fields_));
    return write_index(source, options, sink);
}

}  // namespace braid::sparse
