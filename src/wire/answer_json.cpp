#include "braid/wire/answer_json.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "braid/core/rfc3339.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/object_parts.hpp"

namespace braid::wire {
namespace {

Value source_to_value(const ReceiptSource& source) {
    Object out{{"source", Value(source.source)}, {"score", source.score}};
    put(out, "distance", source.distance);
    if (!source.filled) out.set("rank", source.rank);
    put(out, "normalized", source.normalized);
    out.set("weight", source.weight);
    out.set("contribution", source.contribution);
    if (source.filled) out.set("filled", true);
    put(out, "chunk_id", source.chunk_id);
    if (source.nested) out.set("receipt", receipt_to_value(*source.nested));
    return out;
}

Value report_to_value(const SourceReport& report) {
    Object out{{"source", Value(report.source)},
               {"collection", Value(report.collection)},
               {"ran", report.ran},
               {"candidates", report.candidates},
               {"depth", report.depth},
               {"matched", report.matched},
               {"exact", report.exact},
               {"time_ms", report.time_ms},
               {"method", Value(report.method)}};
    if (!report.error.empty()) out.set("error", report.error);
    return out;
}

Value suggestions_to_value(const std::vector<Suggestion>& suggestions) {
    Array list;
    list.reserve(suggestions.size());
    for (const Suggestion& suggestion : suggestions) {
        list.emplace_back(Object{{"word", Value(suggestion.word)},
                                 {"instead", Value(suggestion.instead)},
                                 {"chunks", suggestion.chunks}});
    }
    return list;
}

Value timings_to_value(const Timings& timings) {
    return Object{{"preprocess_ms", timings.preprocess_ms}, {"load_ms", timings.load_ms},
                  {"embed_ms", timings.embed_ms},           {"dense_ms", timings.dense_ms},
                  {"sparse_ms", timings.sparse_ms},         {"fusion_ms", timings.fusion_ms},
                  {"hydrate_ms", timings.hydrate_ms},       {"total_ms", timings.total_ms}};
}

}  // namespace

Value receipt_to_value(const Receipt& receipt) {
    Object fusion{{"method", Value(receipt.method)}};
    put(fusion, "preset", receipt.preset);
    put(fusion, "k", receipt.k);
    put(fusion, "rank_base", receipt.rank_base);
    put(fusion, "sources_fused", receipt.sources_fused);
    if (!receipt.lists.empty()) {
        Object lists;
        for (const ReceiptList& list : receipt.lists) {
            Object statistics;
            put(statistics, "min", list.min);
            put(statistics, "max", list.max);
            put(statistics, "mean", list.mean);
            put(statistics, "std", list.std);
            lists.set(list.source, std::move(statistics));
        }
        fusion.set("lists", std::move(lists));
    }
    Array sources;
    for (const ReceiptSource& source : receipt.sources) sources.push_back(source_to_value(source));
    Array stages;
    for (const ReceiptStage& stage : receipt.stages) {
        Object out{{"stage", Value(stage.stage)},
                   {"operation", Value(stage.operation)},
                   {"value", stage.value},
                   {"score", stage.score}};
        if (!stage.detail.empty()) out.set("detail", stage.detail);
        stages.emplace_back(std::move(out));
    }
    return Object{{"fusion", std::move(fusion)},
                  {"sources", std::move(sources)},
                  {"fused", receipt.fused},
                  {"stages", std::move(stages)},
                  {"score", receipt.score}};
}

namespace {

/// The hit in the words of topic retrieval, normalised scores included: 0 where a leg that ran did
/// not find it, null where the leg did not run.
void add_topic_words(Object& out, const Hit& hit, const Answer& answer) {
    const auto normalized = [&](std::string_view leg) -> Value {
        for (const ReceiptSource& source : hit.receipt.sources) {
            if (source.source == leg && source.normalized) return *source.normalized;
        }
        const bool ran = std::ranges::any_of(answer.sources, [&](const SourceReport& report) {
            return report.source == leg && report.ran;
        });
        return ran ? Value(0.0) : Value();
    };
    out.set("chunkId", hit.chunk.chunk_id);
    out.set("documentId", hit.chunk.document_id);
    out.set("topicId", hit.namespace_);
    out.set("chunkIndex", hit.chunk.chunk_index);
    out.set("text", hit.chunk.content);
    out.set("hybridScore", hit.score);
    out.set("semanticScore", normalized("dense"));
    out.set("lexicalScore", normalized("sparse"));
}

Object hit_to_object(const Hit& hit) {
    const Chunk& chunk = hit.chunk;
    Object out{{"chunk_id", Value(chunk.chunk_id)},
               {"document_id", Value(chunk.document_id)},
               {"content", Value(chunk.content)},
               {"score", hit.score},
               {"rank", hit.rank},
               {"retrieval_strategy", name_of(hit.strategy)},
               {"dense_score", hit.dense_score},
               {"sparse_score", hit.sparse_score},
               {"metadata", Value(chunk.metadata)},
               {"section_title", chunk.section_title},
               {"chunk_index", chunk.chunk_index},
               {"collection", Value(hit.collection)},
               {"namespace", Value(hit.namespace_)},
               {"title", chunk.title},
               {"created_at", Value()},
               {"sensitivity", chunk.sensitivity},
               {"visibility_scope", list_of(chunk.visibility_scope)},
               {"version", chunk.version}};
    if (chunk.created_at) out.set("created_at", core::print_rfc3339(*chunk.created_at));
    if (!chunk.vector.empty()) out.set("vector", vector_to_value(chunk.vector));
    put(out, "expanded", hit.expanded);
    out.set("receipt", receipt_to_value(hit.receipt));
    return out;
}

}  // namespace

Value hit_to_value(const Hit& hit) {
    return hit_to_object(hit);
}

Value answer_to_value(const Answer& answer) {
    Array chunks;
    chunks.reserve(answer.hits.size());
    for (const Hit& hit : answer.hits) {
        Object chunk = hit_to_object(hit);
        if (answer.profile == "topic") add_topic_words(chunk, hit, answer);
        chunks.emplace_back(std::move(chunk));
    }
    Array sources;
    for (const SourceReport& report : answer.sources) sources.push_back(report_to_value(report));
    return Object{{"query", Value(answer.query)},
                  {"chunks", std::move(chunks)},
                  {"total_candidates", answer.total_candidates},
                  {"profile", Value(answer.profile)},
                  {"strategy_used", name_of(answer.strategy_used)},
                  {"latency_ms", answer.timings.total_ms},
                  {"dense_candidates", answer.dense_candidates},
                  {"sparse_candidates", answer.sparse_candidates},
                  {"query_embedding_time_ms", answer.timings.embed_ms},
                  {"query_embedding_cached", answer.query_embedding_cached},
                  {"sources", std::move(sources)},
                  {"complete", answer.complete},
                  {"warnings", list_of(answer.warnings)},
                  {"unused", list_of(answer.unused)},
                  {"suggestions", suggestions_to_value(answer.suggestions)},
                  {"cursor", answer.cursor},
                  {"timings", timings_to_value(answer.timings)}};
}

}  // namespace braid::wire
