#include <string>
#include <utility>

#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"
#include "braid/service/operation_json.hpp"
#include "braid/service/parameters.hpp"
#include "braid/wire/check_json.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/context_json.hpp"
#include "braid/wire/explain_json.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::service {
namespace {

Array chunks_to_array(const std::vector<Chunk>& chunks) {
    Array out;
    out.reserve(chunks.size());
    for (const Chunk& chunk : chunks) out.push_back(wire::chunk_to_value(chunk));
    return out;
}

Value right_to_value(const std::optional<Access>& right) {
    return right ? Value(name_of(*right)) : Value();
}

Value range_to_value(const TextRange& range) {
    return Array{range.begin, range.end};
}

Value written(As<ContextRequest> /*as*/, const Context& context) {
    return wire::context_to_value(context);
}

Value written(As<ExplainRequest> /*as*/, const Explanation& explanation) {
    return wire::explanation_to_value(explanation);
}

Value written(As<WhyNotRequest> /*as*/, const WhyNot& why) {
    return wire::why_not_to_value(why);
}

Value written(As<EvaluateRequest> /*as*/, const EvaluationReport& report) {
    Value out = eval::to_value(report.comparison, report.per_query);
    out.as_object().set("timings", eval::timings_to_value(report.outcome));
    return out;
}

Value written(As<AddRequest> /*as*/, const AddReport& report) {
    return Object{{"collection", Value(report.collection)},
                  {"created", report.created},
                  {"namespace", Value(report.namespace_)},
                  {"chunk_ids", strings_to_array(report.chunk_ids)},
                  {"written", report.write.written},
                  {"replaced", report.write.replaced},
                  {"removed", report.write.removed},
                  {"unchanged", report.write.unchanged},
                  {"version", report.write.version},
                  {"warnings", strings_to_array(report.write.warnings)}};
}

Value written(As<UpdateRequest> /*as*/, const UpdateReport& report) {
    return Object{{"collection", Value(report.collection)},
                  {"updated", report.write.written},
                  {"version", report.write.version},
                  {"warnings", strings_to_array(report.write.warnings)}};
}

Value written(As<RemoveRequest> /*as*/, const RemoveReport& report) {
    return Object{{"collection", Value(report.collection)},
                  {"deleted", report.write.written},
                  {"version", report.write.version}};
}

Value written(As<ChunkRequest> /*as*/, const Chunk& chunk) {
    return wire::chunk_to_value(chunk);
}

Value written(As<GetRequest> /*as*/, const std::vector<std::optional<Chunk>>& found) {
    Array chunks;
    chunks.reserve(found.size());
    for (const auto& chunk : found) {
        chunks.push_back(chunk ? wire::chunk_to_value(*chunk) : Value());
    }
    return Object{{"chunks", std::move(chunks)}};
}

Value written(As<ScanRequest> /*as*/, const ScanPage& page) {
    return Object{{"chunks", chunks_to_array(page.chunks)}, {"after", page.after}};
}

Value written(As<DocumentRequest> /*as*/, const DocumentChunks& document) {
    return Object{{"document_id", Value(document.document_id)},
                  {"chunks", chunks_to_array(document.chunks)}};
}

Value written(As<NeighborsRequest> /*as*/, const NeighborChunks& found) {
    return Object{{"chunks", chunks_to_array(found.chunks)}, {"text", Value(found.text)}};
}

Value written(As<FacetsRequest> /*as*/, const FacetReport& report) {
    return wire::facets_to_value(report.field, report.values);
}

Value written(As<HighlightRequest> /*as*/, const std::vector<HighlightedText>& texts) {
    Array out;
    out.reserve(texts.size());
    for (const HighlightedText& text : texts) {
        Array matches;
        matches.reserve(text.matches.size());
        for (const TextRange& match : text.matches) matches.push_back(range_to_value(match));
        out.emplace_back(
            Object{{"matches", std::move(matches)}, {"window", range_to_value(text.window)}});
    }
    return Object{{"texts", std::move(out)}};
}

Value rights_to_value(const std::vector<std::pair<std::string, Access>>& rights) {
    Object out;
    for (const auto& [name, right] : rights) out.set(name, name_of(right));
    return out;
}

Value written(As<WhoamiRequest> /*as*/, const CallerRights& rights) {
    return Object{{"name", rights.name.empty() ? Value() : Value(rights.name)},
                  {"sees_everything", rights.sees_everything},
                  {"everywhere", right_to_value(rights.everywhere)},
                  {"collections", rights_to_value(rights.collections)},
                  {"grants", rights_to_value(rights.grants)}};
}

Value written(As<CountRequest> /*as*/, const ChunkCount& counted) {
    return Object{{"count", counted.count}};
}

Value written(As<CollectionsRequest> /*as*/, const std::vector<CollectionInfo>& found) {
    Array collections;
    collections.reserve(found.size());
    for (const CollectionInfo& info : found) {
        collections.push_back(wire::collection_to_value(info));
    }
    return Object{{"collections", std::move(collections)}};
}

Value written(As<DescribeRequest> /*as*/, const CollectionInfo& info) {
    return wire::collection_to_value(info);
}

Value written(As<CreateCollectionRequest> /*as*/, const CollectionInfo& info) {
    return wire::collection_to_value(info);
}

Value written(As<FinishCollectionRequest> /*as*/, const FinishReport& report) {
    return Object{{"collection", Value(report.collection)}, {"finished", true}};
}

Value written(As<DropCollectionRequest> /*as*/, const DropReport& report) {
    return Object{{"collection", Value(report.collection)}, {"dropped", true}};
}

Value written(As<StatsRequest> /*as*/, const StatsReport& report) {
    return wire::stats_to_value(report.collection, report.namespace_, report.stats);
}

Value written(As<CompactRequest> /*as*/, const CompactOutcome& report) {
    return Object{{"collection", Value(report.collection)},
                  {"chunks", report.sizes.chunks},
                  {"bytes_before", report.sizes.bytes_before},
                  {"bytes_after", report.sizes.bytes_after}};
}

Value written(As<ReembedRequest> /*as*/, const ReembedOutcome& done) {
    return Object{{"collection", Value(done.collection)},
                  {"embedder", Value(done.embedder)},
                  {"embedded", done.report.embedded},
                  {"chunks", done.report.chunks},
                  {"warnings", strings_to_array(done.report.warnings)}};
}

Value written(As<ClickRequest> /*as*/, const ClickReport& report) {
    return Object{{"id", Value(report.id)}, {"recorded", true}};
}

/// A stored model can be read: it could when it was stored.
Value written(As<RankerRequest> /*as*/, const RankerReport& report) {
    const auto model = json::parse(report.model);
    return Object{{"collection", Value(report.collection)}, {"ranker", model.value_or(Value())}};
}

Value written(As<SetRankerRequest> /*as*/, const SetRankerReport& report) {
    return Object{{"collection", Value(report.collection)}, {"stored", report.stored}};
}

Value written(As<CheckRequest> /*as*/, const CheckReport& report) {
    return wire::check_to_value(report);
}

}  // namespace

template <class Operation>
Value output_to_value(const typename Operation::Output& output) {
    return written(As<Operation>{}, output);
}

template Value output_to_value<ContextRequest>(const ContextRequest::Output&);
template Value output_to_value<ExplainRequest>(const ExplainRequest::Output&);
template Value output_to_value<WhyNotRequest>(const WhyNotRequest::Output&);
template Value output_to_value<EvaluateRequest>(const EvaluateRequest::Output&);
template Value output_to_value<AddRequest>(const AddRequest::Output&);
template Value output_to_value<UpdateRequest>(const UpdateRequest::Output&);
template Value output_to_value<RemoveRequest>(const RemoveRequest::Output&);
template Value output_to_value<ChunkRequest>(const ChunkRequest::Output&);
template Value output_to_value<GetRequest>(const GetRequest::Output&);
template Value output_to_value<ScanRequest>(const ScanRequest::Output&);
template Value output_to_value<DocumentRequest>(const DocumentRequest::Output&);
template Value output_to_value<NeighborsRequest>(const NeighborsRequest::Output&);
template Value output_to_value<FacetsRequest>(const FacetsRequest::Output&);
template Value output_to_value<HighlightRequest>(const HighlightRequest::Output&);
template Value output_to_value<WhoamiRequest>(const WhoamiRequest::Output&);
template Value output_to_value<CountRequest>(const CountRequest::Output&);
template Value output_to_value<CollectionsRequest>(const CollectionsRequest::Output&);
template Value output_to_value<DescribeRequest>(const DescribeRequest::Output&);
template Value output_to_value<CreateCollectionRequest>(const CreateCollectionRequest::Output&);
template Value output_to_value<FinishCollectionRequest>(const FinishCollectionRequest::Output&);
template Value output_to_value<DropCollectionRequest>(const DropCollectionRequest::Output&);
template Value output_to_value<StatsRequest>(const StatsRequest::Output&);
template Value output_to_value<CompactRequest>(const CompactRequest::Output&);
template Value output_to_value<ReembedRequest>(const ReembedRequest::Output&);
template Value output_to_value<ClickRequest>(const ClickRequest::Output&);
template Value output_to_value<RankerRequest>(const RankerRequest::Output&);
template Value output_to_value<SetRankerRequest>(const SetRankerRequest::Output&);
template Value output_to_value<CheckRequest>(const CheckRequest::Output&);

}  // namespace braid::service
