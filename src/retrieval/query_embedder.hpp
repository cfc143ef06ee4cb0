#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/backend.hpp"
#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::retrieval {

struct QueryVector {
    std::vector<float> vector;
    bool cached = false;
    std::vector<std::string> warnings;
    double load_ms = 0;  // spent on making the embedder, if this call was the first
};

/// Embeds a query for a collection; fails where its embedder cannot be had. It may take its time,
/// and is called on a thread of its own.
using QueryEmbedder = std::function<Result<QueryVector>(const Schema& schema, std::string_view text,
                                                        const CallLimits& limits)>;

/// The vector of a query that was embedded before, if it is still at hand; takes no time.
using QueryMemory = std::function<std::optional<QueryVector>(
    const Schema& schema, std::string_view text, const CallLimits& limits)>;

/// A query in the forms in which the legs searched it.
struct QueryForms {
    std::vector<std::string> variants;  // the query, then its phrasings: what the sparse legs took
    std::optional<std::string> hypothetical_answer;     // embedded instead of the query
    std::map<std::string, std::vector<float>> vectors;  // by collection
    std::map<std::string, Error> failures;              // by collection: why there is no vector
    std::shared_ptr<const TextStatistics> statistics;   // that several collections shared
};

}  // namespace braid::retrieval
