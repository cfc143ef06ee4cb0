#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "braid/answer.hpp"
#include "braid/result.hpp"
#include "braid/server/caller.hpp"
#include "braid/server/operations.hpp"
#include "braid/value.hpp"

namespace braid::server {

/// One search over what an agent keeps: whole documents, their chunks, and on request its memory
/// and its conversations.
struct HybridSearchRequest {
    std::string query;
    std::size_t limit = 5;  // 1 to 50; others are cut to that, with a warning
    bool include_memory = false;
    bool include_history = false;
    bool expand_neighbors = false;  // one chunk before and after each
    Value filters;                  // null, or an object of conditions
    std::vector<std::string> warnings;
};

/// Reads the parameters "query", "limit", "include_memory", "include_history", "expand_neighbors"
/// and "filters". The last holds "artifact_type", "sensitivity", "created_after", "created_before",
/// "document_ids" and the like, or any condition of a filter.
Result<HybridSearchRequest> read_hybrid_search(const Object& params);

/// Searches the collections `artifacts` and `artifact_chunks`, `memory` and `history` if asked for,
/// in that order; those that do not exist are left out with a warning.
Result<Answer> hybrid_search(const Operations& operations, const HybridSearchRequest& request,
                             const Caller& caller);

/// The answer as text for an agent:
///
///     Found 1 results (searched: artifact_chunks, artifacts):
///
///     [1] RRF score: 0.033 (from: artifacts, artifact_chunks)
///     Type: chunk | ID: art_abc123::chunk::002
///     Title: Minutes
///     Source: drive | Sensitivity: normal
///     Snippet: "The first 200 characters..."
///     Evidence: https://example.com/minutes
///
/// with line breaks inside a value shown as spaces, so that no document can forge a line.
std::string hybrid_search_text(const Answer& answer);

/// The same for programs: `{"results": [...], "searched", "complete", "warnings"}`, each result
/// with its source and how far it is to be trusted. Conforms to hybrid_search_schema().
Value hybrid_search_value(const Answer& answer);
Value hybrid_search_schema();

}  // namespace braid::server
