#include <string>
#include <vector>

#include "braid/wire/bm25_json.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/profile_json.hpp"
#include "braid/wire/request_json.hpp"
#include "braid/wire/stage_json.hpp"

namespace braid::wire {
namespace {

/// Sets the member if there is a value.
template <class T>
void put(Object& out, std::string_view key, const std::optional<T>& value) {
    if (value) out.set(key, Value(*value));
}

/// The same, if it is true.
void put(Object& out, std::string_view key, bool on) {
    if (on) out.set(key, true);
}

/// The same, if there is a text.
void put(Object& out, std::string_view key, const std::string& text) {
    if (!text.empty()) out.set(key, text);
}

Array list_of(const std::vector<std::string>& strings) {
    return {strings.begin(), strings.end()};
}

void put_fusion(Object& out, const FusionChoice& fusion) {
    Object object;
    if (fusion.method) object.set("method", name_of(*fusion.method));
    put(object, "k", fusion.k);
    put(object, "rank_base", fusion.rank_base);
    put(object, "fill_scores", fusion.fill_scores);
    put(object, "preset", fusion.preset);
    if (!object.empty()) out.set("fusion", std::move(object));
}

void put_weights(Object& out, const Request& request) {
    put(out, "dense_weight", request.dense_weight);
    if (request.weights.empty()) return;
    Object weights;
    for (const auto& [source, weight] : request.weights) weights.set(source, weight);
    out.set("weights", std::move(weights));
}

}  // namespace

Value request_to_value(const Request& request) {
    Object out;
    put(out, "query", request.query);
    if (!request.query_embedding.empty()) {
        out.set("query_embedding", vector_to_value(request.query_embedding));
    }
    if (request.collections.size() == 1) {
        out.set("collection", request.collections.front());
    } else if (!request.collections.empty()) {
        out.set("collections", list_of(request.collections));
    }
    put(out, "namespace", request.namespace_);
    if (request.own_profile) {
        out.set("profile", own_profile_to_value(*request.own_profile));
    } else {
        put(out, "profile", request.profile);
    }
    if (request.strategy) out.set("strategy", name_of(*request.strategy));
    put(out, "top_k", request.top_k);
    put(out, "cursor", request.cursor);
    put_fusion(out, request.fusion);
    if (request.across) out.set("across", name_of(*request.across));
    put_weights(out, request);
    if (!request.bm25.empty()) out.set("bm25", bm25_choice_to_value(request.bm25));
    put(out, "dense_top_k", request.dense_top_k);
    put(out, "sparse_top_k", request.sparse_top_k);
    put(out, "max_hops", request.max_hops);
    put(out, "hop_top_k", request.hop_top_k);
    put(out, "score_threshold", request.score_threshold);
    if (request.filter) out.set("filter", filter_to_value(*request.filter));
    if (request.document_ids) out.set("document_ids", list_of(*request.document_ids));
    put(out, "expand_query", request.expand_query);
    put(out, "use_hyde", request.use_hyde);
    put(out, "query_syntax", request.query_syntax);
    if (!request.typos) out.set("typos", "off");
    put(out, "keep_duplicates", request.keep_duplicates);
    if (!request.stages.empty()) out.set("stages", stages_to_value(request.stages));
    if (request.expand_neighbors > 0) out.set("expand_neighbors", request.expand_neighbors);
    put(out, "exact", request.exact);
    put(out, "recall", request.recall);
    if (!request.highlight) out.set("highlight", false);
    put(out, "explain", request.explain);
    put(out, "deadline_ms", request.deadline_ms);
    return out;
}

}  // namespace braid::wire
