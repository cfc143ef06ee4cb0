// Words of the query that no chunk holds: the sparse legs are searched again with near ones.
#include <string>
#include <utility>
#include <vector>

#include "braid/retrieval/legs.hpp"
#include "braid/retrieval/typos.hpp"

namespace braid::retrieval {

void LegSearch::search_words() {
    search(LegKind::Sparse);
    correct_words();
}

/// The sparse legs have searched the query as it stands. Those in whose collections a word is
/// misspelt search again.
void LegSearch::correct_words() {
    std::vector<SearchedWords> searched;
    std::vector<LegRun*> runs;
    for (CollectionRun& run : runs_) {
        for (LegRun& leg : run.legs) {
            if (leg.leg.kind != LegKind::Sparse || !leg.result || !leg.result->absent) continue;
            searched.push_back({&leg.leg, &*leg.result->absent});
            runs.push_back(&leg);
        }
    }
    const ReaderPtr snapshot = work_.snapshot->with(work_.leg_limits);
    auto& found = work_.answer.corrections;
    found = find_typos(*snapshot, work_.request, work_.backend.capabilities(), searched);
    if (found.empty()) return;
    std::vector<std::pair<LegRun*, LegRun>> plain;
    for (LegRun* const run : runs) {
        Leg corrected = run->leg;
        if (!correct_typos(*snapshot, work_.request.query, found, corrected)) continue;
        if (!corrected.clause) continue;
        plain.emplace_back(run, *run);
        run->leg = std::move(corrected);
        run->result.reset();
    }
    if (work_.plan.by_scores) share_statistics();
    search(LegKind::Sparse);
    for (auto& [run, before] : plain) {
        if (run->result) continue;
        // What was found by the words as they stand is better than nothing.
        std::erase_if(found, [&](const Correction& one) {
            return one.collection == before.leg.scope.collection;
        });
        *run = std::move(before);
    }
    for (const Correction& one : found) {
        work_.note("no chunk contains \"" + one.word + "\": \"" + one.instead +
                   "\" was searched for too (\"typos\": \"off\" leaves it out)");
    }
}

}  // namespace braid::retrieval
