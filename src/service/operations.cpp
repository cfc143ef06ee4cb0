#include "braid/service/operations.hpp"

#include <algorithm>
#include <utility>

#include "braid/core/charge.hpp"
#include "braid/service/bounds.hpp"
#include "braid/service/experiment.hpp"

namespace braid::service {
namespace {

/// A profile that came with the request is limited like the request itself.
Result<> check_profile(const Profile& profile, const Request& request,
                       const RequestLimits& limits) {
    const std::size_t top_k = request.top_k.value_or(profile.top_k);
    BRAID_CHECK(at_most("profile.top_k", profile.top_k, limits.top_k));
    BRAID_CHECK(at_most("profile.depth", profile.depth, limits.depth));
    BRAID_CHECK(at_most("profile.depth_per_hit", profile.depth_per_hit * top_k, limits.depth));
    BRAID_CHECK(at_most("profile.max_hops", profile.max_hops, limits.hops));
    return at_most("profile.hop_top_k", profile.hop_top_k, limits.top_k);
}

void show(const ReadScope& scope, std::span<const Chunk> chunks, const Caller& caller) {
    if (caller.observer == nullptr) return;
    for (const Chunk& chunk : chunks) {
        caller.observer->showed(scope.collection, std::span(&chunk.chunk_id, 1));
    }
}

/// Problems met on the way, in words for the caller; the log has the originals.
void word_for(const Caller& caller, Answer& answer) {
    if (!caller.is_remote) return;
    for (std::string& warning : answer.warnings) warning = caller.told(std::move(warning));
    for (SourceReport& report : answer.sources) report.error = caller.told(std::move(report.error));
}

}  // namespace

Result<ReadScope> scope_of(const Place& place, const Caller& caller, Access access,
                           const std::optional<Filter>& filter) {
    ReadScope scope;
    scope.collection = place.collection;
    scope.namespace_ = place.namespace_ ? *place.namespace_ : caller.namespaces.usual();
    scope.principal = caller.principal;
    scope.filter = filter;
    BRAID_CHECK(validate_collection_name(scope.collection));
    BRAID_CHECK(caller.require(access, scope.collection));
    BRAID_CHECK(caller.namespaces.require(scope.namespace_));
    return scope;
}

Operations::Operations(Database& database, ServiceOptions options)
    : database_(database), options_(std::move(options)) {}

Result<> Operations::check(const Request& request, const Caller& caller) const {
    const RequestLimits& limits = caller.limits;
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
        return invalid_argument("\"document_ids\" may name at most " + std::to_string(limits.ids) +
                                " here");
    }
    const bool anywhere = caller.namespaces.all();
    BRAID_TRY(const SearchTarget target,
              anywhere ? database_.target_of(request, caller.principal)
                       : database_.target_of(in_own_namespace(request, caller), caller.principal));
    if (request.own_profile) BRAID_CHECK(check_profile(target.profile, request, limits));
    if (target.collections.size() > limits.collections) {
        return invalid_argument("\"collections\" may name at most " +
                                std::to_string(limits.collections) + " here");
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

Result<Request> Operations::admitted(Request request, const Caller& caller) const {
    BRAID_CHECK(check(request, caller));
    return in_own_namespace(std::move(request), caller);
}

Result<Answer> Operations::given(Result<Answer> answer, const Caller& caller) const {
    if (!answer) return tl::unexpected(with_collections(std::move(answer).error(), caller));
    word_for(caller, *answer);
    if (caller.observer != nullptr) caller.observer->answered(*answer);
    return answer;
}

Result<Answer> Operations::search(const Request& request, const Caller& caller) const {
    const bool anywhere = caller.namespaces.all();  // most callers: no copy of the request
    return given(anywhere ? database_.retrieve(request, caller.principal, caller.counted())
                          : database_.retrieve(in_own_namespace(request, caller), caller.principal,
                                               caller.counted()),
                 caller);
}

std::vector<Result<Answer>> Operations::search_batch(std::span<const Request> requests,
                                                     const Caller& caller) const {
    std::vector<Request> own;
    if (!caller.namespaces.all()) {
        for (const Request& request : requests) own.push_back(in_own_namespace(request, caller));
        requests = own;
    }
    auto answers = database_.retrieve_batch(requests, caller.principal, caller.counted());
    for (auto& answer : answers) answer = given(std::move(answer), caller);
    return answers;
}

Result<Answer> Operations::retrieve(const Request& request, const Caller& caller) const {
    if (auto allowed = check(request, caller); !allowed) {
        return tl::unexpected(with_collections(std::move(allowed).error(), caller));
    }
    if (options_.experiment && caller.is_remote) {
        const std::string& key =
            caller.experiment_key.empty() ? caller.principal.name : caller.experiment_key;
        return options_.experiment->answer(request, key, database_.vocabulary(),
                                           [&](const Request& own) -> Result<Answer> {
                                               BRAID_CHECK(check(own, caller));
                                               return search(own, caller);
                                           });
    }
    return search(request, caller);
}

Result<ClickReport> Operations::perform(const ClickRequest& wanted,
                                        const Caller& /*caller*/) const {
    if (!options_.experiment) {
        return fail(ErrorCode::Unsupported, "this server runs no experiment");
    }
    BRAID_CHECK(options_.experiment->clicked(wanted.id, wanted.chunk_id));
    return ClickReport{wanted.id};
}

std::vector<Result<Answer>> Operations::retrieve_batch(std::vector<Result<Request>> requests,
                                                       const Caller& caller) const {
    std::vector<Result<Answer>> answers(requests.size());
    std::vector<Request> allowed;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        auto may = requests[i] ? check(*requests[i], caller) : Result<>();
        if (!requests[i] || !may) {
            answers[i] = tl::unexpected(requests[i] ? may.error() : requests[i].error());
            continue;
        }
        allowed.push_back(*std::move(requests[i]));
        places.push_back(i);
    }
    auto found = search_batch(allowed, caller);
    for (std::size_t i = 0; i < found.size(); ++i) answers[places[i]] = std::move(found[i]);
    return answers;
}

Result<Context> Operations::perform(ContextRequest wanted, const Caller& caller) const {
    BRAID_CHECK(from_to("budget", wanted.budget, 1, ContextRequest::kMaxBudget));
    BRAID_TRY(const Request request, admitted(std::move(wanted.request), caller));
    BRAID_TRY(Context context,
              database_.context(request, wanted.budget, caller.principal, caller.counted()));
    for (std::string& warning : context.warnings) warning = caller.told(std::move(warning));
    if (caller.observer != nullptr) caller.observer->packed(context);
    return context;
}

Result<std::vector<std::optional<Chunk>>> Operations::perform(const GetRequest& wanted,
                                                              const Caller& caller) const {
    BRAID_TRY(const ReadScope scope, scope_of(wanted.at, caller, Access::Read));
    BRAID_CHECK(some_ids("chunk_ids", wanted.chunk_ids.size(), caller.limits.ids));
    BRAID_TRY(auto found, database_.get(scope, wanted.chunk_ids, wanted.vectors, caller.counted()));
    if (caller.observer != nullptr) {
        std::vector<std::string> shown;
        for (const auto& chunk : found) {
            if (chunk) shown.push_back(chunk->chunk_id);
        }
        caller.observer->showed(scope.collection, shown);
    }
    return found;
}

Result<Chunk> Operations::perform(const ChunkRequest& wanted, const Caller& caller) const {
    BRAID_TRY(const ReadScope scope, scope_of(wanted.at, caller, Access::Read));
    const std::string& id = wanted.chunk_id;
    BRAID_TRY(auto found,
              database_.get(scope, std::span(&id, 1), wanted.vectors, caller.counted()));
    std::optional<Chunk>& chunk = found.front();
    if (!chunk) return fail(ErrorCode::NotFound, "there is no chunk \"" + id + "\"");
    show(scope, std::span(&*chunk, 1), caller);
    return *std::move(chunk);
}

Result<ScanPage> Operations::perform(const ScanRequest& wanted, const Caller& caller) const {
    BRAID_TRY(const ReadScope scope, scope_of(wanted.at, caller, Access::Read, wanted.filter));
    BRAID_CHECK(from_to("limit", wanted.limit, 1, caller.limits.ids));
    ScanPage page;
    BRAID_TRY(page.chunks,
              database_.scan(scope, wanted.after, wanted.limit, wanted.vectors, caller.counted()));
    show(scope, page.chunks, caller);
    if (page.chunks.size() == wanted.limit) page.after = page.chunks.back().chunk_id;
    return page;
}

Result<DocumentChunks> Operations::perform(DocumentRequest wanted, const Caller& caller) const {
    BRAID_TRY(ReadScope scope, scope_of(wanted.at, caller, Access::Read));
    DocumentChunks document{std::move(wanted.document_id), {}};
    const std::string& id = document.document_id;
    scope.filter = Filter::compare(Filter::Op::Eq, "document_id", Value(id));
    BRAID_TRY(document.chunks,
              database_.scan(scope, "", caller.limits.chunks + 1, false, caller.counted()));
    if (document.chunks.size() > caller.limits.chunks) {
        return invalid_argument("document \"" + id + "\" has more than " +
                                std::to_string(caller.limits.chunks) +
                                " chunks; list them page by page");
    }
    if (document.chunks.empty()) {
        return fail(ErrorCode::NotFound, "there is no document \"" + id + "\"");
    }
    std::ranges::stable_sort(document.chunks, {}, &Chunk::chunk_index);
    show(scope, document.chunks, caller);
    return document;
}

Result<NeighborChunks> Operations::perform(const NeighborsRequest& wanted,
                                           const Caller& caller) const {
    BRAID_TRY(const ReadScope scope, scope_of(wanted.at, caller, Access::Read));
    BRAID_CHECK(from_to("count", wanted.count, 0, caller.limits.neighbors));
    const CallLimits counted = caller.counted();
    NeighborChunks found;
    BRAID_TRY(found.chunks, database_.neighbors(scope, wanted.chunk_id, wanted.count, counted));
    show(scope, found.chunks, caller);
    for (const Chunk& chunk : found.chunks) {
        BRAID_CHECK(core::charge(counted, core::printed_size(chunk.content)));
        if (&chunk != &found.chunks.front()) found.text += "\n[CHUNK BOUNDARY]\n";
        found.text += chunk.content;
    }
    return found;
}

Result<FacetReport> Operations::perform(FacetsRequest wanted, const Caller& caller) const {
    BRAID_TRY(const ReadScope scope, scope_of(wanted.at, caller, Access::Read, wanted.filter));
    BRAID_CHECK(from_to("limit", wanted.limit, 1, FacetsRequest::kMaxValues));
    FacetReport report{std::move(wanted.field), {}};
    BRAID_TRY(report.values, database_.facets(scope, report.field, wanted.limit, caller.counted()));
    return report;
}

Result<ChunkCount> Operations::perform(const CountRequest& wanted, const Caller& caller) const {
    BRAID_TRY(const ReadScope scope, scope_of(wanted.at, caller, Access::Read, wanted.filter));
    ChunkCount counted;
    BRAID_TRY(counted.count, database_.count(scope, caller.call));
    return counted;
}

Result<StatsReport> Operations::perform(const StatsRequest& wanted, const Caller& caller) const {
    BRAID_TRY(const ReadScope scope, scope_of(wanted.at, caller, Access::Read));
    StatsReport report{scope.collection, scope.namespace_, {}};
    if (wanted.probe) {
        BRAID_CHECK(scope_of(wanted.at, caller, Access::Write));
        CallLimits patient = caller.call;  // the deadline is one of searches
        patient.deadline.reset();
        BRAID_CHECK(database_.probe(scope, patient));
    }
    BRAID_TRY(report.stats, database_.stats(scope, caller.call));
    if (!caller.namespaces.all()) {  // what follows is of all namespaces together
        report.stats.bytes_on_disk = 0;
        report.stats.parts.clear();
        report.stats.index.reset();
        report.stats.resident_bytes = 0;
    }
    return report;
}

}  // namespace braid::service
