#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

/// Embeds a query for a collection; fails where its embedder cannot be had.
using QueryEmbedder = std::function<Result<QueryVector>(const Schema& schema, std::string_view text,
                                                        const CallLimits& limits)>;

}  // namespace braid::retrieval
