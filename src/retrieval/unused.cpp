#include "braid/retrieval/unused.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace braid::retrieval {
namespace {

bool has_dense(const Plan& plan) {
    return std::ranges::any_of(plan.collections, &CollectionPlan::dense);
}

bool has_sparse(const Plan& plan) {
    return std::ranges::any_of(plan.collections, &CollectionPlan::sparse);
}

bool is_fused(const Plan& plan) {
    return plan.strategy == Strategy::Hybrid;
}

bool by_rank(const Plan& plan) {
    return is_fused(plan) && plan.fusion.method == FusionMethod::Rrf;
}

struct Key {
    std::string_view name;
    bool (*given)(const Request& request);
    bool (*used)(const Request& request, const Plan& plan);
};

/// Keys that are not here always have an effect, or are refused where they would have none.
constexpr std::array kKeys{
    Key{"query_embedding", [](const Request& r) { return !r.query_embedding.empty(); },
        [](const Request&, const Plan& p) { return has_dense(p); }},
    Key{"fusion.method", [](const Request& r) { return r.fusion.method.has_value(); },
        [](const Request&, const Plan& p) { return is_fused(p); }},
    Key{"fusion.k", [](const Request& r) { return r.fusion.k.has_value(); },
        [](const Request&, const Plan& p) { return by_rank(p) || (p.several && !p.by_scores); }},
    Key{"fusion.rank_base", [](const Request& r) { return r.fusion.rank_base.has_value(); },
        [](const Request&, const Plan& p) { return by_rank(p); }},
    Key{"fusion.fill_scores", [](const Request& r) { return r.fusion.fill_scores == true; },
        [](const Request&, const Plan& p) { return is_fused(p); }},
    Key{"fusion.preset", [](const Request& r) { return r.fusion.preset.has_value(); },
        [](const Request&, const Plan& p) { return is_fused(p); }},
    Key{"across", [](const Request& r) { return r.across.has_value(); },
        [](const Request&, const Plan& p) { return p.several; }},
    Key{"dense_weight", [](const Request& r) { return r.dense_weight.has_value(); },
        [](const Request&, const Plan& p) {
            return is_fused(p) && fusion::uses_weights(p.fusion);
        }},
    Key{"bm25", [](const Request& r) { return !r.bm25.empty(); },
        [](const Request&, const Plan& p) { return has_sparse(p); }},
    Key{"dense_top_k", [](const Request& r) { return r.dense_top_k.has_value(); },
        [](const Request&, const Plan& p) {
            return has_dense(p) && p.strategy != Strategy::MultiHop;
        }},
    Key{"sparse_top_k", [](const Request& r) { return r.sparse_top_k.has_value(); },
        [](const Request&, const Plan& p) { return has_sparse(p); }},
    Key{"max_hops", [](const Request& r) { return r.max_hops.has_value(); },
        [](const Request&, const Plan& p) { return p.strategy == Strategy::MultiHop; }},
    Key{"hop_top_k", [](const Request& r) { return r.hop_top_k.has_value(); },
        [](const Request&, const Plan& p) { return p.strategy == Strategy::MultiHop; }},
    Key{"expand_query", [](const Request& r) { return r.expand_query; }, uses_phrasings},
    Key{"use_hyde", [](const Request& r) { return r.use_hyde; }, uses_hypothetical_answer},
    Key{"query_syntax", [](const Request& r) { return r.query_syntax; },
        [](const Request&, const Plan& p) { return has_sparse(p); }},
    Key{"exact", [](const Request& r) { return r.exact; },
        [](const Request&, const Plan& p) { return has_dense(p); }},
    Key{"recall", [](const Request& r) { return r.recall.has_value(); },
        [](const Request& r, const Plan& p) { return has_dense(p) && !r.exact; }},
};

}  // namespace

bool uses_phrasings(const Request& request, const Plan& plan) {
    return request.expand_query && !request.query_syntax && has_sparse(plan);
}

bool uses_hypothetical_answer(const Request& request, const Plan& plan) {
    return request.use_hyde && request.query_embedding.empty() && has_dense(plan);
}

std::vector<std::string> unused_keys(const Request& request, const Plan& plan) {
    std::vector<std::string> unused;
    for (const Key& key : kKeys) {
        if (key.given(request) && !key.used(request, plan)) unused.emplace_back(key.name);
    }
    return unused;
}

}  // namespace braid::retrieval
