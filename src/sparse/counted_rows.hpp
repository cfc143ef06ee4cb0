#pragma once

#include <cstdint>

#include "braid/sparse/index_reader.hpp"

namespace braid::sparse {

/// Calls use(row, counts) for each row of a term, in increasing order; there is one count per
/// field, and not all are 0. Corruption where a list says less than it should.
template <class Use>
Result<> each_counted_row(const IndexReader& reader, const RowFacts& facts, const ListView& list,
                          const Use& use) {
    FieldCounts counts{};
    if (reader.header().has_forward()) {
        for (ListCursor cursor(list, reader.rows()); cursor.row() != ListCursor::kEnd;
             cursor.next()) {
            BRAID_CHECK(facts.read_counts(cursor.row(), list.entry.id, counts));
            use(cursor.row(), counts.data());
        }
        return {};
    }
    // Most rows hold a term in the main field alone: their counts differ in a single number.
    FieldCounts plain{};
    const std::uint32_t main_field = reader.header().main_field;
    for (ListCursor cursor(list, reader.rows()); cursor.row() != ListCursor::kEnd; cursor.next()) {
        if (cursor.counts(counts)) {
            use(cursor.row(), counts.data());
        } else {
            plain[main_field] = cursor.tf();
            use(cursor.row(), plain.data());
        }
    }
    return {};
}

}  // namespace braid::sparse
