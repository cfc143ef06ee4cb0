#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/answer.hpp"
#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operations.hpp"
#include "braid/value.hpp"

namespace braid::apps {

/// One search over what an agent keeps: whole documents, their chunks, and on request its memory
/// and its conversations.
struct HybridSearchRequest {
    std::string query;
    /// None: the profile's. Others than 1 to the profile's most are cut to that, with a warning.
    std::optional<std::int64_t> limit;
    bool include_memory = false;
    bool include_history = false;
    bool expand_neighbors = false;         // one chunk before and after each
    bool query_syntax = false;             // read the query as query language
    std::optional<std::string> typos;      // "auto" or "off"
    Value filters;                         // null, or an object of conditions
    std::vector<std::string> collections;  // empty: those meant for documents, see below
    std::optional<Across> across;
    std::optional<std::string> namespace_;
    std::optional<std::int64_t> deadline_ms;  // 1 or more
};

/// `artifacts`, `artifact_chunks`, `memory`, `history`.
bool is_agent_collection(std::string_view name);

/// Reads the parameters "query", "limit", "include_memory", "include_history", "expand_neighbors",
/// "query_syntax", "typos", "collections", "namespace" or "topicId", "across" ("ranks", "scores"),
/// "deadline_ms" and "filters". The last holds "artifact_type", "sensitivity", "created_after",
/// "created_before", "document_ids" and the like, or any condition of a filter.
Result<HybridSearchRequest> read_hybrid_search(const Object& params);

/// Searches the collections named, else `artifacts` and `artifact_chunks`, else, where neither
/// exists, all others that the caller may see; then `memory` and `history` if asked for. With the
/// profile "artifacts". Those that do not exist are left out with a warning; where none was named
/// and there is none, nothing is found.
Result<Answer> hybrid_search(const service::Operations& operations,
                             const HybridSearchRequest& request, const service::Caller& caller);

/// The same from parameters to hybrid_search_value().
Result<Value> run_hybrid_search(const service::Operations& operations, const Object& params,
                                const service::Caller& caller);

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

/// The hits that were expanded, with their neighbours, each below its number in the text above;
/// empty if there is none:
///
///     [1]
///     The passage before.
///     [CHUNK BOUNDARY]
///     The passage.
std::string hybrid_search_passages(const Answer& answer);

/// The same for programs: `{"results": [...], "searched", "complete", "warnings", "unused"}`, each
/// result with its source, how far it is to be trusted, and its receipt. Conforms to
/// hybrid_search_schema().
Value hybrid_search_value(const Answer& answer);
Value hybrid_search_schema();

}  // namespace braid::apps
