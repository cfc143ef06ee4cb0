#include "braid/server/http/operations.hpp"

#include <string_view>
#include <utility>

#include "braid/json/json.hpp"
#include "braid/server/http/documents.hpp"
#include "braid/server/mcp/write_tools.hpp"

namespace braid::server {
namespace {

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

}  // namespace

Result<std::string> printed(const Result<Value>& value) {
    if (!value) return tl::unexpected(value.error());
    return json::print(*value);
}

// NOLINTBEGIN(performance-unnecessary-value-param): the functions of all routes have one type
Result<std::string> retrieve(const service::Operations& operations, Object params,
                             const service::Caller& caller) {
    return service::print_retrieve(operations, params, caller);
}

Result<std::string> retrieve_batch(const service::Operations& operations, Object params,
                                   const service::Caller& caller) {
    return service::print_retrieve_batch(operations, params, caller);
}

Result<std::string> put_chunk(const service::Operations& operations, Object params,
                              const service::Caller& caller) {
    Object scope = take_scope(params);
    scope.set("chunks", Array{std::move(params)});
    return call<service::AddRequest>(operations, std::move(scope), caller);
}

Result<std::string> patch_chunk(const service::Operations& operations, Object params,
                                const service::Caller& caller) {
    Object scope = take_scope(params);
    scope.set("updates", Array{std::move(params)});
    return call<service::UpdateRequest>(operations, std::move(scope), caller);
}

Result<std::string> delete_chunk(const service::Operations& operations, Object params,
                                 const service::Caller& caller) {
    listed(params, "chunk_id", "chunk_ids");
    return call<service::RemoveRequest>(operations, std::move(params), caller);
}

Result<std::string> delete_document(const service::Operations& operations, Object params,
                                    const service::Caller& caller) {
    listed(params, "document_id", "document_ids");
    return call<service::RemoveRequest>(operations, std::move(params), caller);
}

Result<std::string> put_document(const service::Operations& operations, Object params,
                                 const service::Caller& caller) {
    return printed(ingest_text(operations, params, caller));
}

Result<std::string> post_one_document(const service::Operations& operations, Object params,
                                      const service::Caller& caller) {
    return printed(post_document(operations, params, caller));
}
// NOLINTEND(performance-unnecessary-value-param)

}  // namespace braid::server
