#include "braid/retrieval/standings.hpp"

#include <string>
#include <utility>

namespace braid::retrieval {

Result<std::vector<LegStanding>> standings_in(const Reader& snapshot, const Capabilities& can,
                                              const Leg& leg, std::span<const std::string> ids) {
    BRAID_TRY(const auto scores, snapshot.score(leg, ids));
    std::vector<std::optional<std::uint64_t>> ranks(ids.size());
    if (can.whole_ranking) {
        BRAID_TRY(ranks, snapshot.rank_of(leg, ids));
    }
    std::vector<LegStanding> standings(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        standings[i] = {std::string(name_of(leg.kind)), scores[i], ranks[i], leg.depth};
    }
    return standings;
}

void add_standings(Work& work, const std::vector<CollectionRun>& runs) {
    for (const CollectionRun& run : runs) {
        std::vector<std::string> ids;
        std::vector<Hit*> hits;
        for (Hit& hit : work.answer.hits) {
            if (hit.collection != work.plan.collections[run.index].name) continue;
            ids.push_back(hit.chunk.chunk_id);
            hits.push_back(&hit);
        }
        if (ids.empty()) continue;
        for (const LegRun& leg : run.legs) {
            if (!leg.result) continue;
            auto found = standings_in(*work.snapshot, work.backend.capabilities(), leg.leg, ids);
            if (!found) {
                work.fell_short("explain_failed", "what \"explain\" adds is missing: " +
                                                      std::move(found).error().message);
                return;
            }
            for (std::size_t i = 0; i < hits.size(); ++i) {
                (*found)[i].depth = leg.first_depth;
                hits[i]->legs.push_back(std::move((*found)[i]));
            }
        }
    }
}

}  // namespace braid::retrieval
