#include <string>
#include <utility>

#include "braid/core/rfc3339.hpp"
#include "braid/json/json.hpp"
#include "braid/service/operation_json.hpp"
#include "braid/service/parameters.hpp"
#include "braid/wire/check_json.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/context_json.hpp"
#include "braid/wire/explain_json.hpp"
#include "braid/wire/request_json.hpp"
#include "braid/wire/schema_json.hpp"

// The other side of operation_params.cpp and operation_output.cpp: what a client of the socket
// writes and reads.
namespace braid::service {
namespace {

Object place_params(const Place& at) {
    Object params{{"collection", Value(at.collection)}};
    if (at.namespace_) params.set("namespace", *at.namespace_);
    return params;
}

Object selection_params(const Place& at, const std::optional<Filter>& filter) {
    Object params = place_params(at);
    if (filter) params.set("filter", filter_to_value(*filter));
    return params;
}

void put_version(Object& params, const std::optional<Version>& version) {
    if (version) params.set("if_version", *version);
}

Object request_params(const Request& request, std::string_view key, Value value) {
    Value params = wire::request_to_value(request);
    params.as_object().set(key, std::move(value));
    return std::move(params.as_object());
}

Value update_to_value(const MetadataUpdate& update) {
    Object out{{"chunk_id", Value(update.chunk_id)}, {"metadata", Value(update.metadata)}};
    for (const auto& [key, time] : {std::pair("created_at", &update.created_at),
                                    std::pair("expires_at", &update.expires_at)}) {
        if (*time) out.set(key, core::print_rfc3339(**time));
    }
    if (update.sensitivity) out.set("sensitivity", *update.sensitivity);
    if (update.visibility_scope) {
        out.set("visibility_scope", strings_to_array(*update.visibility_scope));
    }
    return out;
}

Object params_of(const ContextRequest& wanted) {
    return request_params(wanted.request, "budget", wanted.budget);
}

Object params_of(const ExplainRequest& wanted) {
    return request_params(wanted.request, "chunk_id", wanted.chunk_id);
}

Object params_of(const WhyNotRequest& wanted) {
    return request_params(wanted.request, "chunk_id", wanted.chunk_id);
}

Object params_of(const AddRequest& wanted) {
    Object params = place_params(wanted.at);
    Array chunks;
    chunks.reserve(wanted.chunks.size());
    for (const Chunk& chunk : wanted.chunks) chunks.push_back(wire::chunk_to_value(chunk));
    params.set("chunks", std::move(chunks));
    if (wanted.schema) params.set("schema", wire::schema_to_value(*wanted.schema));
    put_version(params, wanted.if_version);
    if (wanted.replace_documents) params.set("replace_documents", true);
    if (wanted.skip_unchanged) params.set("skip_unchanged", true);
    return params;
}

Object params_of(const UpdateRequest& wanted) {
    Object params = place_params(wanted.at);
    Array updates;
    updates.reserve(wanted.updates.size());
    for (const MetadataUpdate& update : wanted.updates) updates.push_back(update_to_value(update));
    params.set("updates", std::move(updates));
    put_version(params, wanted.if_version);
    return params;
}

Object params_of(const RemoveRequest& wanted) {
    Object params = selection_params(wanted.at, wanted.which.filter);
    if (!wanted.which.chunk_ids.empty()) {
        params.set("chunk_ids", strings_to_array(wanted.which.chunk_ids));
    }
    if (!wanted.which.document_ids.empty()) {
        params.set("document_ids", strings_to_array(wanted.which.document_ids));
    }
    if (wanted.everything) params.set("everything", true);
    put_version(params, wanted.if_version);
    return params;
}

Object params_of(const GetRequest& wanted) {
    Object params = place_params(wanted.at);
    params.set("chunk_ids", strings_to_array(wanted.chunk_ids));
    if (wanted.vectors) params.set("vectors", true);
    return params;
}

Object params_of(const ScanRequest& wanted) {
    Object params = selection_params(wanted.at, wanted.filter);
    if (!wanted.after.empty()) params.set("after", wanted.after);
    params.set("limit", wanted.limit);
    if (wanted.vectors) params.set("vectors", true);
    return params;
}

Object params_of(const FacetsRequest& wanted) {
    Object params = selection_params(wanted.at, wanted.filter);
    params.set("field", wanted.field);
    params.set("limit", wanted.limit);
    return params;
}

Object params_of(const CountRequest& wanted) {
    return selection_params(wanted.at, wanted.filter);
}

Object params_of(const DescribeRequest& wanted) {
    return place_params(wanted.at);
}

Object params_of(const StatsRequest& wanted) {
    Object params = place_params(wanted.at);
    if (wanted.probe) params.set("probe", true);
    return params;
}

Object params_of(const CreateCollectionRequest& wanted) {
    Object params{{"name", Value(wanted.name)}};
    if (wanted.schema) params.set("schema", wire::schema_to_value(*wanted.schema));
    if (wanted.unfinished) params.set("unfinished", true);
    return params;
}

Object params_of(const FinishCollectionRequest& wanted) {
    return {{"collection", Value(wanted.collection)}};
}

Object params_of(const DropCollectionRequest& wanted) {
    return {{"collection", Value(wanted.collection)}};
}

Object params_of(const CompactRequest& wanted) {
    return {{"collection", Value(wanted.collection)}};
}

Object params_of(const ReembedRequest& wanted) {
    Object params{{"collection", Value(wanted.collection)}};
    if (wanted.embedder) params.set("embedder", Value(*wanted.embedder));
    return params;
}

Object params_of(const RankerRequest& wanted) {
    return {{"collection", Value(wanted.collection)}};
}

Object params_of(const SetRankerRequest& wanted) {
    return {{"collection", Value(wanted.collection)},
            {"ranker", json::parse(wanted.model).value_or(Value())}};
}

Object params_of(const CollectionsRequest& /*wanted*/) {
    return {};
}

Object params_of(const CheckRequest& /*wanted*/) {
    return {};
}

std::uint64_t number_in(const Value& json, std::string_view key) {
    const Value* const found = json.find(key);
    return found != nullptr && found->is_int() && found->as_int() >= 0
               ? static_cast<std::uint64_t>(found->as_int())
               : 0;
}

bool flag_in(const Value& json, std::string_view key) {
    const Value* const found = json.find(key);
    return found != nullptr && found->is_bool() && found->as_bool();
}

std::vector<std::string> strings_in(const Value& json, std::string_view key) {
    std::vector<std::string> strings;
    for (const Value& item : list_in(json, key)) {
        if (item.is_string()) strings.push_back(item.as_string());
    }
    return strings;
}

/// Counts and warnings of a write; `written` is the key of the chunks it changed.
WriteReport write_in(const Value& json, std::string_view written) {
    return {number_in(json, written),   number_in(json, "replaced"),
            number_in(json, "removed"), number_in(json, "unchanged"),
            number_in(json, "version"), strings_in(json, "warnings")};
}

Result<Context> output_in(As<ContextRequest> /*as*/, const Value& json) {
    return wire::context_from_value(json);
}

Result<Explanation> output_in(As<ExplainRequest> /*as*/, const Value& json) {
    return wire::explanation_from_value(json);
}

Result<WhyNot> output_in(As<WhyNotRequest> /*as*/, const Value& json) {
    return wire::why_not_from_value(json);
}

Result<AddReport> output_in(As<AddRequest> /*as*/, const Value& json) {
    return AddReport{text_in(json, "collection"), flag_in(json, "created"),
                     text_in(json, "namespace"), strings_in(json, "chunk_ids"),
                     write_in(json, "written")};
}

Result<UpdateReport> output_in(As<UpdateRequest> /*as*/, const Value& json) {
    return UpdateReport{text_in(json, "collection"), write_in(json, "updated")};
}

Result<RemoveReport> output_in(As<RemoveRequest> /*as*/, const Value& json) {
    return RemoveReport{text_in(json, "collection"), write_in(json, "deleted")};
}

Result<std::vector<std::optional<Chunk>>> output_in(As<GetRequest> /*as*/, const Value& json) {
    std::vector<std::optional<Chunk>> chunks;
    for (const Value& chunk : list_in(json, "chunks")) {
        chunks.emplace_back();
        if (chunk.is_null()) continue;
        BRAID_TRY(chunks.back(), wire::stored_chunk_from_value(chunk));
    }
    return chunks;
}

Result<ScanPage> output_in(As<ScanRequest> /*as*/, const Value& json) {
    ScanPage page;
    for (const Value& chunk : list_in(json, "chunks")) {
        BRAID_TRY(page.chunks.emplace_back(), wire::stored_chunk_from_value(chunk));
    }
    const Value* const after = json.find("after");
    if (after != nullptr && after->is_string()) page.after = after->as_string();
    return page;
}

Result<FacetReport> output_in(As<FacetsRequest> /*as*/, const Value& json) {
    FacetReport report{text_in(json, "field"), {}};
    BRAID_TRY(report.values, wire::facets_from_value(json));
    return report;
}

Result<ChunkCount> output_in(As<CountRequest> /*as*/, const Value& json) {
    return ChunkCount{number_in(json, "count")};
}

Result<std::vector<CollectionInfo>> output_in(As<CollectionsRequest> /*as*/, const Value& json) {
    std::vector<CollectionInfo> collections;
    for (const Value& info : list_in(json, "collections")) {
        BRAID_TRY(collections.emplace_back(), wire::collection_from_value(info));
    }
    return collections;
}

Result<CollectionInfo> output_in(As<DescribeRequest> /*as*/, const Value& json) {
    return wire::collection_from_value(json);
}

Result<CollectionInfo> output_in(As<CreateCollectionRequest> /*as*/, const Value& json) {
    return wire::collection_from_value(json);
}

Result<FinishReport> output_in(As<FinishCollectionRequest> /*as*/, const Value& json) {
    return FinishReport{text_in(json, "collection")};
}

Result<DropReport> output_in(As<DropCollectionRequest> /*as*/, const Value& json) {
    return DropReport{text_in(json, "collection")};
}

Result<StatsReport> output_in(As<StatsRequest> /*as*/, const Value& json) {
    StatsReport report{text_in(json, "collection"), text_in(json, "namespace"), {}};
    BRAID_TRY(report.stats, wire::stats_from_value(json));
    return report;
}

Result<CompactOutcome> output_in(As<CompactRequest> /*as*/, const Value& json) {
    return CompactOutcome{text_in(json, "collection"),
                          {number_in(json, "chunks"), number_in(json, "bytes_before"),
                           number_in(json, "bytes_after")}};
}

Result<ReembedOutcome> output_in(As<ReembedRequest> /*as*/, const Value& json) {
    ReembedOutcome done{text_in(json, "collection"), text_in(json, "embedder"), {}};
    done.report.embedded = number_in(json, "embedded");
    done.report.chunks = number_in(json, "chunks");
    done.report.warnings = strings_in(json, "warnings");
    return done;
}

Result<RankerReport> output_in(As<RankerRequest> /*as*/, const Value& json) {
    RankerReport report{text_in(json, "collection"), {}};
    const Value* const model = json.find("ranker");
    if (model != nullptr && !model->is_null()) report.model = json::print(*model);
    return report;
}

Result<SetRankerReport> output_in(As<SetRankerRequest> /*as*/, const Value& json) {
    const Value* const stored = json.find("stored");
    return SetRankerReport{text_in(json, "collection"),
                           stored != nullptr && stored->is_bool() && stored->as_bool()};
}

Result<CheckReport> output_in(As<CheckRequest> /*as*/, const Value& json) {
    return wire::check_from_value(json);
}

}  // namespace

std::string text_in(const Value& json, std::string_view key) {
    const Value* const found = json.find(key);
    return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

const Array& list_in(const Value& json, std::string_view key) {
    static const Array kNone;
    const Value* const found = json.find(key);
    return found != nullptr && found->is_array() ? found->as_array() : kNone;
}

template <class Operation>
Object operation_to_params(const Operation& operation) {
    return params_of(operation);
}

template <class Operation>
Result<typename Operation::Output> output_from_value(const Value& json) {
    return output_in(As<Operation>{}, json);
}

template Object operation_to_params(const ContextRequest&);
template Object operation_to_params(const ExplainRequest&);
template Object operation_to_params(const WhyNotRequest&);
template Object operation_to_params(const AddRequest&);
template Object operation_to_params(const UpdateRequest&);
template Object operation_to_params(const RemoveRequest&);
template Object operation_to_params(const GetRequest&);
template Object operation_to_params(const ScanRequest&);
template Object operation_to_params(const FacetsRequest&);
template Object operation_to_params(const CountRequest&);
template Object operation_to_params(const CollectionsRequest&);
template Object operation_to_params(const DescribeRequest&);
template Object operation_to_params(const CreateCollectionRequest&);
template Object operation_to_params(const FinishCollectionRequest&);
template Object operation_to_params(const DropCollectionRequest&);
template Object operation_to_params(const StatsRequest&);
template Object operation_to_params(const CompactRequest&);
template Object operation_to_params(const ReembedRequest&);
template Object operation_to_params(const RankerRequest&);
template Object operation_to_params(const SetRankerRequest&);
template Object operation_to_params(const CheckRequest&);

template Result<ContextRequest::Output> output_from_value<ContextRequest>(const Value&);
template Result<ExplainRequest::Output> output_from_value<ExplainRequest>(const Value&);
template Result<WhyNotRequest::Output> output_from_value<WhyNotRequest>(const Value&);
template Result<AddRequest::Output> output_from_value<AddRequest>(const Value&);
template Result<UpdateRequest::Output> output_from_value<UpdateRequest>(const Value&);
template Result<RemoveRequest::Output> output_from_value<RemoveRequest>(const Value&);
template Result<GetRequest::Output> output_from_value<GetRequest>(const Value&);
template Result<ScanRequest::Output> output_from_value<ScanRequest>(const Value&);
template Result<FacetsRequest::Output> output_from_value<FacetsRequest>(const Value&);
template Result<CountRequest::Output> output_from_value<CountRequest>(const Value&);
template Result<CollectionsRequest::Output> output_from_value<CollectionsRequest>(const Value&);
template Result<DescribeRequest::Output> output_from_value<DescribeRequest>(const Value&);
template Result<CreateCollectionRequest::Output> output_from_value<CreateCollectionRequest>(
    const Value&);
template Result<FinishCollectionRequest::Output> output_from_value<FinishCollectionRequest>(
    const Value&);
template Result<DropCollectionRequest::Output> output_from_value<DropCollectionRequest>(
    const Value&);
template Result<StatsRequest::Output> output_from_value<StatsRequest>(const Value&);
template Result<CompactRequest::Output> output_from_value<CompactRequest>(const Value&);
template Result<ReembedRequest::Output> output_from_value<ReembedRequest>(const Value&);
template Result<RankerRequest::Output> output_from_value<RankerRequest>(const Value&);
template Result<SetRankerRequest::Output> output_from_value<SetRankerRequest>(const Value&);
template Result<CheckRequest::Output> output_from_value<CheckRequest>(const Value&);

}  // namespace braid::service
