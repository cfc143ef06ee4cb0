#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "braid/reader.hpp"
#include "braid/result.hpp"
#include "braid/segment/segment_view.hpp"
#include "braid/sparse/query.hpp"

namespace braid::segment {

/// A hit before its id is looked up.
struct Candidate {
    double score = 0;
    const BufferView* buffer = nullptr;
    const PartView* part = nullptr;
    std::uint32_t row = 0;
};

/// The best of all buffers of a view.
struct BufferHits {
    std::vector<Candidate> best;
    std::uint64_t matched = 0;
    std::uint64_t rows = 0;  // in the buffers
};

/// The best `depth` of all, by score, then by id; ids are looked up only where they decide.
Result<std::vector<LegHit>> best_of(std::vector<Candidate> candidates, std::size_t depth);

/// A score that the `depth` best all reach; unknown while there are fewer.
double threshold_of(const std::vector<Candidate>& candidates, std::size_t depth);

/// The row that `after` has, or would have, in a part. Rows are in id order.
Result<sparse::ScoredRow> place_below(const PartView& view, const LegHit& after);

}  // namespace braid::segment
