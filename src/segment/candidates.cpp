#include "braid/segment/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace braid::segment {

Result<std::vector<LegHit>> best_of(std::vector<Candidate> candidates, std::size_t depth) {
    if (candidates.size() > depth && depth > 0) {
        const auto last = candidates.begin() + static_cast<std::ptrdiff_t>(depth - 1);
        std::ranges::nth_element(candidates, last, std::greater(), &Candidate::score);
        const double least = last->score;
        std::erase_if(candidates, [&](const Candidate& one) { return one.score < least; });
    }
    const auto each_in_part = [&](const auto& use) {
        for (const Candidate& one : candidates) {
            if (one.part != nullptr) use(one.part->part().documents().chunk_ids(), one.row);
        }
    };
    each_in_part([](const docs::StringTable& ids, std::uint32_t row) { ids.prefetch_place(row); });
    each_in_part([](const docs::StringTable& ids, std::uint32_t row) { ids.prefetch(row); });
    std::vector<LegHit> hits;
    hits.reserve(candidates.size());
    for (const Candidate& one : candidates) {
        LegHit& hit = hits.emplace_back();
        hit.score = one.score;
        hit.found_at.row = one.row;
        if (one.buffer != nullptr) {
            hit.found_at.among = one.buffer->partition->number();
            hit.chunk_id = one.buffer->partition->chunk(exact::Row{one.row}).chunk_id;
        } else {
            hit.found_at.among = one.part->part().number();
            BRAID_TRY(hit.chunk_id, one.part->part().documents().chunk_id(one.row));
        }
    }
    std::ranges::sort(hits, [](const LegHit& a, const LegHit& b) {
        return a.score != b.score ? a.score > b.score : a.chunk_id < b.chunk_id;
    });
    if (hits.size() > depth) hits.resize(depth);
    return hits;
}

double threshold_of(const std::vector<Candidate>& candidates, std::size_t depth) {
    if (depth == 0 || candidates.size() < depth) return 0;
    std::vector<double> scores;
    scores.reserve(candidates.size());
    for (const Candidate& one : candidates) scores.push_back(one.score);
    const auto last = scores.begin() + static_cast<std::ptrdiff_t>(depth - 1);
    std::ranges::nth_element(scores, last, std::greater());
    return std::max(0.0, *last);
}

Result<sparse::ScoredRow> place_below(const PartView& view, const LegHit& after) {
    const docs::StringTable& ids = view.part().documents().chunk_ids();
    BRAID_TRY(std::uint64_t row, ids.lower_bound(after.chunk_id));
    if (row < ids.size()) {
        BRAID_TRY(const std::string found, ids.at(row));
        if (found == after.chunk_id) ++row;
    }
    // There is no row before the first one to go on from: every row of that score follows.
    if (row == 0) {
        return sparse::ScoredRow{std::numeric_limits<std::uint32_t>::max(),
                                 std::nextafter(after.score, HUGE_VAL)};
    }
    return sparse::ScoredRow{static_cast<std::uint32_t>(row - 1), after.score};
}

}  // namespace braid::segment
