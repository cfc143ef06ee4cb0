#include "braid/wire/schema_json.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "braid/json/fields.hpp"

namespace braid::wire {
namespace {

using json::Fields;

constexpr std::array<std::string_view, 4> kMetadataTypes{"string", "number", "boolean", "date"};

Result<> read_text_fields(Fields& fields, Schema& schema) {
    BRAID_TRY(auto text_fields, fields.fields("text_fields"));
    if (!text_fields) return {};
    schema.text_fields.clear();
    for (const auto& [name, weight] : text_fields->whole()) {
        BRAID_TRY(const double number, text_fields->required(name, text_fields->number(name)));
        schema.text_fields.push_back({name, number});
    }
    return {};
}

Result<> read_bm25(Fields& fields, Bm25& bm25) {
    BRAID_TRY(auto members, fields.fields("bm25"));
    if (!members) return {};
    BRAID_TRY(const auto variant, members->choice("variant", {"lucene", "okapi"}));
    if (variant == "okapi") {
        bm25.variant = Bm25Variant::Okapi;
        bm25.k1 = 1.5;
    }
    BRAID_TRY(const auto k1, members->number("k1"));
    BRAID_TRY(const auto b, members->number("b"));
    BRAID_TRY(const auto epsilon, members->number("epsilon"));
    bm25.k1 = k1.value_or(bm25.k1);
    bm25.b = b.value_or(bm25.b);
    bm25.epsilon = epsilon.value_or(bm25.epsilon);
    return members->finish();
}

Result<std::size_t> read_size(Fields& fields, std::string_view key) {
    BRAID_TRY(const auto size, fields.integer(key, 0));
    return static_cast<std::size_t>(size.value_or(0));
}

Result<> read_text(Fields& fields, std::string_view key, std::string& out) {
    BRAID_TRY(auto text, fields.string(key));
    if (text) out = *std::move(text);
    return {};
}

Result<> read_fingerprint(Fields& fields, std::optional<EmbedderFingerprint>& out) {
    BRAID_TRY(auto members, fields.fields("fingerprint"));
    if (!members) return {};
    EmbedderFingerprint print;
    BRAID_CHECK(read_text(*members, "model", print.model));
    BRAID_CHECK(read_text(*members, "model_hash", print.model_hash));
    BRAID_TRY(print.dimension, read_size(*members, "dimension"));
    BRAID_CHECK(read_text(*members, "pooling", print.pooling));
    BRAID_CHECK(read_text(*members, "query_prefix", print.query_prefix));
    BRAID_CHECK(read_text(*members, "passage_prefix", print.passage_prefix));
    BRAID_TRY(print.token_limit, read_size(*members, "token_limit"));
    BRAID_CHECK(read_text(*members, "runtime", print.runtime));
    BRAID_CHECK(read_text(*members, "cpu_level", print.cpu_level));
    out = std::move(print);
    return members->finish();
}

Result<> read_vectors(Fields& fields, VectorSpec& vectors) {
    BRAID_CHECK(read_text(fields, "embedder", vectors.embedder));
    BRAID_TRY(vectors.dimension, read_size(fields, "dimension"));
    BRAID_TRY(const auto metric, fields.choice("metric", {"cosine", "dot", "euclidean"}));
    if (metric) vectors.metric = metric_by_name(*metric).value_or(vectors.metric);
    BRAID_TRY(const auto precision, fields.choice("precision", {"f32", "f16", "int8"}));
    if (precision) vectors.precision = precision_by_name(*precision).value_or(vectors.precision);
    return read_fingerprint(fields, vectors.fingerprint);
}

Result<> read_metadata(Fields& fields, Schema& schema) {
    BRAID_TRY(auto types, fields.fields("metadata"));
    if (!types) return {};
    for (const auto& [name, type] : types->whole()) {
        BRAID_TRY(
            const std::string text,
            types->required(name, types->choice(name, {"string", "number", "boolean", "date"})));
        for (std::size_t i = 0; i < kMetadataTypes.size(); ++i) {
            if (text == kMetadataTypes[i]) {
                schema.metadata.push_back({name, static_cast<MetadataType>(i)});
            }
        }
    }
    return {};
}

Result<> read_levels(Fields& fields, AccessLevels& levels) {
    BRAID_TRY(auto members, fields.fields("levels"));
    if (!members) return {};
    BRAID_TRY(auto names, members->strings("names"));
    if (names) levels.names = *std::move(names);
    BRAID_CHECK(read_text(*members, "default", levels.default_level));
    return members->finish();
}

Value fingerprint_to_value(const EmbedderFingerprint& print) {
    return Object{{"model", Value(print.model)},
                  {"model_hash", Value(print.model_hash)},
                  {"dimension", Value(print.dimension)},
                  {"pooling", Value(print.pooling)},
                  {"query_prefix", Value(print.query_prefix)},
                  {"passage_prefix", Value(print.passage_prefix)},
                  {"token_limit", Value(print.token_limit)},
                  {"runtime", Value(print.runtime)},
                  {"cpu_level", Value(print.cpu_level)}};
}

}  // namespace

Result<Schema> schema_from_value(const Value& json) {
    if (!json.is_object())
        return invalid_argument("a schema must be an object, got " + json::shown(json));
    Fields fields(json.as_object());
    Schema schema;
    BRAID_CHECK(read_text_fields(fields, schema));
    BRAID_CHECK(read_text(fields, "analyzer", schema.analyzer));
    BRAID_CHECK(read_text(fields, "language", schema.language));
    BRAID_TRY(const auto stop_words, fields.boolean("stop_words"));
    schema.stop_words = stop_words.value_or(false);
    BRAID_TRY(const auto positions, fields.boolean("positions"));
    schema.positions = positions.value_or(false);
    BRAID_CHECK(read_bm25(fields, schema.bm25));
    BRAID_CHECK(read_vectors(fields, schema.vectors));
    BRAID_CHECK(read_metadata(fields, schema));
    BRAID_CHECK(read_levels(fields, schema.levels));
    BRAID_CHECK(fields.finish());
    BRAID_CHECK(validate(schema));
    return schema;
}

Value schema_to_value(const Schema& schema) {
    Object text_fields;
    for (const TextField& field : schema.text_fields) text_fields.set(field.name, field.weight);
    Object metadata;
    for (const MetadataField& field : schema.metadata) {
        metadata.set(field.name, kMetadataTypes[static_cast<std::size_t>(field.type)]);
    }
    const bool okapi = schema.bm25.variant == Bm25Variant::Okapi;
    Object out{{"text_fields", Value(std::move(text_fields))},
               {"analyzer", Value(schema.analyzer)},
               {"language", Value(schema.language)},
               {"stop_words", Value(schema.stop_words)},
               {"positions", Value(schema.positions)},
               {"bm25", Object{{"variant", okapi ? "okapi" : "lucene"},
                               {"k1", schema.bm25.k1},
                               {"b", schema.bm25.b},
                               {"epsilon", schema.bm25.epsilon}}},
               {"embedder", Value(schema.vectors.embedder)},
               {"dimension", schema.vectors.dimension},
               {"metric", name_of(schema.vectors.metric)},
               {"precision", name_of(schema.vectors.precision)}};
    if (schema.vectors.fingerprint) {
        out.set("fingerprint", fingerprint_to_value(*schema.vectors.fingerprint));
    }
    out.set("metadata", std::move(metadata));
    out.set("levels",
            Object{{"names", Array(schema.levels.names.begin(), schema.levels.names.end())},
                   {"default", Value(schema.levels.default_level)}});
    return out;
}

Value collection_to_value(const CollectionInfo& info) {
    Object out{{"name", Value(info.name)},
               {"chunks", info.chunks},
               {"documents", info.documents},
               {"namespaces", Array(info.namespaces.begin(), info.namespaces.end())},
               {"schema", schema_to_value(info.schema)}};
    if (!info.damage.empty()) out.set("damage", info.damage);
    return out;
}

namespace {

Value dense_to_value(const DenseStats& dense) {
    Array points;
    for (const DenseStats::Point& point : dense.points) {
        points.emplace_back(Object{{"method", Value(point.method)},
                                   {"planned", point.planned},
                                   {"found", point.found},
                                   {"low", point.low},
                                   {"high", point.high},
                                   {"k", point.k}});
    }
    return Object{{"in_graphs", dense.in_graphs},
                  {"calibrated", dense.calibrated},
                  {"queries", dense.queries},
                  {"asked", dense.asked},
                  {"points", std::move(points)}};
}

Value spread_to_value(const LegProbes::Spread& spread) {
    return Object{{"mean", spread.mean}, {"deviation", spread.deviation}};
}

Value probes_to_value(const LegProbes& probes) {
    Array kinds;
    for (const LegProbes::Kind& kind : probes.kinds) {
        kinds.emplace_back(Object{{"name", Value(kind.name)},
                                  {"asked", kind.asked},
                                  {"dense", kind.dense},
                                  {"sparse", kind.sparse}});
    }
    return Object{{"chunks", probes.chunks},
                  {"among", probes.among},
                  {"kinds", std::move(kinds)},
                  {"random_dense", spread_to_value(probes.random_dense)},
                  {"random_sparse", spread_to_value(probes.random_sparse)}};
}

Value index_to_value(const IndexState& index) {
    Array segments;
    for (const IndexState::Segment& segment : index.segments) {
        segments.emplace_back(Object{{"file", Value(segment.file)},
                                     {"chunks", segment.chunks},
                                     {"dead", segment.dead},
                                     {"vectors", segment.vectors},
                                     {"bytes", segment.bytes},
                                     {"graph_bytes", segment.graph_bytes}});
    }
    return Object{{"segments", std::move(segments)},
                  {"in_memory", index.in_memory},
                  {"pending", Array(index.pending.begin(), index.pending.end())}};
}

}  // namespace

Value stats_to_value(const std::string& collection, const std::string& namespace_,
                     const CollectionStats& stats) {
    Object parts;
    for (const StoredPart& part : stats.parts) parts.set(part.name, part.bytes);
    Object out{{"collection", Value(collection)},
               {"namespace", Value(namespace_)},
               {"chunks", stats.chunks},
               {"documents", stats.documents},
               {"vectors", stats.vectors},
               {"terms", stats.terms},
               {"average_length", stats.average_length},
               {"bytes_on_disk", stats.bytes_on_disk},
               {"bytes_by_part", std::move(parts)},
               {"resident_bytes", stats.resident_bytes}};
    if (stats.dense) out.set("dense", dense_to_value(*stats.dense));
    if (stats.index) out.set("index", index_to_value(*stats.index));
    if (stats.probes) out.set("probes", probes_to_value(*stats.probes));
    return out;
}

Value facets_to_value(const std::string& field, std::span<const FacetCount> facets) {
    Array values;
    values.reserve(facets.size());
    for (const FacetCount& facet : facets) {
        values.emplace_back(Object{{"value", facet.value}, {"count", facet.count}});
    }
    return Object{{"field", Value(field)}, {"values", std::move(values)}};
}

}  // namespace braid::wire
