#include "braid/service/operations.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "braid/core/charge.hpp"
#include "braid/json/fields.hpp"
#include "braid/service/parameters.hpp"
#include "braid/wire/answer_json.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/context_json.hpp"
#include "braid/wire/error_json.hpp"
#include "braid/wire/request_json.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::service {
namespace {

using json::Fields;

template <Operations::Member kMember>
Result<Value> run(const Operations& operations, const Object& params, const Caller& caller) {
    return (operations.*kMember)(params, caller);
}

constexpr auto kOperations = std::to_array<NamedOperation>({
    {"retrieve", run<&Operations::retrieve>},
    {"retrieve_batch", run<&Operations::retrieve_batch>},
    {"context", run<&Operations::context>},
    {"explain", run<&Operations::explain>},
    {"why_not", run<&Operations::why_not>},
    {"eval", run<&Operations::evaluate>},
    {"add", run<&Operations::add>, true},
    {"update", run<&Operations::update>, true},
    {"delete", run<&Operations::remove>, true},
    {"get", run<&Operations::get>},
    {"scan", run<&Operations::scan>},
    {"document", run<&Operations::document>},
    {"neighbors", run<&Operations::neighbors>},
    {"facets", run<&Operations::facets>},
    {"count", run<&Operations::count>},
    {"highlight", run<&Operations::highlight>},
    {"whoami", run<&Operations::whoami>},
    {"collections", run<&Operations::collections>},
    {"describe", run<&Operations::describe>},
    {"create_collection", run<&Operations::create_collection>, true},
    {"finish_collection", run<&Operations::finish_collection>, true},
    {"drop_collection", run<&Operations::drop_collection>, true},
    {"stats", run<&Operations::stats>},
    {"compact", run<&Operations::compact>},
    {"check", run<&Operations::check_database>},
});

constexpr std::size_t kMaxBudget = 1'000'000;
constexpr std::size_t kMaxFacets = 10'000;

Result<> at_most(std::string_view what, std::size_t value, std::size_t limit) {
    if (value <= limit) return {};
    return invalid_argument("\"" + std::string(what) + "\" may be " + std::to_string(limit) +
                            " at most here, got " + std::to_string(value));
}

/// A profile that came with the request is bound as the request is.
Result<> check_profile(const Profile& profile, const Request& request, const Limits& limits) {
    const std::size_t top_k = request.top_k.value_or(profile.top_k);
    BRAID_CHECK(at_most("profile.top_k", profile.top_k, limits.top_k));
    BRAID_CHECK(at_most("profile.depth", profile.depth, limits.depth));
    BRAID_CHECK(at_most("profile.depth_per_hit", profile.depth_per_hit * top_k, limits.depth));
    BRAID_CHECK(at_most("profile.max_hops", profile.max_hops, limits.hops));
    return at_most("profile.hop_top_k", profile.hop_top_k, limits.top_k);
}

void show(const ReadScope& scope, const Chunk& chunk, const Caller& caller) {
    if (caller.observer == nullptr) return;
    caller.observer->showed(scope.collection, std::span(&chunk.chunk_id, 1));
}

/// What went wrong on the way, in words for the caller; the log has the others.
void word_for(const Caller& caller, Answer& answer) {
    if (!caller.is_remote) return;
    for (std::string& warning : answer.warnings) warning = caller.told(std::move(warning));
    for (SourceReport& report : answer.sources) report.error = caller.told(std::move(report.error));
}

Array chunks_to_array(const ReadScope& scope, const std::vector<Chunk>& found,
                      const Caller& caller) {
    Array chunks;
    chunks.reserve(found.size());
    for (const Chunk& chunk : found) {
        show(scope, chunk, caller);
        chunks.push_back(wire::chunk_to_value(chunk));
    }
    return chunks;
}

}  // namespace

std::span<const NamedOperation> named_operations() noexcept {
    return kOperations;
}

std::size_t requests_in(std::string_view operation, const Object& params) noexcept {
    const std::string_view key = operation == "retrieve_batch" ? "requests"
                                 : operation == "eval"         ? "queries"
                                                               : "";
    const Value* const list = key.empty() ? nullptr : params.find(key);
    return list != nullptr && list->is_array() ? std::max<std::size_t>(list->as_array().size(), 1)
                                               : 1;
}

Operations::Operations(Database& database, ServiceOptions options)
    : database_(database), options_(std::move(options)) {}

Result<> Operations::check(const Request& request, const Caller& caller) const {
    const Limits& limits = caller.limits;
    if (request.query.size() > limits.query_bytes) {
        return invalid_argument("\"query\" has " + std::to_string(request.query.size()) +
                                " bytes, the limit is " + std::to_string(limits.query_bytes));
    }
    BRAID_CHECK(at_most("top_k", request.top_k.value_or(0), limits.top_k));
    BRAID_CHECK(at_most("dense_top_k", request.dense_top_k.value_or(0), limits.depth));
    BRAID_CHECK(at_most("sparse_top_k", request.sparse_top_k.value_or(0), limits.depth));
    BRAID_CHECK(at_most("max_hops", request.max_hops.value_or(0), limits.hops));
    BRAID_CHECK(at_most("hop_top_k", request.hop_top_k.value_or(0), limits.top_k));
    BRAID_CHECK(at_most("expand_neighbors", request.expand_neighbors, limits.neighbors));
    if (request.document_ids && request.document_ids->size() > limits.ids) {
        return invalid_argument("\"document_ids\" may name " + std::to_string(limits.ids) +
                                " at most here");
    }
    const bool anywhere = caller.namespaces.all();
    BRAID_TRY(const SearchTarget target,
              anywhere ? database_.target_of(request, caller.principal)
                       : database_.target_of(in_own_namespace(request, caller), caller.principal));
    if (request.own_profile) BRAID_CHECK(check_profile(target.profile, request, limits));
    if (target.collections.size() > limits.collections) {
        return invalid_argument("\"collections\" may name " + std::to_string(limits.collections) +
                                " at most here");
    }
    for (const std::string& name : target.collections) {
        BRAID_CHECK(validate_collection_name(name));
        BRAID_CHECK(caller.require(Access::Read, name));
    }
    return caller.namespaces.require(target.namespace_);
}

Request Operations::in_own_namespace(Request request, const Caller& caller) const {
    if (caller.namespaces.all() || request.namespace_ || !request.cursor.empty()) return request;
    const auto target = database_.target_of(request, caller.principal);
    if (target && target->namespace_ == kDefaultNamespace) {
        request.namespace_ = caller.namespaces.usual();
    }
    return request;
}

Result<Request> Operations::read_request(const Value& json, const Caller& caller) const {
    BRAID_TRY(Request request, wire::request_from_value(json, database_.vocabulary()));
    BRAID_CHECK(check(request, caller));
    return in_own_namespace(std::move(request), caller);
}

Result<Answer> Operations::search(const Request& request, const Caller& caller) const {
    const bool anywhere = caller.namespaces.all();  // most callers: no copy of the request
    auto found = anywhere ? database_.retrieve(request, caller.principal, caller.counted())
                          : database_.retrieve(in_own_namespace(request, caller), caller.principal,
                                               caller.counted());
    if (!found) return tl::unexpected(with_collections(std::move(found).error(), caller));
    Answer& answer = *found;
    word_for(caller, answer);
    if (caller.observer != nullptr) caller.observer->answered(answer);
    return found;
}

std::vector<Result<Answer>> Operations::search_batch(std::span<const Request> requests,
                                                     const Caller& caller) const {
    std::vector<Request> own;
    if (!caller.namespaces.all()) {
        for (const Request& request : requests) own.push_back(in_own_namespace(request, caller));
        requests = own;
    }
    auto answers = database_.retrieve_batch(requests, caller.principal, caller.counted());
    for (auto& answer : answers) {
        if (!answer) {
            answer = tl::unexpected(with_collections(std::move(answer).error(), caller));
            continue;
        }
        word_for(caller, *answer);
        if (caller.observer != nullptr) caller.observer->answered(*answer);
    }
    return answers;
}

Result<Value> Operations::retrieve(const Object& params, const Caller& caller) const {
    BRAID_TRY(const Request request, read_request(params, caller));
    BRAID_TRY(const Answer answer, search(request, caller));
    return wire::answer_to_value(answer, database_.vocabulary());
}

Result<Value> Operations::retrieve_batch(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const Array* const items, fields.array("requests"));
    if (items == nullptr) return invalid_argument("\"requests\" is required");
    BRAID_CHECK(fields.finish());
    if (items->empty() || items->size() > caller.limits.batch) {
        return invalid_argument("\"requests\" must hold 1 to " +
                                std::to_string(caller.limits.batch) + " requests, got " +
                                std::to_string(items->size()));
    }
    std::vector<Request> requests;
    std::vector<std::size_t> places;
    requests.reserve(items->size());
    places.reserve(items->size());
    Array answers(items->size());
    for (std::size_t i = 0; i < items->size(); ++i) {
        auto request = read_request((*items)[i], caller);
        if (!request) {
            answers[i] = wire::error_to_value(caller.told(request.error()));
            continue;
        }
        requests.push_back(*std::move(request));
        places.push_back(i);
    }
    const auto found = search_batch(requests, caller);
    for (std::size_t i = 0; i < found.size(); ++i) {
        answers[places[i]] = found[i] ? wire::answer_to_value(*found[i], database_.vocabulary())
                                      : wire::error_to_value(caller.told(found[i].error()));
    }
    return Value(Object{{"answers", std::move(answers)}});
}

Result<Value> Operations::context(const Object& params, const Caller& caller) const {
    Object request_members = params;
    request_members.erase("budget");
    Fields fields(params);
    BRAID_TRY(const std::size_t budget, read_size(fields, "budget", 2000, 1, kMaxBudget));
    BRAID_TRY(const Request request, read_request(std::move(request_members), caller));
    BRAID_TRY(Context context,
              database_.context(request, budget, caller.principal, caller.counted()));
    for (std::string& warning : context.warnings) warning = caller.told(std::move(warning));
    if (caller.observer != nullptr) caller.observer->packed(context);
    return wire::context_to_value(context);
}

Result<Value> Operations::get(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Read));
    BRAID_TRY(const auto ids, read_ids(fields, "chunk_ids", caller.limits.ids));
    BRAID_TRY(const auto vectors, fields.boolean("vectors"));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const auto found,
              database_.get(scope, ids, vectors.value_or(false), caller.counted()));
    Array chunks;
    chunks.reserve(found.size());
    std::vector<std::string> shown;
    for (const auto& chunk : found) {
        if (chunk) shown.push_back(chunk->chunk_id);
        chunks.push_back(chunk ? wire::chunk_to_value(*chunk) : Value());
    }
    if (caller.observer != nullptr) caller.observer->showed(scope.collection, shown);
    return Value(Object{{"chunks", std::move(chunks)}});
}

Result<Value> Operations::chunk(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Read));
    BRAID_TRY(const auto id, fields.required("chunk_id", fields.string("chunk_id")));
    BRAID_TRY(const auto vectors, fields.boolean("vectors"));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const auto found,
              database_.get(scope, std::span(&id, 1), vectors.value_or(false), caller.counted()));
    const std::optional<Chunk>& chunk = found.front();
    if (!chunk) return fail(ErrorCode::NotFound, "there is no chunk \"" + id + "\"");
    show(scope, *chunk, caller);
    return wire::chunk_to_value(*chunk);
}

Result<Value> Operations::scan(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_filtered_scope(fields, caller));
    BRAID_TRY(const auto after, fields.string("after"));
    BRAID_TRY(const std::size_t limit, read_size(fields, "limit", 100, 1, caller.limits.ids));
    BRAID_TRY(const auto vectors, fields.boolean("vectors"));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const auto found, database_.scan(scope, after.value_or(""), limit,
                                               vectors.value_or(false), caller.counted()));
    Array chunks = chunks_to_array(scope, found, caller);
    const Value last = found.size() == limit ? Value(found.back().chunk_id) : Value();
    return Value(Object{{"chunks", std::move(chunks)}, {"after", last}});
}

Result<Value> Operations::document(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(ReadScope scope, read_scope(fields, caller, Access::Read));
    BRAID_TRY(const auto id, fields.required("document_id", fields.string("document_id")));
    BRAID_CHECK(fields.finish());
    scope.filter = Filter::compare(Filter::Op::Eq, "document_id", Value(id));
    BRAID_TRY(auto found,
              database_.scan(scope, "", caller.limits.chunks + 1, false, caller.counted()));
    if (found.size() > caller.limits.chunks) {
        return invalid_argument("document \"" + id + "\" has more than " +
                                std::to_string(caller.limits.chunks) +
                                " chunks; list them page by page");
    }
    if (found.empty()) return fail(ErrorCode::NotFound, "there is no document \"" + id + "\"");
    std::ranges::stable_sort(found, {}, &Chunk::chunk_index);
    Array chunks = chunks_to_array(scope, found, caller);
    return Value(Object{{"document_id", Value(id)}, {"chunks", std::move(chunks)}});
}

Result<Value> Operations::neighbors(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Read));
    BRAID_TRY(const auto id, fields.required("chunk_id", fields.string("chunk_id")));
    BRAID_TRY(const std::size_t count, read_size(fields, "count", 1, 0, caller.limits.neighbors));
    BRAID_CHECK(fields.finish());
    const CallLimits counted = caller.counted();
    BRAID_TRY(const auto found, database_.neighbors(scope, id, count, counted));
    Array chunks = chunks_to_array(scope, found, caller);
    std::string text;
    for (const Chunk& chunk : found) {
        BRAID_CHECK(core::charge(counted, core::printed_size(chunk.content)));
        if (&chunk != &found.front()) text += "\n[CHUNK BOUNDARY]\n";
        text += chunk.content;
    }
    return Value(Object{{"chunks", std::move(chunks)}, {"text", Value(std::move(text))}});
}

Result<Value> Operations::facets(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_filtered_scope(fields, caller));
    BRAID_TRY(const auto field, fields.required("field", fields.string("field")));
    BRAID_TRY(const std::size_t limit, read_size(fields, "limit", 20, 1, kMaxFacets));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const auto counts, database_.facets(scope, field, limit, caller.counted()));
    return wire::facets_to_value(field, counts);
}

Result<Value> Operations::count(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_filtered_scope(fields, caller));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const std::uint64_t count, database_.count(scope, caller.call));
    return Value(Object{{"count", count}});
}

Result<Value> Operations::stats(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Read));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(CollectionStats stats, database_.stats(scope, caller.call));
    if (!caller.namespaces.all()) {  // what follows is of all namespaces together
        stats.bytes_on_disk = 0;
        stats.parts.clear();
        stats.resident_bytes = 0;
    }
    return wire::stats_to_value(scope, stats);
}

}  // namespace braid::service
