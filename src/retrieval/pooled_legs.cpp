#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "braid/retrieval/legs.hpp"
#include "braid/retrieval/receipt.hpp"

namespace braid::retrieval {
namespace {

/// Legs in the order in which their terms are added.
constexpr std::array kKinds{LegKind::Dense, LegKind::Sparse};

/// A chunk of one of several collections, which may use the same ids. The id comes first, so that
/// ties are broken by it.
std::string pooled_id(std::string_view chunk_id, std::size_t collection) {
    return std::string(chunk_id) + '\0' + std::to_string(collection);
}

struct PooledHit {
    std::string id;
    std::size_t collection = 0;
    fusion::Entry entry;  // as its collection has it
};

/// The entries of one leg in all collections, best first. Ids borrow from the hits.
std::vector<fusion::Entry> ranked_together(std::vector<PooledHit>& hits, std::size_t before) {
    std::ranges::sort(hits, [](const PooledHit& a, const PooledHit& b) {
        return a.entry.score != b.entry.score ? a.entry.score > b.entry.score : a.id < b.id;
    });
    std::vector<fusion::Entry> entries;
    entries.reserve(hits.size());
    std::size_t position = before;
    for (const PooledHit& hit : hits) {
        const bool ranked = hit.entry.position != fusion::Entry::kUnranked;
        entries.push_back(
            {hit.id, hit.entry.score, ranked ? position++ : fusion::Entry::kUnranked});
    }
    return entries;
}

}  // namespace

/// Words are as rare as they are in all collections together.
void LegSearch::share_statistics() {
    auto shared = std::make_shared<TextStatistics>();
    const ReaderPtr snapshot = work_.snapshot->with(work_.leg_limits);
    for (CollectionRun& run : runs_) {
        for (LegRun& leg : run.legs) {
            if (leg.leg.kind != LegKind::Sparse || leg.error) continue;
            auto own = snapshot->text_statistics(leg.leg);
            if (own) {
                shared->add(*own);
            } else {
                leg.error = std::move(own).error();
            }
        }
    }
    for (CollectionRun& run : runs_) {
        for (LegRun& leg : run.legs) {
            if (leg.leg.kind == LegKind::Sparse) leg.leg.statistics = shared;
        }
    }
}

Result<std::vector<Candidate>> LegSearch::next_pooled_list() {
    if (work_.plan.strategy == Strategy::Hybrid) return fused_pool();
    std::vector<Candidate> pooled;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        BRAID_TRY(auto list, next_list(i));
        std::ranges::move(list, std::back_inserter(pooled));
    }
    std::ranges::stable_sort(pooled, ranks_before);
    return pooled;
}

Result<std::vector<Candidate>> LegSearch::fused_pool() {
    std::array<std::vector<PooledHit>, kKinds.size()> hits;
    for (const CollectionRun& run : runs_) {
        BRAID_TRY(const auto entries, unseen_entries(run));
        for (std::size_t l = 0; l < run.legs.size(); ++l) {
            auto& kind = hits[run.legs[l].leg.kind == kKinds[0] ? 0 : 1];
            for (const fusion::Entry& entry : entries[l]) {
                kind.push_back({pooled_id(entry.id, run.index), run.index, entry});
            }
        }
    }
    std::array<std::vector<fusion::Entry>, kKinds.size()> entries;
    std::vector<fusion::RankedList> lists;
    std::map<std::string_view, std::pair<std::size_t, std::string_view>> origins;
    for (std::size_t k = 0; k < kKinds.size(); ++k) {
        entries[k] = ranked_together(hits[k], pooled_[kKinds[k]]);
        pooled_[kKinds[k]] += hits[k].size();
        const bool dense = kKinds[k] == LegKind::Dense;
        lists.push_back({name_of(kKinds[k]),
                         dense ? work_.plan.dense_weight : work_.plan.sparse_weight, entries[k]});
        for (const PooledHit& hit : hits[k]) {
            origins.emplace(hit.id, std::pair(hit.collection, hit.entry.id));
        }
    }
    const auto choice = weigh(lists);
    BRAID_TRY(const fusion::Fused fused, fusion::fuse(lists, fusing()));
    const auto common = common_to(fused, lists, choice);
    std::vector<Candidate> pooled;
    pooled.reserve(fused.hits.size());
    for (const fusion::FusedHit& hit : fused.hits) {
        const auto& [collection, chunk_id] = origins.at(hit.id);
        Candidate& candidate = pooled.emplace_back();
        candidate.collection = collection;
        candidate.chunk_id = chunk_id;
        const Metric metric = work_.plan.collections[collection].schema.vectors.metric;
        candidate.receipt = receipt_of(fused, hit, lists, metric);
        candidate.common = common;
        runs_[collection].seen.insert(candidate.chunk_id);
    }
    return pooled;
}

}  // namespace braid::retrieval
