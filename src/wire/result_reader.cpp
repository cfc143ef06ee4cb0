#include <utility>

#include "braid/core/vocabulary.hpp"
#include "braid/wire/check_json.hpp"
#include "braid/wire/context_json.hpp"
#include "braid/wire/explain_json.hpp"
#include "braid/wire/member_reader.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::wire {
namespace {

using json::Fields;

/// What an answer, a context and an explanation say of the search in the same words.
template <class Found>
Result<> read_search_notes(Fields& fields, Found& out) {
    BRAID_CHECK(read_member(fields, "phrasings", out.phrasings));
    BRAID_TRY(out.hypothetical_answer, fields.string("hypothetical_answer"));
    BRAID_CHECK(read_member(fields, "complete", out.complete));
    BRAID_CHECK(read_member(fields, "warnings", out.warnings));
    return read_member(fields, "unused", out.unused);
}

Result<ContextPassage> read_passage(Fields& fields) {
    ContextPassage passage;
    BRAID_CHECK(read_member(fields, "marker", passage.marker));
    BRAID_CHECK(read_member(fields, "collection", passage.collection));
    BRAID_CHECK(read_member(fields, "document_id", passage.document_id));
    BRAID_CHECK(read_member(fields, "chunk_ids", passage.chunk_ids));
    BRAID_TRY(passage.title, fields.string("title"));
    BRAID_TRY(passage.section_title, fields.string("section_title"));
    BRAID_CHECK(read_member(fields, "source", passage.source));
    BRAID_CHECK(read_member(fields, "trust", passage.trust));
    BRAID_CHECK(read_member(fields, "text", passage.text));
    BRAID_CHECK(read_member(fields, "tokens", passage.tokens));
    BRAID_TRY(const auto rank, fields.integer("rank", 1));
    passage.rank = static_cast<std::size_t>(rank.value_or(0));
    BRAID_TRY(const auto score, fields.number("score"));
    passage.score = score.value_or(0);
    return passage;
}

Result<DenseStats> read_dense(Fields& fields) {
    DenseStats dense;
    BRAID_CHECK(read_member(fields, "in_graphs", dense.in_graphs));
    BRAID_CHECK(read_member(fields, "calibrated", dense.calibrated));
    BRAID_CHECK(read_member(fields, "queries", dense.queries));
    BRAID_CHECK(read_member(fields, "asked", dense.asked));
    const auto add_point = [&](Fields& members) -> Result<> {
        DenseStats::Point& point = dense.points.emplace_back();
        BRAID_CHECK(read_member(members, "method", point.method));
        BRAID_CHECK(read_member(members, "planned", point.planned));
        BRAID_CHECK(read_member(members, "found", point.found));
        BRAID_CHECK(read_member(members, "low", point.low));
        BRAID_CHECK(read_member(members, "high", point.high));
        return read_member(members, "k", point.k);
    };
    BRAID_CHECK(read_objects(fields, "points", add_point));
    BRAID_CHECK(fields.finish());
    return dense;
}

Result<> read_spread(Fields& fields, std::string_view name, LegProbes::Spread& into) {
    BRAID_TRY(auto members, fields.fields(name));
    if (!members) return {};
    BRAID_CHECK(read_member(*members, "mean", into.mean));
    BRAID_CHECK(read_member(*members, "deviation", into.deviation));
    return members->finish();
}

Result<LegProbes> read_probes(Fields& fields) {
    LegProbes probes;
    BRAID_CHECK(read_member(fields, "chunks", probes.chunks));
    BRAID_CHECK(read_member(fields, "among", probes.among));
    const auto add_kind = [&](Fields& members) -> Result<> {
        LegProbes::Kind& kind = probes.kinds.emplace_back();
        BRAID_CHECK(read_member(members, "name", kind.name));
        BRAID_CHECK(read_member(members, "asked", kind.asked));
        BRAID_CHECK(read_member(members, "dense", kind.dense));
        return read_member(members, "sparse", kind.sparse);
    };
    BRAID_CHECK(read_objects(fields, "kinds", add_kind));
    BRAID_CHECK(read_spread(fields, "random_dense", probes.random_dense));
    BRAID_CHECK(read_spread(fields, "random_sparse", probes.random_sparse));
    BRAID_CHECK(fields.finish());
    return probes;
}

Result<IndexState> read_index(Fields& fields) {
    IndexState index;
    const auto add_segment = [&](Fields& members) -> Result<> {
        IndexState::Segment& segment = index.segments.emplace_back();
        BRAID_CHECK(read_member(members, "file", segment.file));
        BRAID_CHECK(read_member(members, "chunks", segment.chunks));
        BRAID_CHECK(read_member(members, "dead", segment.dead));
        BRAID_CHECK(read_member(members, "vectors", segment.vectors));
        BRAID_CHECK(read_member(members, "bytes", segment.bytes));
        return read_member(members, "graph_bytes", segment.graph_bytes);
    };
    BRAID_CHECK(read_objects(fields, "segments", add_segment));
    BRAID_CHECK(read_member(fields, "in_memory", index.in_memory));
    BRAID_CHECK(read_member(fields, "pending", index.pending));
    BRAID_CHECK(fields.finish());
    return index;
}

}  // namespace

Result<Context> context_from_value(const Value& json) {
    BRAID_TRY(Fields fields, Fields::of(json));
    Context context;
    BRAID_CHECK(read_member(fields, "query", context.query));
    BRAID_CHECK(read_member(fields, "text", context.text));
    BRAID_CHECK(read_list(fields, "passages", context.passages, read_passage));
    BRAID_CHECK(read_member(fields, "budget", context.budget));
    BRAID_CHECK(read_member(fields, "tokens", context.tokens));
    BRAID_CHECK(read_member(fields, "tokens_estimated", context.tokens_estimated));
    BRAID_CHECK(read_member(fields, "left_out", context.left_out));
    BRAID_CHECK(read_search_notes(fields, context));
    BRAID_CHECK(read_member(fields, "latency_ms", context.timings.total_ms));
    BRAID_CHECK(fields.finish());
    return context;
}

Result<Explanation> explanation_from_value(const Value& json) {
    BRAID_TRY(Fields fields, Fields::of(json));
    Explanation explanation;
    BRAID_CHECK(read_member(fields, "collection", explanation.collection));
    BRAID_CHECK(read_member(fields, "chunk_id", explanation.chunk_id));
    BRAID_CHECK(read_list(fields, "legs", explanation.legs, read_standing));
    BRAID_CHECK(read_member(fields, "shown", explanation.shown));
    BRAID_TRY(auto hit, fields.fields("hit"));
    if (hit) {
        BRAID_TRY(explanation.hit, read_hit(*hit, {}));
        BRAID_CHECK(hit->finish());
    }
    BRAID_CHECK(read_search_notes(fields, explanation));
    BRAID_TRY(explanation.query_understood, fields.string("query_understood"));
    BRAID_CHECK(fields.finish());
    return explanation;
}

Result<WhyNot> why_not_from_value(const Value& json) {
    BRAID_TRY(Fields fields, Fields::of(json));
    WhyNot why;
    BRAID_TRY(auto lost_at, fields.string("lost_at"));
    why.lost_at = std::move(lost_at).value_or("");
    BRAID_CHECK(read_member(fields, "reason", why.reason));
    BRAID_TRY(auto change, fields.fields("change"));
    if (change) {
        why.change.emplace();
        BRAID_CHECK(read_member(*change, "key", why.change->key));
        if (const Value* const value = change->any("value")) why.change->value = *value;
        BRAID_CHECK(change->finish());
    }
    BRAID_TRY(const Object* const explanation, fields.object("explanation"));
    if (explanation == nullptr) return invalid_argument("\"explanation\" is required");
    BRAID_TRY(why.explanation, explanation_from_value(Value(*explanation)));
    BRAID_CHECK(fields.finish());
    return why;
}

Result<CheckReport> check_from_value(const Value& json) {
    BRAID_TRY(Fields fields, Fields::of(json));
    CheckReport report;
    bool clean = false;  // follows from the lists
    BRAID_CHECK(read_member(fields, "clean", clean));
    BRAID_CHECK(read_member(fields, "collections", report.collections));
    BRAID_CHECK(read_member(fields, "chunks", report.chunks));
    BRAID_CHECK(read_member(fields, "records", report.records));
    BRAID_CHECK(read_member(fields, "bytes", report.bytes));
    BRAID_CHECK(read_member(fields, "superseded", report.superseded));
    BRAID_CHECK(read_member(fields, "problems", report.problems));
    BRAID_CHECK(read_member(fields, "unfinished", report.unfinished));
    BRAID_CHECK(read_member(fields, "notes", report.notes));
    BRAID_CHECK(fields.finish());
    return report;
}

Result<CollectionInfo> collection_from_value(const Value& json) {
    BRAID_TRY(Fields fields, Fields::of(json));
    CollectionInfo info;
    BRAID_CHECK(read_member(fields, "name", info.name));
    BRAID_CHECK(read_member(fields, "chunks", info.chunks));
    BRAID_CHECK(read_member(fields, "documents", info.documents));
    BRAID_CHECK(read_member(fields, "namespaces", info.namespaces));
    const Value* const schema = fields.any("schema");
    BRAID_TRY(info.schema, schema_from_value(schema != nullptr ? *schema : Value()));
    BRAID_TRY(auto damage, fields.string("damage"));
    info.damage = std::move(damage).value_or("");
    BRAID_CHECK(fields.finish());
    return info;
}

Result<CollectionStats> stats_from_value(const Value& json) {
    BRAID_TRY(Fields fields, Fields::of(json));
    CollectionStats stats;
    fields.any("collection");
    fields.any("namespace");
    BRAID_CHECK(read_member(fields, "chunks", stats.chunks));
    BRAID_CHECK(read_member(fields, "documents", stats.documents));
    BRAID_CHECK(read_member(fields, "vectors", stats.vectors));
    BRAID_CHECK(read_member(fields, "terms", stats.terms));
    BRAID_CHECK(read_member(fields, "average_length", stats.average_length));
    BRAID_CHECK(read_member(fields, "bytes_on_disk", stats.bytes_on_disk));
    BRAID_TRY(auto parts, fields.fields("bytes_by_part"));
    if (parts) {
        for (const auto& [name, bytes] : parts->whole()) {
            StoredPart& part = stats.parts.emplace_back();
            part.name = name;
            BRAID_CHECK(read_member(*parts, name, part.bytes));
        }
    }
    BRAID_CHECK(read_member(fields, "resident_bytes", stats.resident_bytes));
    BRAID_TRY(auto dense, fields.fields("dense"));
    if (dense) {
        BRAID_TRY(stats.dense, read_dense(*dense));
    }
    BRAID_TRY(auto probes, fields.fields("probes"));
    if (probes) {
        BRAID_TRY(stats.probes, read_probes(*probes));
    }
    BRAID_TRY(auto index, fields.fields("index"));
    if (index) {
        BRAID_TRY(stats.index, read_index(*index));
    }
    BRAID_CHECK(fields.finish());
    return stats;
}

Result<std::vector<FacetCount>> facets_from_value(const Value& json) {
    BRAID_TRY(Fields fields, Fields::of(json));
    std::vector<FacetCount> facets;
    fields.any("field");
    BRAID_CHECK(read_objects(fields, "values", [&](Fields& members) -> Result<> {
        FacetCount& facet = facets.emplace_back();
        if (const Value* const value = members.any("value")) facet.value = *value;
        return read_member(members, "count", facet.count);
    }));
    BRAID_CHECK(fields.finish());
    return facets;
}

}  // namespace braid::wire
