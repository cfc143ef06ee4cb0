#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/core/rfc3339.hpp"
#include "braid/core/vocabulary.hpp"
#include "braid/json/fields.hpp"
#include "braid/wire/answer_json.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/member_reader.hpp"

namespace braid::wire {
namespace {

using json::Fields;

constexpr int kMaxReceiptDepth = 8;

Result<> read_strategy(Fields& fields, std::string_view key, Strategy& out) {
    std::string name;
    BRAID_CHECK(read_member(fields, key, name));
    const auto strategy = strategy_by_name(name);
    if (!strategy) return invalid_argument(fields.complaint(key, "the name of a strategy"));
    out = *strategy;
    return {};
}

Result<Receipt> read_receipt(Fields& fields, int depth);

Result<ReceiptSource> read_receipt_source(Fields& fields, int depth) {
    ReceiptSource source;
    BRAID_CHECK(read_member(fields, "source", source.source));
    BRAID_CHECK(read_member(fields, "score", source.score));
    BRAID_TRY(source.distance, fields.number("distance"));
    BRAID_TRY(const auto filled, fields.boolean("filled"));
    source.filled = filled.value_or(false);
    BRAID_TRY(const auto corrected, fields.boolean("corrected"));
    source.corrected = corrected.value_or(false);
    BRAID_TRY(const auto rank, fields.integer("rank", 0));
    source.rank = static_cast<std::size_t>(rank.value_or(0));
    BRAID_TRY(source.normalized, fields.number("normalized"));
    BRAID_CHECK(read_member(fields, "weight", source.weight));
    BRAID_CHECK(read_member(fields, "contribution", source.contribution));
    BRAID_TRY(source.chunk_id, fields.string("chunk_id"));
    BRAID_TRY(auto nested, fields.fields("receipt"));
    if (nested) {
        BRAID_TRY(Receipt receipt, read_receipt(*nested, depth + 1));
        source.nested = std::make_shared<Receipt>(std::move(receipt));
    }
    return source;
}

Result<> read_lists(Fields& fusion, Receipt& receipt) {
    BRAID_TRY(auto lists, fusion.fields("lists"));
    if (!lists) return {};
    for (const auto& [source, statistics] : lists->whole()) {
        BRAID_TRY(Fields members, Fields::of(statistics, lists->path_of(source)));
        ReceiptList list{source, {}, {}, {}, {}};
        BRAID_TRY(list.min, members.number("min"));
        BRAID_TRY(list.max, members.number("max"));
        BRAID_TRY(list.mean, members.number("mean"));
        BRAID_TRY(list.std, members.number("std"));
        BRAID_CHECK(members.finish());
        receipt.lists.push_back(std::move(list));
    }
    return {};
}

Result<ReceiptSignal> read_signal(Fields& fields) {
    ReceiptSignal signal;
    BRAID_CHECK(read_member(fields, "name", signal.name));
    BRAID_CHECK(read_member(fields, "value", signal.value));
    BRAID_CHECK(read_member(fields, "usual", signal.usual));
    BRAID_CHECK(read_member(fields, "coefficient", signal.coefficient));
    return signal;
}

Result<> read_choice(Fields& fusion, Receipt& receipt) {
    BRAID_TRY(auto members, fusion.fields("choice"));
    if (!members) return {};
    ReceiptChoice choice;
    BRAID_CHECK(read_member(*members, "base", choice.base));
    BRAID_CHECK(read_list(*members, "signals", choice.signals, read_signal));
    BRAID_CHECK(read_member(*members, "lowest", choice.lowest));
    BRAID_CHECK(read_member(*members, "highest", choice.highest));
    BRAID_CHECK(read_member(*members, "dense_weight", choice.dense_weight));
    BRAID_CHECK(members->finish());
    receipt.choice = std::move(choice);
    return {};
}

Result<ReceiptStage> read_receipt_stage(Fields& fields) {
    ReceiptStage stage;
    BRAID_CHECK(read_member(fields, "stage", stage.stage));
    BRAID_CHECK(read_member(fields, "operation", stage.operation));
    BRAID_CHECK(read_member(fields, "value", stage.value));
    BRAID_CHECK(read_member(fields, "score", stage.score));
    BRAID_TRY(const Object* const detail, fields.object("detail"));
    if (detail != nullptr) stage.detail = *detail;
    return stage;
}

// NOLINTNEXTLINE(misc-no-recursion): bounded by kMaxReceiptDepth
Result<Receipt> read_receipt(Fields& fields, int depth) {
    if (depth > kMaxReceiptDepth) return invalid_argument("receipts are nested too deeply");
    Receipt receipt;
    BRAID_TRY(auto fusion, fields.required("fusion", fields.fields("fusion")));
    BRAID_CHECK(read_member(fusion, "method", receipt.method));
    BRAID_TRY(receipt.preset, fusion.string("preset"));
    BRAID_TRY(receipt.k, fusion.number("k"));
    BRAID_TRY(const auto rank_base, fusion.integer("rank_base", 0, 1));
    if (rank_base) receipt.rank_base = static_cast<int>(*rank_base);
    BRAID_TRY(const auto sources_fused, fusion.integer("sources_fused", 0));
    if (sources_fused) receipt.sources_fused = static_cast<std::size_t>(*sources_fused);
    BRAID_CHECK(read_lists(fusion, receipt));
    BRAID_CHECK(read_choice(fusion, receipt));
    BRAID_CHECK(fusion.finish());
    BRAID_CHECK(read_list(fields, "sources", receipt.sources,
                          [&](Fields& members) { return read_receipt_source(members, depth); }));
    BRAID_CHECK(read_member(fields, "fused", receipt.fused));
    BRAID_CHECK(read_list(fields, "stages", receipt.stages, read_receipt_stage));
    BRAID_CHECK(read_member(fields, "score", receipt.score));
    BRAID_CHECK(fields.finish());
    return receipt;
}

Result<Chunk> read_chunk(Fields& fields) {
    Chunk chunk;
    BRAID_CHECK(read_member(fields, "chunk_id", chunk.chunk_id));
    BRAID_CHECK(read_member(fields, "document_id", chunk.document_id));
    BRAID_CHECK(read_member(fields, "content", chunk.content));
    BRAID_TRY(const Object* const metadata, fields.object("metadata"));
    if (metadata != nullptr) chunk.metadata = *metadata;
    BRAID_TRY(chunk.section_title, fields.string("section_title"));
    BRAID_TRY(chunk.chunk_index, fields.integer("chunk_index"));
    BRAID_TRY(chunk.title, fields.string("title"));
    for (const auto& [key, into] :
         {std::pair("created_at", &chunk.created_at), std::pair("expires_at", &chunk.expires_at)}) {
        BRAID_TRY(const auto time, fields.string(key));
        if (!time) continue;
        BRAID_TRY(*into, core::parse_rfc3339(*time));
    }
    BRAID_TRY(chunk.sensitivity, fields.string("sensitivity"));
    BRAID_CHECK(read_member(fields, "visibility_scope", chunk.visibility_scope));
    BRAID_TRY(const auto version, fields.integer("version", 0));
    chunk.version = static_cast<Version>(version.value_or(0));
    const Value* const vector = fields.any("vector");
    if (vector != nullptr) {
        BRAID_TRY(chunk.vector, vector_from_value(*vector, fields.path_of("vector")));
    }
    return chunk;
}

Result<PatternWords> read_pattern(Fields& fields) {
    PatternWords one;
    BRAID_CHECK(read_member(fields, "pattern", one.pattern));
    BRAID_CHECK(read_member(fields, "words", one.words));
    BRAID_CHECK(read_member(fields, "matching", one.matching));
    return one;
}

Result<SourceReport> read_report(Fields& fields) {
    SourceReport report;
    BRAID_CHECK(read_member(fields, "source", report.source));
    BRAID_CHECK(read_member(fields, "collection", report.collection));
    BRAID_CHECK(read_member(fields, "ran", report.ran));
    BRAID_CHECK(read_member(fields, "candidates", report.candidates));
    BRAID_CHECK(read_member(fields, "depth", report.depth));
    BRAID_CHECK(read_member(fields, "matched", report.matched));
    BRAID_TRY(const auto relation, fields.string("matched_relation"));
    report.matched_at_least = relation == "at_least";
    BRAID_CHECK(read_member(fields, "exact", report.exact));
    BRAID_CHECK(read_member(fields, "time_ms", report.time_ms));
    BRAID_CHECK(read_member(fields, "method", report.method));
    BRAID_TRY(const auto error, fields.string("error"));
    report.error = error.value_or("");
    BRAID_CHECK(read_list(fields, "patterns", report.patterns, read_pattern));
    return report;
}

Result<Correction> read_correction(Fields& fields) {
    Correction correction;
    BRAID_CHECK(read_member(fields, "collection", correction.collection));
    BRAID_CHECK(read_member(fields, "word", correction.word));
    BRAID_CHECK(read_member(fields, "instead", correction.instead));
    BRAID_CHECK(read_member(fields, "weight", correction.weight));
    return correction;
}

Result<Suggestion> read_suggestion(Fields& fields) {
    Suggestion suggestion;
    BRAID_CHECK(read_member(fields, "word", suggestion.word));
    BRAID_CHECK(read_member(fields, "instead", suggestion.instead));
    BRAID_CHECK(read_member(fields, "chunks", suggestion.chunks));
    return suggestion;
}

Result<Timings> read_timings(Fields& answer) {
    BRAID_TRY(Fields fields, answer.required("timings", answer.fields("timings")));
    Timings timings;
    BRAID_CHECK(read_member(fields, "preprocess_ms", timings.preprocess_ms));
    BRAID_CHECK(read_member(fields, "load_ms", timings.load_ms));
    BRAID_CHECK(read_member(fields, "embed_ms", timings.embed_ms));
    BRAID_CHECK(read_member(fields, "dense_ms", timings.dense_ms));
    BRAID_CHECK(read_member(fields, "sparse_ms", timings.sparse_ms));
    BRAID_CHECK(read_member(fields, "fusion_ms", timings.fusion_ms));
    BRAID_CHECK(read_member(fields, "hydrate_ms", timings.hydrate_ms));
    BRAID_CHECK(read_member(fields, "total_ms", timings.total_ms));
    BRAID_CHECK(fields.finish());
    // The same two numbers under the names of the component specification.
    BRAID_CHECK(answer.number("latency_ms"));
    BRAID_CHECK(answer.number("query_embedding_time_ms"));
    return timings;
}

}  // namespace

Result<> read_member(Fields& fields, std::string_view key, double& out) {
    BRAID_TRY(out, fields.required(key, fields.number(key)));
    return {};
}

Result<> read_member(Fields& fields, std::string_view key, std::string& out) {
    BRAID_TRY(out, fields.required(key, fields.string(key)));
    return {};
}

Result<> read_member(Fields& fields, std::string_view key, bool& out) {
    BRAID_TRY(out, fields.required(key, fields.boolean(key)));
    return {};
}

Result<> read_member(Fields& fields, std::string_view key, std::uint64_t& out) {
    BRAID_TRY(const std::int64_t count, fields.required(key, fields.integer(key, 0)));
    out = static_cast<std::uint64_t>(count);
    return {};
}

Result<> read_member(Fields& fields, std::string_view key, std::vector<std::string>& out) {
    BRAID_TRY(auto strings, fields.strings(key));
    if (strings) out = *std::move(strings);
    return {};
}

Result<LegStanding> read_standing(Fields& fields) {
    LegStanding leg;
    BRAID_CHECK(read_member(fields, "source", leg.source));
    BRAID_TRY(leg.score, fields.number("score"));
    BRAID_TRY(const auto rank, fields.integer("rank", 1));
    if (rank) leg.rank = static_cast<std::uint64_t>(*rank);
    BRAID_CHECK(read_member(fields, "depth", leg.depth));
    return leg;
}

Result<> read_ranges(Fields& fields, std::string_view key, std::vector<TextRange>& out) {
    BRAID_TRY(const Array* const list, fields.array(key));
    if (list == nullptr) return {};
    for (const Value& one : *list) {
        const Array* const pair = one.is_array() ? &one.as_array() : nullptr;
        const bool whole = pair != nullptr && pair->size() == 2 && (*pair)[0].is_int() &&
                           (*pair)[1].is_int() && (*pair)[0].as_int() >= 0 &&
                           (*pair)[0].as_int() <= (*pair)[1].as_int();
        if (!whole) return invalid_argument(fields.complaint(key, "a list of [begin, end)"));
        out.push_back({static_cast<std::size_t>((*pair)[0].as_int()),
                       static_cast<std::size_t>((*pair)[1].as_int())});
    }
    return {};
}

Result<Hit> read_hit(Fields& fields, const core::Vocabulary& vocabulary) {
    Hit hit;
    BRAID_TRY(hit.chunk, read_chunk(fields));
    BRAID_CHECK(read_member(fields, "collection", hit.collection));
    BRAID_CHECK(read_member(fields, "namespace", hit.namespace_));
    BRAID_CHECK(read_member(fields, "score", hit.score));
    BRAID_CHECK(read_member(fields, "rank", hit.rank));
    BRAID_CHECK(read_strategy(fields, "retrieval_strategy", hit.strategy));
    BRAID_TRY(hit.dense_score, fields.number("dense_score"));
    BRAID_TRY(hit.sparse_score, fields.number("sparse_score"));
    BRAID_TRY(hit.expanded, fields.string("expanded"));
    BRAID_CHECK(read_list(fields, "legs", hit.legs, read_standing));
    BRAID_CHECK(read_ranges(fields, "matches", hit.matches));
    BRAID_TRY(auto receipt, fields.required("receipt", fields.fields("receipt")));
    BRAID_TRY(hit.receipt, read_receipt(receipt, 1));
    for (const core::HitAliases& aliases : vocabulary.hits) {
        for (const core::HitAlias& alias : aliases.names) fields.any(alias.name);  // said already
    }
    return hit;
}

Result<Chunk> stored_chunk_from_value(const Value& json) {
    BRAID_TRY(Fields fields, Fields::of(json));
    BRAID_TRY(Chunk chunk, read_chunk(fields));
    BRAID_CHECK(fields.finish());
    return chunk;
}

Result<Receipt> receipt_from_value(const Value& json) {
    BRAID_TRY(Fields fields, Fields::of(json, "receipt"));
    return read_receipt(fields, 1);
}

Result<Answer> answer_from_value(const Value& json, const core::Vocabulary& vocabulary) {
    BRAID_TRY(Fields fields, Fields::of(json));
    Answer answer;
    BRAID_CHECK(read_member(fields, "query", answer.query));
    BRAID_TRY(answer.query_understood, fields.string("query_understood"));
    BRAID_CHECK(read_member(fields, "phrasings", answer.phrasings));
    BRAID_TRY(answer.hypothetical_answer, fields.string("hypothetical_answer"));
    BRAID_CHECK(read_list(fields, "chunks", answer.hits,
                          [&](Fields& members) { return read_hit(members, vocabulary); }));
    BRAID_CHECK(read_member(fields, "total_candidates", answer.total_candidates));
    BRAID_CHECK(read_member(fields, "profile", answer.profile));
    BRAID_CHECK(read_strategy(fields, "strategy_used", answer.strategy_used));
    BRAID_CHECK(read_member(fields, "dense_candidates", answer.dense_candidates));
    BRAID_CHECK(read_member(fields, "sparse_candidates", answer.sparse_candidates));
    BRAID_CHECK(read_list(fields, "sources", answer.sources, read_report));
    BRAID_CHECK(read_member(fields, "complete", answer.complete));
    BRAID_CHECK(read_member(fields, "warnings", answer.warnings));
    BRAID_CHECK(read_member(fields, "unused", answer.unused));
    BRAID_CHECK(read_list(fields, "suggestions", answer.suggestions, read_suggestion));
    BRAID_CHECK(read_list(fields, "corrections", answer.corrections, read_correction));
    BRAID_TRY(answer.cursor, fields.string("cursor"));
    BRAID_TRY(auto experiment, fields.fields("experiment"));
    if (experiment) {
        ExperimentSide& side = answer.experiment.emplace();
        BRAID_CHECK(read_member(*experiment, "name", side.experiment));
        BRAID_CHECK(read_member(*experiment, "side", side.side));
        BRAID_CHECK(read_member(*experiment, "id", side.id));
    }
    BRAID_TRY(answer.query_embedding_cached, fields.boolean("query_embedding_cached"));
    BRAID_TRY(answer.timings, read_timings(fields));
    BRAID_CHECK(fields.finish());
    return answer;
}

}  // namespace braid::wire
