#include <array>
#include <utility>

#include "braid/server/http_routes.hpp"
#include "braid/server/write_tools.hpp"

namespace braid::server {
namespace {

using Type = QueryParameter::Type;

constexpr QueryParameter kNamespace{"namespace", Type::String, "Default: \"default\"."};
constexpr QueryParameter kVectors{"vectors", Type::Boolean, "Give the vectors too."};
constexpr QueryParameter kIfVersion{"if_version", Type::Integer,
                                    "Only if the chunk has this version; otherwise 409."};
constexpr auto kInNamespace = std::to_array({kNamespace});
constexpr auto kOneChunk = std::to_array({kNamespace, kVectors});
constexpr auto kChangeOne = std::to_array({kNamespace, kIfVersion});
constexpr auto kScan = std::to_array<QueryParameter>(
    {kNamespace,
     kVectors,
     {"after", Type::String, "The id of the last chunk of the page before."},
     {"limit", Type::Integer, "Default: 100."}});
constexpr auto kNeighbors = std::to_array<QueryParameter>(
    {kNamespace, {"count", Type::Integer, "On each side. Default: 1."}});

using Member = Result<Value> (Operations::*)(const Object&, const Caller&) const;

// The functions of all routes have one type. NOLINTBEGIN(performance-unnecessary-value-param)
template <Member kMember>
Result<Value> call(const Operations& operations, Object params, const Caller& caller) {
    return (operations.*kMember)(params, caller);
}

/// Moves a member into a list of its own: `"chunk_id": "a"` becomes `"chunk_ids": ["a"]`.
void listed(Object& params, std::string_view from, std::string_view to) {
    Value* const value = params.find(from);
    if (value == nullptr) return;
    Array list;
    list.push_back(std::move(*value));
    params.erase(from);
    params.set(to, std::move(list));
}

/// Moves the members that belong to the call, rather than to the chunk, out of `params`.
Object take_scope(Object& params) {
    Object scope;
    for (const std::string_view key : {"collection", "namespace", "if_version"}) {
        Value* const value = params.find(key);
        if (value == nullptr) continue;
        scope.set(key, std::move(*value));
        params.erase(key);
    }
    return scope;
}

Result<Value> put_chunk(const Operations& operations, Object params, const Caller& caller) {
    Object scope = take_scope(params);
    scope.set("chunks", Array{std::move(params)});
    return operations.add(scope, caller);
}

Result<Value> patch_chunk(const Operations& operations, Object params, const Caller& caller) {
    Object scope = take_scope(params);
    scope.set("updates", Array{std::move(params)});
    return operations.update(scope, caller);
}

Result<Value> delete_chunk(const Operations& operations, Object params, const Caller& caller) {
    listed(params, "chunk_id", "chunk_ids");
    return operations.remove(params, caller);
}

Result<Value> delete_document(const Operations& operations, Object params, const Caller& caller) {
    listed(params, "document_id", "document_ids");
    return operations.remove(params, caller);
}

Result<Value> put_document(const Operations& operations, Object params, const Caller& caller) {
    return ingest_text(operations, params, caller);
}
// NOLINTEND(performance-unnecessary-value-param)

constexpr std::string_view kCollectionsPath = "/v1/collections";
constexpr std::string_view kCollectionPath = "/v1/collections/{collection}";
constexpr std::string_view kChunksPath = "/v1/collections/{collection}/chunks";
constexpr std::string_view kChunkPath = "/v1/collections/{collection}/chunks/{chunk_id}";
constexpr std::string_view kDocumentPath = "/v1/collections/{collection}/documents/{document_id}";

constexpr auto kRoutes = std::to_array<Route>({
    {.method = "POST",
     .path = "/v1/retrieve",
     .id = "retrieve",
     .tag = "search",
     .summary = "Search: a request to an answer",
     .request = "Request",
     .response = "Answer",
     .run = call<&Operations::retrieve>},
    {.method = "POST",
     .path = "/v1/retrieve_batch",
     .id = "retrieveBatch",
     .tag = "search",
     .summary = "Several requests; each is answered on its own",
     .request = "Requests",
     .response = "Answers",
     .run = call<&Operations::retrieve_batch>},
    {.method = "POST",
     .path = "/v1/hybrid_search",
     .id = "hybridSearch",
     .tag = "search",
     .summary = "Search artifacts, their chunks, and on request memory and history",
     .request = "HybridSearch",
     .response = "HybridSearchAnswer",
     .run = call<&Operations::hybrid_search>},
    {.method = "POST",
     .path = "/v1/context",
     .id = "context",
     .tag = "search",
     .summary = "Passages for a prompt, within a budget of tokens",
     .request = "ContextRequest",
     .response = "Context",
     .run = call<&Operations::context>},
    {.method = "POST",
     .path = "/v1/explain",
     .id = "explain",
     .tag = "search",
     .summary = "Where one chunk stands, and why",
     .request = "ExplainRequest",
     .response = "Explanation",
     .run = call<&Operations::explain>},
    {.method = "POST",
     .path = "/v1/why_not",
     .id = "whyNot",
     .tag = "search",
     .summary = "Why the answer does not hold a chunk, and what would bring it in",
     .request = "ExplainRequest",
     .response = "WhyNot",
     .run = call<&Operations::why_not>},
    {.method = "POST",
     .path = "/v1/eval",
     .id = "eval",
     .tag = "search",
     .summary = "Measure a way of searching on judged queries",
     .request = "EvalRequest",
     .response = "Evaluation",
     .run = call<&Operations::evaluate>},

    {.method = "GET",
     .path = kCollectionsPath,
     .id = "listCollections",
     .tag = "collections",
     .summary = "The collections the caller may read",
     .response = "Collections",
     .run = call<&Operations::collections>},
    {.method = "POST",
     .path = kCollectionsPath,
     .id = "createCollection",
     .tag = "collections",
     .summary = "Create a collection",
     .request = "NewCollection",
     .response = "Collection",
     .writes = true,
     .success = 201,
     .run = call<&Operations::create_collection>},
    {.method = "GET",
     .path = kCollectionPath,
     .id = "describeCollection",
     .tag = "collections",
     .summary = "A collection's schema and size",
     .response = "Collection",
     .run = call<&Operations::describe>},
    {.method = "DELETE",
     .path = kCollectionPath,
     .id = "dropCollection",
     .tag = "collections",
     .summary = "Drop a collection with all it holds",
     .response = "Dropped",
     .writes = true,
     .run = call<&Operations::drop_collection>},
    {.method = "GET",
     .path = "/v1/collections/{collection}/stats",
     .id = "collectionStats",
     .tag = "collections",
     .summary = "Sizes of one namespace",
     .response = "Stats",
     .query = kInNamespace,
     .run = call<&Operations::stats>},
    {.method = "POST",
     .path = "/v1/collections/{collection}/facets",
     .id = "facets",
     .tag = "collections",
     .summary = "The most frequent values of a field",
     .request = "FacetsRequest",
     .response = "Facets",
     .run = call<&Operations::facets>},
    {.method = "POST",
     .path = "/v1/collections/{collection}/count",
     .id = "count",
     .tag = "collections",
     .summary = "How many chunks match a filter",
     .request = "CountRequest",
     .response = "Count",
     .run = call<&Operations::count>},

    {.method = "GET",
     .path = kChunksPath,
     .id = "listChunks",
     .tag = "chunks",
     .summary = "Chunks in the order of their ids, a page at a time",
     .response = "ChunkPage",
     .query = kScan,
     .run = call<&Operations::scan>},
    {.method = "POST",
     .path = kChunksPath,
     .id = "addChunks",
     .tag = "chunks",
     .summary = "Add or replace chunks: as JSON all or none, as lines of JSON each on its own",
     .request = "NewChunks",
     .response = "Written",
     .kind = RouteKind::Chunks,
     .writes = true,
     .query = kInNamespace,
     .run = call<&Operations::add>},
    {.method = "POST",
     .path = "/v1/collections/{collection}/get",
     .id = "getChunks",
     .tag = "chunks",
     .summary = "Chunks by their ids, null for unknown ones",
     .request = "GetRequest",
     .response = "Chunks",
     .run = call<&Operations::get>},
    {.method = "POST",
     .path = "/v1/collections/{collection}/update",
     .id = "updateChunks",
     .tag = "chunks",
     .summary = "Change metadata and labels, all or none",
     .request = "UpdateRequest",
     .response = "Updated",
     .writes = true,
     .run = call<&Operations::update>},
    {.method = "POST",
     .path = "/v1/collections/{collection}/delete",
     .id = "deleteChunks",
     .tag = "chunks",
     .summary = "Delete by chunk ids, document ids or a filter",
     .request = "DeleteRequest",
     .response = "Deleted",
     .writes = true,
     .run = call<&Operations::remove>},
    {.method = "GET",
     .path = kChunkPath,
     .id = "getChunk",
     .tag = "chunks",
     .summary = "One chunk",
     .response = "Chunk",
     .query = kOneChunk,
     .run = call<&Operations::chunk>},
    {.method = "PUT",
     .path = kChunkPath,
     .id = "putChunk",
     .tag = "chunks",
     .summary = "Add or replace one chunk",
     .request = "NewChunk",
     .response = "Written",
     .writes = true,
     .query = kChangeOne,
     .run = put_chunk},
    {.method = "PATCH",
     .path = kChunkPath,
     .id = "updateChunk",
     .tag = "chunks",
     .summary = "Change one chunk's metadata and labels",
     .request = "Update",
     .response = "Updated",
     .writes = true,
     .query = kChangeOne,
     .run = patch_chunk},
    {.method = "DELETE",
     .path = kChunkPath,
     .id = "deleteChunk",
     .tag = "chunks",
     .summary = "Delete one chunk; no error if there is none",
     .response = "Deleted",
     .writes = true,
     .query = kChangeOne,
     .run = delete_chunk},
    {.method = "GET",
     .path = "/v1/collections/{collection}/chunks/{chunk_id}/neighbors",
     .id = "neighbors",
     .tag = "chunks",
     .summary = "A chunk and those around it",
     .response = "Neighbors",
     .query = kNeighbors,
     .run = call<&Operations::neighbors>},

    {.method = "GET",
     .path = kDocumentPath,
     .id = "getDocument",
     .tag = "documents",
     .summary = "The chunks of a document, in its order",
     .response = "Document",
     .query = kInNamespace,
     .run = call<&Operations::document>},
    {.method = "PUT",
     .path = kDocumentPath,
     .id = "putDocument",
     .tag = "documents",
     .summary = "Cut a text into chunks, in place of the document's old ones",
     .request = "NewDocument",
     .response = "Ingested",
     .writes = true,
     .query = kInNamespace,
     .run = put_document},
    {.method = "DELETE",
     .path = kDocumentPath,
     .id = "deleteDocument",
     .tag = "documents",
     .summary = "Delete a document's chunks; no error if there are none",
     .response = "Deleted",
     .writes = true,
     .query = kInNamespace,
     .run = delete_document},

    {.method = "GET",
     .path = "/v1/openapi.json",
     .id = "openapi",
     .tag = "server",
     .summary = "This document",
     .response = "OpenApi",
     .kind = RouteKind::OpenApi},
    {.method = "GET",
     .path = "/healthz",
     .id = "health",
     .tag = "server",
     .summary = "The process lives",
     .response = "Health",
     .kind = RouteKind::Health},
    {.method = "GET",
     .path = "/readyz",
     .id = "ready",
     .tag = "server",
     .summary = "The server takes requests",
     .response = "Health",
     .kind = RouteKind::Ready},
    {.method = "GET",
     .path = "/metrics",
     .id = "metrics",
     .tag = "server",
     .summary = "Prometheus metrics, for callers who see everything",
     .response = "Metrics",
     .kind = RouteKind::Metrics},
    {.method = "POST",
     .path = "/rpc",
     .id = "rpc",
     .tag = "messages",
     .summary = "JSON-RPC 2.0: a message or a batch; 204 if nothing is owed",
     .request = "RpcMessage",
     .response = "RpcAnswer",
     .kind = RouteKind::Rpc},
    {.method = "POST",
     .path = "/mcp",
     .id = "mcp",
     .tag = "messages",
     .summary = "Model Context Protocol: one message",
     .request = "McpMessage",
     .response = "RpcAnswer",
     .kind = RouteKind::Mcp},
    {.method = "DELETE",
     .path = "/mcp",
     .id = "endMcpSession",
     .tag = "messages",
     .summary = "End the session that Mcp-Session-Id names",
     .kind = RouteKind::Mcp,
     .success = 204},
});

}  // namespace

std::span<const Route> routes() {
    return kRoutes;
}

}  // namespace braid::server
