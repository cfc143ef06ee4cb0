#include "braid/docs/schema_codec.hpp"

#include <optional>
#include <string>
#include <utility>

namespace braid::docs {
namespace {

using store::ByteReader;
using store::ByteWriter;

void write_fingerprint(ByteWriter& out, const std::optional<EmbedderFingerprint>& fingerprint) {
    out.u8(fingerprint ? 1 : 0);
    if (!fingerprint) return;
    out.string(fingerprint->model);
    out.string(fingerprint->model_hash);
    out.varint(fingerprint->dimension);
    out.string(fingerprint->pooling);
    out.string(fingerprint->query_prefix);
    out.string(fingerprint->passage_prefix);
    out.varint(fingerprint->token_limit);
    out.string(fingerprint->runtime);
    out.string(fingerprint->cpu_level);
}

Result<std::optional<EmbedderFingerprint>> read_fingerprint(ByteReader& in) {
    BRAID_TRY(const std::uint8_t present, in.u8("fingerprint flag"));
    if (present == 0) return std::optional<EmbedderFingerprint>();
    if (present != 1) return in.corrupt("bad fingerprint flag");
    EmbedderFingerprint print;
    BRAID_TRY(print.model, in.string("model"));
    BRAID_TRY(print.model_hash, in.string("model hash"));
    BRAID_TRY(print.dimension, in.varint("dimension"));
    BRAID_TRY(print.pooling, in.string("pooling"));
    BRAID_TRY(print.query_prefix, in.string("query prefix"));
    BRAID_TRY(print.passage_prefix, in.string("passage prefix"));
    BRAID_TRY(print.token_limit, in.varint("token limit"));
    BRAID_TRY(print.runtime, in.string("runtime"));
    BRAID_TRY(print.cpu_level, in.string("cpu level"));
    return std::optional<EmbedderFingerprint>(std::move(print));
}

Result<std::vector<std::vector<float>>> read_canaries(ByteReader& in) {
    BRAID_TRY(const std::size_t count, in.count(1, "canaries"));
    std::vector<std::vector<float>> canaries(count);
    for (std::vector<float>& canary : canaries) {
        BRAID_TRY(const std::size_t dimension, in.count(sizeof(float), "canary"));
        canary.resize(dimension);
        for (float& x : canary) {
            BRAID_TRY(x, in.f32("canary element"));
        }
    }
    return canaries;
}

/// Bits of the options.
constexpr std::uint8_t kStopWords = 1;
constexpr std::uint8_t kPositions = 2;

/// Corruption if the number is above that of the last value.
template <class Enum>
Result<Enum> enum_of(const ByteReader& in, unsigned number, Enum last, std::string_view what) {
    if (number > static_cast<unsigned>(last)) {
        return in.corrupt("bad " + std::string(what) + " " + std::to_string(number));
    }
    return static_cast<Enum>(number);
}

/// An enum stored as one byte.
template <class Enum>
Result<Enum> read_enum(ByteReader& in, Enum last, std::string_view what) {
    BRAID_TRY(const std::uint8_t byte, in.u8(what));
    return enum_of(in, byte, last, what);
}

}  // namespace

void write_schema(ByteWriter& out, const Schema& schema) {
    out.varint(schema.text_fields.size());
    for (const TextField& field : schema.text_fields) {
        out.string(field.name);
        out.f64(field.weight);
    }
    out.string(schema.analyzer);
    out.string(schema.language);
    out.u8(static_cast<std::uint8_t>((schema.stop_words ? kStopWords : 0) |
                                     (schema.positions ? kPositions : 0)));
    out.u8(static_cast<std::uint8_t>(schema.bm25.variant));
    out.f64(schema.bm25.k1);
    out.f64(schema.bm25.b);
    out.f64(schema.bm25.epsilon);
    out.string(schema.vectors.embedder);
    out.varint(schema.vectors.dimension);
    out.u8(static_cast<std::uint8_t>(static_cast<unsigned>(schema.vectors.metric) |
                                     static_cast<unsigned>(schema.vectors.precision) << 4U));
    write_fingerprint(out, schema.vectors.fingerprint);
    out.varint(schema.vectors.canaries.size());
    for (const std::vector<float>& canary : schema.vectors.canaries) {
        out.varint(canary.size());
        for (const float x : canary) out.f32(x);
    }
    out.varint(schema.metadata.size());
    for (const MetadataField& field : schema.metadata) {
        out.string(field.name);
        out.u8(static_cast<std::uint8_t>(field.type));
    }
    out.varint(schema.levels.names.size());
    for (const std::string& name : schema.levels.names) out.string(name);
    out.string(schema.levels.default_level);
}

Result<Schema> read_schema(ByteReader& in) {
    Schema schema;
    schema.text_fields.clear();
    BRAID_TRY(const std::size_t fields, in.count(9, "text fields"));
    for (std::size_t i = 0; i < fields; ++i) {
        TextField& field = schema.text_fields.emplace_back();
        BRAID_TRY(field.name, in.string("text field"));
        BRAID_TRY(field.weight, in.f64("weight"));
    }
    BRAID_TRY(schema.analyzer, in.string("analyzer"));
    BRAID_TRY(schema.language, in.string("language"));
    BRAID_TRY(const std::uint8_t options, in.u8("options"));
    schema.stop_words = (options & kStopWords) != 0;
    schema.positions = (options & kPositions) != 0;
    BRAID_TRY(schema.bm25.variant, read_enum(in, Bm25Variant::Okapi, "BM25 variant"));
    BRAID_TRY(schema.bm25.k1, in.f64("k1"));
    BRAID_TRY(schema.bm25.b, in.f64("b"));
    BRAID_TRY(schema.bm25.epsilon, in.f64("epsilon"));
    BRAID_TRY(schema.vectors.embedder, in.string("embedder"));
    BRAID_TRY(schema.vectors.dimension, in.varint("dimension"));
    BRAID_TRY(const std::uint8_t compared, in.u8("metric"));
    BRAID_TRY(schema.vectors.metric, enum_of(in, compared & 0xFU, Metric::Euclidean, "metric"));
    BRAID_TRY(schema.vectors.precision, enum_of(in, compared >> 4U, Precision::Int8, "precision"));
    BRAID_TRY(schema.vectors.fingerprint, read_fingerprint(in));
    BRAID_TRY(schema.vectors.canaries, read_canaries(in));
    BRAID_TRY(const std::size_t declared, in.count(2, "metadata fields"));
    for (std::size_t i = 0; i < declared; ++i) {
        MetadataField& field = schema.metadata.emplace_back();
        BRAID_TRY(field.name, in.string("metadata field"));
        BRAID_TRY(field.type, read_enum(in, MetadataType::Date, "metadata type"));
    }
    schema.levels.names.clear();
    BRAID_TRY(const std::size_t levels, in.count(1, "levels"));
    for (std::size_t i = 0; i < levels; ++i) {
        BRAID_TRY(const std::string_view name, in.string("level"));
        schema.levels.names.emplace_back(name);
    }
    BRAID_TRY(schema.levels.default_level, in.string("default level"));
    return schema;
}

}  // namespace braid::docs
