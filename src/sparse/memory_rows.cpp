#include "braid/sparse/memory_rows.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace braid::sparse {

tl::unexpected<Error> term_too_long(std::string_view term) {
    return invalid_argument("a term of " + std::to_string(term.size()) + " bytes; " +
                            std::to_string(kMaxIndexTermBytes) + " is the limit");
}

Result<MemoryRows> MemoryRows::create(const MemoryPostings& postings, std::vector<Row> rows,
                                      std::uint32_t fields, bool positions) {
    MemoryRows source(std::move(rows), fields, positions);
    source.sorted_.reserve(postings.terms());
    for (const MemoryPostings::Entry& entry : postings) {
        if (entry.first.size() > kMaxIndexTermBytes) return term_too_long(entry.first);
        source.sorted_.push_back(&entry);
    }
    std::ranges::sort(source.sorted_, {},
                      [](const auto* entry) { return std::string_view(entry->first); });
    source.turn();
    return source;
}

void MemoryRows::turn() {
    constexpr auto absent = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t last = 0;
    for (const Row& row : rows_) last = std::max(last, row.row);
    std::vector<std::uint32_t> places(rows_.empty() ? 0 : std::size_t{last} + 1, absent);
    for (std::uint32_t i = 0; i < rows_.size(); ++i) places[rows_[i].row] = i;
    const auto each_posting = [&](const auto& use) {
        for (std::uint32_t place = 0; place < sorted_.size(); ++place) {
            for (const Posting& posting : sorted_[place]->second) {
                if (posting.row >= places.size() || places[posting.row] == absent) continue;
                use(places[posting.row], Entry{place, posting.field, posting.count});
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
        if (positions_) {
            out.positions.assign(rows_[row].positions.begin(), rows_[row].positions.end());
        }
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

Result<> MemoryRows::each_term(const std::function<Result<>(std::string_view)>& visit) const {
    for (const auto* entry : sorted_) BRAID_CHECK(visit(entry->first));
    return {};
}

}  // namespace braid::sparse
