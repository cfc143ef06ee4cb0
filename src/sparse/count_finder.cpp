#include "braid/sparse/count_finder.hpp"

#include <algorithm>

namespace braid::sparse {

Result<CountFinder> CountFinder::create(const IndexReader& reader, const TermEntry& entry) {
    CountFinder finder;
    BRAID_TRY(finder.list_, reader.list(entry));
    if (finder.list_.form != ListView::Form::Run) return finder;
    for (ListCursor cursor(finder.list_, reader.rows()); cursor.row() != ListCursor::kEnd;
         cursor.next()) {
        finder.rows_.push_back(cursor.row());
        FieldCounts& counts = finder.counts_.emplace_back();
        if (!cursor.counts(counts)) counts[finder.list_.main_field] = cursor.tf();
    }
    return finder;
}

bool CountFinder::find(std::uint32_t row, FieldCounts& counts) const noexcept {
    if (list_.entry.df == 0) return false;
    if (list_.form != ListView::Form::Run) return list_.counts_of(row, counts);
    const auto found = std::ranges::lower_bound(rows_, row);
    if (found == rows_.end() || *found != row) return false;
    counts = counts_[static_cast<std::size_t>(found - rows_.begin())];
    return true;
}

}  // namespace braid::sparse
