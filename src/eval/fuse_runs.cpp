#include "braid/eval/fuse_runs.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace braid::eval {
namespace {

/// The lists that the runs hold for one query; null where a run lacks it.
struct QueryLists {
    std::string_view query;
    std::vector<const RankedList*> lists;
};

std::vector<QueryLists> by_query(std::span<const Run> runs) {
    std::vector<QueryLists> queries;
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t r = 0; r < runs.size(); ++r) {
        for (const RankedList& list : runs[r].lists) {
            const auto [place, is_new] = places.try_emplace(list.query, queries.size());
            if (is_new) {
                queries.push_back({list.query, std::vector<const RankedList*>(runs.size())});
            }
            queries[place->second].lists[r] = &list;
        }
    }
    return queries;
}

}  // namespace

Result<Run> fuse_runs(std::span<const Run> runs, std::span<const double> weights,
                      const fusion::Options& options) {
    if (runs.empty()) return invalid_argument("there are no runs to fuse");
    if (!weights.empty() && weights.size() != runs.size()) {
        return invalid_argument("there are " + std::to_string(weights.size()) + " weights for " +
                                std::to_string(runs.size()) + " runs");
    }
    Run fused_run;
    for (const QueryLists& query : by_query(runs)) {
        std::vector<std::vector<fusion::Entry>> entries(runs.size());
        std::vector<fusion::RankedList> lists;
        lists.reserve(runs.size());
        for (std::size_t r = 0; r < runs.size(); ++r) {
            if (query.lists[r] != nullptr) {
                for (const ScoredDocument& hit : query.lists[r]->hits) {
                    entries[r].push_back({hit.document, hit.score, entries[r].size()});
                }
            }
            lists.push_back({runs[r].name, weights.empty() ? 1.0 : weights[r], entries[r]});
        }
        auto fused = fusion::fuse(lists, options);
        if (!fused) {
            return fail("query \"" + std::string(query.query) + "\"", std::move(fused).error());
        }
        RankedList& list =
            fused_run.lists.emplace_back(std::string(query.query), std::vector<ScoredDocument>{});
        list.hits.reserve(fused->hits.size());
        for (const fusion::FusedHit& hit : fused->hits) {
            list.hits.push_back({std::string(hit.id), hit.score});
        }
    }
    return fused_run;
}

}  // namespace braid::eval
