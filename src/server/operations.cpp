#include "braid/server/operations.hpp"

#include <algorithm>
#include <utility>

#include "braid/json/fields.hpp"
#include "braid/server/parameters.hpp"
#include "braid/wire/answer_json.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/context_json.hpp"
#include "braid/wire/error_json.hpp"
#include "braid/wire/request_json.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::server {
namespace {

using json::Fields;

constexpr std::size_t kMaxBudget = 1'000'000;
constexpr std::size_t kMaxFacets = 10'000;

tl::unexpected<Error> bad(std::string message) {
    return fail(ErrorCode::InvalidArgument, std::move(message));
}

Result<> at_most(std::string_view what, std::size_t value, std::size_t limit) {
    if (value <= limit) return {};
    return bad("\"" + std::string(what) + "\" may be " + std::to_string(limit) +
               " at most here, got " + std::to_string(value));
}

}  // namespace

Operations::Operations(Database& database, ServiceOptions options)
    : database_(database), options_(std::move(options)) {}

std::vector<std::string> Operations::collections_of(const Request& request) const {
    if (!request.collections.empty()) return request.collections;
    for (const auto* const profiles : {&options_.profiles, &builtin_profiles()}) {
        const auto found = std::ranges::find(*profiles, request.profile, &Profile::name);
        if (found == profiles->end()) continue;
        if (!found->collections.empty()) return found->collections;
        break;
    }
    return {std::string(kDefaultCollection)};
}

Result<> Operations::check(const Request& request, const Caller& caller) const {
    const Limits& limits = caller.limits;
    if (request.query.size() > limits.query_bytes) {
        return bad("\"query\" has " + std::to_string(request.query.size()) +
                   " bytes, the limit is " + std::to_string(limits.query_bytes));
    }
    BRAID_CHECK(at_most("top_k", request.top_k.value_or(0), limits.top_k));
    BRAID_CHECK(at_most("dense_top_k", request.dense_top_k.value_or(0), limits.depth));
    BRAID_CHECK(at_most("sparse_top_k", request.sparse_top_k.value_or(0), limits.depth));
    BRAID_CHECK(at_most("max_hops", request.max_hops.value_or(0), limits.hops));
    BRAID_CHECK(at_most("hop_top_k", request.hop_top_k.value_or(0), limits.top_k));
    BRAID_CHECK(at_most("expand_neighbors", request.expand_neighbors, limits.neighbors));
    if (request.document_ids && request.document_ids->size() > limits.ids) {
        return bad("\"document_ids\" may name " + std::to_string(limits.ids) + " at most here");
    }
    if (request.collections.size() > limits.collections) {
        return bad("\"collections\" may name " + std::to_string(limits.collections) +
                   " at most here");
    }
    for (const std::string& name : collections_of(request)) {
        BRAID_CHECK(validate_collection_name(name));
        BRAID_CHECK(caller.require(Access::Read, name));
    }
    return {};
}

Result<Request> Operations::read_request(const Value& json, const Caller& caller) const {
    BRAID_TRY(Request request, wire::request_from_value(json));
    BRAID_CHECK(check(request, caller));
    return request;
}

Result<Value> Operations::retrieve(const Object& params, const Caller& caller) const {
    BRAID_TRY(const Request request, read_request(params, caller));
    BRAID_TRY(const Answer answer, database_.retrieve(request, caller.principal, caller.call));
    return wire::answer_to_value(answer);
}

Result<Value> Operations::retrieve_batch(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const Array* const items, fields.array("requests"));
    if (items == nullptr) return bad("\"requests\" is required");
    BRAID_CHECK(fields.finish());
    if (items->empty() || items->size() > caller.limits.batch) {
        return bad("\"requests\" must hold 1 to " + std::to_string(caller.limits.batch) +
                   " requests, got " + std::to_string(items->size()));
    }
    std::vector<Request> requests;
    std::vector<std::size_t> places;
    requests.reserve(items->size());
    places.reserve(items->size());
    Array answers(items->size());
    for (std::size_t i = 0; i < items->size(); ++i) {
        auto request = read_request((*items)[i], caller);
        if (!request) {
            answers[i] = wire::error_to_value(request.error());
            continue;
        }
        requests.push_back(*std::move(request));
        places.push_back(i);
    }
    const auto found = database_.retrieve_batch(requests, caller.principal, caller.call);
    for (std::size_t i = 0; i < found.size(); ++i) {
        answers[places[i]] =
            found[i] ? wire::answer_to_value(*found[i]) : wire::error_to_value(found[i].error());
    }
    return Value(Object{{"answers", std::move(answers)}});
}

Result<Value> Operations::context(const Object& params, const Caller& caller) const {
    Object request_members = params;
    request_members.erase("budget");
    Fields fields(params);
    BRAID_TRY(const std::size_t budget, read_size(fields, "budget", 2000, 1, kMaxBudget));
    BRAID_TRY(const Request request, read_request(std::move(request_members), caller));
    BRAID_TRY(const Context context,
              database_.context(request, budget, caller.principal, caller.call));
    return wire::context_to_value(context);
}

Result<Value> Operations::get(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Read));
    BRAID_TRY(const auto ids, read_ids(fields, "chunk_ids", caller.limits.ids));
    BRAID_TRY(const auto vectors, fields.boolean("vectors"));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const auto found, database_.get(scope, ids, vectors.value_or(false)));
    Array chunks;
    chunks.reserve(found.size());
    for (const auto& chunk : found) {
        chunks.push_back(chunk ? wire::chunk_to_value(*chunk) : Value());
    }
    return Value(Object{{"chunks", std::move(chunks)}});
}

Result<Value> Operations::neighbors(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Read));
    BRAID_TRY(const auto id, fields.required("chunk_id", fields.string("chunk_id")));
    BRAID_TRY(const std::size_t count, read_size(fields, "count", 1, 0, caller.limits.neighbors));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const auto found, database_.neighbors(scope, id, count));
    Array chunks;
    chunks.reserve(found.size());
    std::string text;
    for (const Chunk& chunk : found) {
        if (!chunks.empty()) text += "\n[CHUNK BOUNDARY]\n";
        text += chunk.content;
        chunks.push_back(wire::chunk_to_value(chunk));
    }
    return Value(Object{{"chunks", std::move(chunks)}, {"text", Value(std::move(text))}});
}

Result<Value> Operations::facets(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_filtered_scope(fields, caller));
    BRAID_TRY(const auto field, fields.required("field", fields.string("field")));
    BRAID_TRY(const std::size_t limit, read_size(fields, "limit", 20, 1, kMaxFacets));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const auto counts, database_.facets(scope, field, limit));
    return wire::facets_to_value(field, counts);
}

Result<Value> Operations::count(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_filtered_scope(fields, caller));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const std::uint64_t count, database_.count(scope));
    return Value(Object{{"count", count}});
}

Result<Value> Operations::collections(const Object& params, const Caller& caller) const {
    const Fields fields(params);
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const auto found, database_.collections(caller.principal));
    Array collections;
    collections.reserve(found.size());
    for (const CollectionInfo& info : found) {
        if (!caller.require(Access::Read, info.name)) continue;
        collections.push_back(wire::collection_to_value(info));
    }
    return Value(Object{{"collections", std::move(collections)}});
}

Result<Value> Operations::stats(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Read));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const CollectionStats stats, database_.stats(scope));
    return wire::stats_to_value(scope, stats);
}

}  // namespace braid::server
