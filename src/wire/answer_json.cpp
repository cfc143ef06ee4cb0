#include "braid/wire/answer_json.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/core/rfc3339.hpp"
#include "braid/core/vocabulary.hpp"
#include "braid/json/writer.hpp"

namespace braid::wire {
namespace {

/// What a text of one hit takes beside its content, about.
constexpr std::size_t kBytesPerHit = 1200;

/// Sets the member if there is a value.
template <class Out, class T>
void write_if(Out& out, json::Name name, const std::optional<T>& value) {
    if (value) out.member(name, *value);
}

template <class Out, class List>
void write_list(Out& out, json::Name name, const List& values) {
    out.name(name);
    out.begin_array();
    for (const auto& value : values) out.value(value);
    out.end_array();
}

/// A list of objects; `members` writes those of one.
template <class Out, class List, class Members>
void write_objects(Out& out, const List& list, const Members& members) {
    out.begin_array();
    for (const auto& one : list) {
        out.begin_object();
        members(one);
        out.end_object();
    }
    out.end_array();
}

template <class Out>
void write_choice(Out& out, const ReceiptChoice& choice) {
    out.begin_object();
    out.member("base", choice.base);
    out.name("signals");
    write_objects(out, choice.signals, [&](const ReceiptSignal& signal) {
        out.member("name", signal.name);
        out.member("value", signal.value);
        out.member("usual", signal.usual);
        out.member("coefficient", signal.coefficient);
    });
    out.member("lowest", choice.lowest);
    out.member("highest", choice.highest);
    out.member("dense_weight", choice.dense_weight);
    out.end_object();
}

template <class Out>
void write_fusion(Out& out, const Receipt& receipt) {
    out.begin_object();
    out.member("method", receipt.method);
    write_if(out, "preset", receipt.preset);
    write_if(out, "k", receipt.k);
    write_if(out, "rank_base", receipt.rank_base);
    write_if(out, "sources_fused", receipt.sources_fused);
    if (!receipt.lists.empty()) {
        out.name("lists");
        out.begin_object();
        for (const ReceiptList& list : receipt.lists) {
            out.any_name(list.source);
            out.begin_object();
            write_if(out, "min", list.min);
            write_if(out, "max", list.max);
            write_if(out, "mean", list.mean);
            write_if(out, "std", list.std);
            out.end_object();
        }
        out.end_object();
    }
    if (receipt.choice) {
        out.name("choice");
        write_choice(out, *receipt.choice);
    }
    out.end_object();
}

template <class Out>
void write_receipt(Out& out, const Receipt& receipt);

template <class Out>
void write_source(Out& out, const ReceiptSource& source) {
    out.begin_object();
    out.member("source", source.source);
    out.member("score", source.score);
    write_if(out, "distance", source.distance);
    if (!source.filled) out.member("rank", source.rank);
    write_if(out, "normalized", source.normalized);
    out.member("weight", source.weight);
    out.member("contribution", source.contribution);
    if (source.filled) out.member("filled", true);
    if (source.corrected) out.member("corrected", true);
    write_if(out, "chunk_id", source.chunk_id);
    if (source.nested) {
        out.name("receipt");
        write_receipt(out, *source.nested);
    }
    out.end_object();
}

template <class Out>
void write_receipt(Out& out, const Receipt& receipt) {
    out.begin_object();
    out.name("fusion");
    write_fusion(out, receipt);
    out.name("sources");
    out.begin_array();
    for (const ReceiptSource& source : receipt.sources) write_source(out, source);
    out.end_array();
    out.member("fused", receipt.fused);
    out.name("stages");
    write_objects(out, receipt.stages, [&](const ReceiptStage& stage) {
        out.member("stage", stage.stage);
        out.member("operation", stage.operation);
        out.member("value", stage.value);
        out.member("score", stage.score);
        if (!stage.detail.empty()) out.member("detail", stage.detail);
    });
    out.member("score", receipt.score);
    out.end_object();
}

template <class Out>
void write_standings(Out& out, const std::vector<LegStanding>& legs) {
    write_objects(out, legs, [&](const LegStanding& leg) {
        out.member("source", leg.source);
        out.member("score", leg.score);
        out.member("rank", leg.rank);
        out.member("depth", leg.depth);
    });
}

template <class Out>
void write_ranges(Out& out, const std::vector<TextRange>& ranges) {
    out.begin_array();
    for (const TextRange& range : ranges) {
        out.begin_array();
        out.value(range.begin);
        out.value(range.end);
        out.end_array();
    }
    out.end_array();
}

/// The members of a hit, without the brackets around them.
template <class Out>
void write_hit(Out& out, const Hit& hit) {
    const Chunk& chunk = hit.chunk;
    out.member("chunk_id", chunk.chunk_id);
    out.member("document_id", chunk.document_id);
    out.member("content", chunk.content);
    out.member("score", hit.score);
    out.member("rank", hit.rank);
    out.member("retrieval_strategy", name_of(hit.strategy));
    out.member("dense_score", hit.dense_score);
    out.member("sparse_score", hit.sparse_score);
    out.member("metadata", chunk.metadata);
    out.member("section_title", chunk.section_title);
    out.member("chunk_index", chunk.chunk_index);
    out.member("collection", hit.collection);
    out.member("namespace", hit.namespace_);
    out.member("title", chunk.title);
    std::optional<std::string> created_at;
    if (chunk.created_at) created_at = core::print_rfc3339(*chunk.created_at);
    out.member("created_at", created_at);
    out.member("sensitivity", chunk.sensitivity);
    write_list(out, "visibility_scope", chunk.visibility_scope);
    out.member("version", chunk.version);
    if (!chunk.vector.empty()) write_list(out, "vector", chunk.vector);
    write_if(out, "expanded", hit.expanded);
    if (!hit.legs.empty()) {
        out.name("legs");
        write_standings(out, hit.legs);
    }
    if (!hit.matches.empty()) {
        out.name("matches");
        write_ranges(out, hit.matches);
    }
    out.name("receipt");
    write_receipt(out, hit.receipt);
}

/// A leg's normalised score of the hit: 0 where a leg that ran did not find it, null where the leg
/// did not run.
std::optional<double> normalized(const Hit& hit, const Answer& answer, std::string_view leg) {
    for (const ReceiptSource& source : hit.receipt.sources) {
        if (source.source == leg && source.normalized) return source.normalized;
    }
    const bool ran = std::ranges::any_of(answer.sources, [&](const SourceReport& report) {
        return report.source == leg && report.ran;
    });
    return ran ? std::optional(0.0) : std::nullopt;
}

/// What the hit says again under the vocabulary's names.
template <class Out>
void write_aliases(Out& out, const Hit& hit, const Answer& answer,
                   const core::HitAliases& aliases) {
    for (const core::HitAlias& alias : aliases.names) {
        out.any_name(alias.name);
        switch (alias.member) {
            case core::HitMember::ChunkId:
                out.value(hit.chunk.chunk_id);
                break;
            case core::HitMember::DocumentId:
                out.value(hit.chunk.document_id);
                break;
            case core::HitMember::Namespace:
                out.value(hit.namespace_);
                break;
            case core::HitMember::ChunkIndex:
                out.value(hit.chunk.chunk_index);
                break;
            case core::HitMember::Content:
                out.value(hit.chunk.content);
                break;
            case core::HitMember::Score:
                out.value(hit.score);
                break;
            case core::HitMember::DenseNormalized:
                out.value(normalized(hit, answer, "dense"));
                break;
            case core::HitMember::SparseNormalized:
                out.value(normalized(hit, answer, "sparse"));
                break;
        }
    }
}

template <class Out>
void write_patterns(Out& out, const std::vector<PatternWords>& patterns) {
    out.name("patterns");
    write_objects(out, patterns, [&](const PatternWords& one) {
        out.member("pattern", one.pattern);
        write_list(out, "words", one.words);
        out.member("matching", one.matching);
    });
}

template <class Out>
void write_report(Out& out, const SourceReport& report) {
    out.begin_object();
    out.member("source", report.source);
    out.member("collection", report.collection);
    out.member("ran", report.ran);
    out.member("candidates", report.candidates);
    out.member("depth", report.depth);
    out.member("matched", report.matched);
    if (report.matched_at_least) out.member("matched_relation", "at_least");
    out.member("exact", report.exact);
    out.member("time_ms", report.time_ms);
    out.member("method", report.method);
    if (!report.error.empty()) out.member("error", report.error);
    if (!report.patterns.empty()) write_patterns(out, report.patterns);
    out.end_object();
}

template <class Out>
void write_suggestions(Out& out, const std::vector<Suggestion>& suggestions) {
    write_objects(out, suggestions, [&](const Suggestion& suggestion) {
        out.member("word", suggestion.word);
        out.member("instead", suggestion.instead);
        out.member("chunks", suggestion.chunks);
    });
}

template <class Out>
void write_corrections(Out& out, const std::vector<Correction>& corrections) {
    out.name("corrections");
    write_objects(out, corrections, [&](const Correction& correction) {
        out.member("collection", correction.collection);
        out.member("word", correction.word);
        out.member("instead", correction.instead);
        out.member("weight", correction.weight);
    });
}

template <class Out>
void write_timings(Out& out, const Timings& timings) {
    out.begin_object();
    out.member("preprocess_ms", timings.preprocess_ms);
    out.member("load_ms", timings.load_ms);
    out.member("embed_ms", timings.embed_ms);
    out.member("dense_ms", timings.dense_ms);
    out.member("sparse_ms", timings.sparse_ms);
    out.member("fusion_ms", timings.fusion_ms);
    out.member("hydrate_ms", timings.hydrate_ms);
    out.member("total_ms", timings.total_ms);
    out.end_object();
}

template <class Out>
void write_hits(Out& out, const Answer& answer, const core::Vocabulary& vocabulary) {
    const auto aliases =
        std::ranges::find(vocabulary.hits, answer.profile, &core::HitAliases::profile);
    write_objects(out, answer.hits, [&](const Hit& hit) {
        write_hit(out, hit);
        if (aliases != vocabulary.hits.end()) write_aliases(out, hit, answer, *aliases);
    });
}

/// One text of the form for both of its makers, json::Writer and json::ValueWriter.
template <class Out>
void write_answer(Out& out, const Answer& answer, const core::Vocabulary& vocabulary) {
    out.begin_object();
    out.member("query", answer.query);
    if (answer.query_understood) out.member("query_understood", answer.query_understood);
    write_list(out, "phrasings", answer.phrasings);
    out.member("hypothetical_answer", answer.hypothetical_answer);
    out.name("chunks");
    write_hits(out, answer, vocabulary);
    out.member("total_candidates", answer.total_candidates);
    out.member("profile", answer.profile);
    out.member("strategy_used", name_of(answer.strategy_used));
    out.member("latency_ms", answer.timings.total_ms);
    out.member("dense_candidates", answer.dense_candidates);
    out.member("sparse_candidates", answer.sparse_candidates);
    out.member("query_embedding_time_ms", answer.timings.embed_ms);
    out.member("query_embedding_cached", answer.query_embedding_cached);
    out.name("sources");
    out.begin_array();
    for (const SourceReport& report : answer.sources) write_report(out, report);
    out.end_array();
    out.member("complete", answer.complete);
    write_list(out, "warnings", answer.warnings);
    write_list(out, "unused", answer.unused);
    out.name("suggestions");
    write_suggestions(out, answer.suggestions);
    if (!answer.corrections.empty()) write_corrections(out, answer.corrections);
    out.member("cursor", answer.cursor);
    if (answer.experiment) {
        out.name("experiment");
        out.begin_object();
        out.member("name", answer.experiment->experiment);
        out.member("side", answer.experiment->side);
        out.member("id", answer.experiment->id);
        out.end_object();
    }
    out.name("timings");
    write_timings(out, answer.timings);
    out.end_object();
}

}  // namespace

Value receipt_to_value(const Receipt& receipt) {
    json::ValueWriter out;
    write_receipt(out, receipt);
    return out.take();
}

Value hit_to_value(const Hit& hit) {
    json::ValueWriter out;
    out.begin_object();
    write_hit(out, hit);
    out.end_object();
    return out.take();
}

Value answer_to_value(const Answer& answer, const core::Vocabulary& vocabulary) {
    json::ValueWriter out;
    write_answer(out, answer, vocabulary);
    return out.take();
}

std::string print_answer(const Answer& answer, const core::Vocabulary& vocabulary) {
    std::string text;
    std::size_t bytes = kBytesPerHit * (answer.hits.size() + 1);
    for (const Hit& hit : answer.hits) bytes += hit.chunk.content.size();
    text.reserve(bytes);
    json::Writer out(text);
    write_answer(out, answer, vocabulary);
    return text;
}

}  // namespace braid::wire
