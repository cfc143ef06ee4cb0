#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "braid/answer.hpp"
#include "braid/backend.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::retrieval {

struct QueryVector {
    std::vector<float> vector;
    bool cached = false;
    std::vector<std::string> warnings;
};

/// Embeds a query for a collection; fails where its embedder cannot be had.
using QueryEmbedder = std::function<Result<QueryVector>(const Schema& schema, std::string_view text,
                                                        const CallLimits& limits)>;

/// Turns requests into answers over any Backend: plan, embed once, all legs in parallel, fuse, cut,
/// fetch the survivors, write the receipts. Safe for concurrent use.
class Retriever {
public:
    /// The backend must outlive it.
    Retriever(const Backend& backend, QueryEmbedder embedder, std::vector<Profile> profiles,
              LogSink log);

    /// One leg down: the other answers, and the answer says so. All legs down: the first error.
    Result<Answer> retrieve(const Request& request, const Principal& principal,
                            const CallLimits& limits) const;

private:
    const Backend& backend_;
    QueryEmbedder embedder_;
    std::vector<Profile> profiles_;
    LogSink log_;
};

}  // namespace braid::retrieval
