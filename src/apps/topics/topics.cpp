#include "braid/applications.hpp"

namespace braid {

Result<Answer> retrieve_topic(const Database& database, const std::string& topic_id,
                              const std::string& query, const TopicSearch& search,
                              const std::string& collection, const Principal& principal,
                              const CallLimits& limits) {
    Request request;
    request.query = query;
    request.profile = "topic";
    request.collections = {collection};
    request.namespace_ = topic_id;
    request.dense_weight = search.alpha;
    request.dense_top_k = search.k_semantic;
    request.sparse_top_k = search.k_lexical;
    request.top_k = search.k_context;
    return database.retrieve(request, principal, limits);
}

}  // namespace braid
