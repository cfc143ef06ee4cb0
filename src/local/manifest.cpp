#include "braid/local/manifest.hpp"

#include <charconv>
#include <set>

#include "braid/segment/segment_format.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/durable_mark.hpp"
#include "braid/store/section_file_format.hpp"

namespace braid::local {
namespace {

using store::ByteReader;
using store::ByteWriter;

constexpr std::uint32_t kMagic = 0x4d445242;  // "BRDM"

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

/// An enum stored as one byte; Corruption if it is above the last value.
template <class Enum>
Result<Enum> read_enum(ByteReader& in, Enum last, std::string_view what) {
    BRAID_TRY(const std::uint8_t byte, in.u8(what));
    if (byte > static_cast<std::uint8_t>(last)) {
        return in.corrupt("bad " + std::string(what) + " " + std::to_string(byte));
    }
    return static_cast<Enum>(byte);
}

void write_schema(ByteWriter& out, const Schema& schema) {
    out.varint(schema.text_fields.size());
    for (const TextField& field : schema.text_fields) {
        out.string(field.name);
        out.f64(field.weight);
    }
    out.string(schema.analyzer);
    out.string(schema.language);
    out.u8(schema.stop_words ? 1 : 0);
    out.u8(static_cast<std::uint8_t>(schema.bm25.variant));
    out.f64(schema.bm25.k1);
    out.f64(schema.bm25.b);
    out.f64(schema.bm25.epsilon);
    out.string(schema.vectors.embedder);
    out.varint(schema.vectors.dimension);
    out.u8(static_cast<std::uint8_t>(schema.vectors.metric));
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
    BRAID_TRY(const std::uint8_t stop_words, in.u8("stop words"));
    schema.stop_words = stop_words != 0;
    BRAID_TRY(schema.bm25.variant, read_enum(in, Bm25Variant::Okapi, "BM25 variant"));
    BRAID_TRY(schema.bm25.k1, in.f64("k1"));
    BRAID_TRY(schema.bm25.b, in.f64("b"));
    BRAID_TRY(schema.bm25.epsilon, in.f64("epsilon"));
    BRAID_TRY(schema.vectors.embedder, in.string("embedder"));
    BRAID_TRY(schema.vectors.dimension, in.varint("dimension"));
    BRAID_TRY(schema.vectors.metric, read_enum(in, Metric::Euclidean, "metric"));
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

bool needs_segments_format(const Manifest& manifest) {
    return !manifest.segments.empty() || !manifest.older_logs.empty() || manifest.flushed != 0 ||
           manifest.next_generation != 1;
}

void write_segments(ByteWriter& out, const Manifest& manifest) {
    out.varint(manifest.older_logs.size());
    for (const std::string& log : manifest.older_logs) out.string(log);
    out.varint(manifest.flushed);
    out.varint(manifest.next_generation);
    out.varint(manifest.deletes);
    out.varint(manifest.segments.size());
    for (const SegmentEntry& segment : manifest.segments) {
        out.varint(segment.generation);
        out.varint(segment.rows);
        out.varint(segment.bytes);
    }
}

Result<> read_segments(ByteReader& in, Manifest& manifest) {
    BRAID_TRY(const std::size_t logs, in.count(1, "older logs"));
    for (std::size_t i = 0; i < logs; ++i) {
        BRAID_TRY(manifest.older_logs.emplace_back(), in.string("older log"));
    }
    BRAID_TRY(manifest.flushed, in.varint("last flushed record"));
    BRAID_TRY(manifest.next_generation, in.varint("next generation"));
    BRAID_TRY(manifest.deletes, in.varint("generation of the deletes"));
    std::set<std::uint64_t> generations;
    const auto check = [&](std::uint64_t generation) -> Result<> {
        if (generation != 0 && generation < manifest.next_generation &&
            generations.insert(generation).second) {
            return {};
        }
        return in.corrupt("bad generation " + std::to_string(generation));
    };
    if (manifest.deletes != 0) BRAID_CHECK(check(manifest.deletes));
    BRAID_TRY(const std::size_t count, in.count(3, "segments"));
    for (std::size_t i = 0; i < count; ++i) {
        SegmentEntry& segment = manifest.segments.emplace_back();
        BRAID_TRY(segment.generation, in.varint("generation of a segment"));
        BRAID_TRY(segment.rows, in.varint("rows of a segment"));
        BRAID_TRY(segment.bytes, in.varint("bytes of a segment"));
        BRAID_CHECK(check(segment.generation));
    }
    return {};
}

}  // namespace

std::string log_name(std::uint64_t number) {
    std::string digits = std::to_string(number);
    if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
    return "log-" + digits;
}

std::optional<std::uint64_t> log_number(std::string_view name) {
    if (!name.starts_with("log-")) return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data() + 4, name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
    return number;
}

std::optional<std::string> log_of_file(std::string_view name) {
    const std::string mark = store::durable_mark_name("");
    if (name.ends_with(mark)) name.remove_suffix(mark.size());
    if (!log_number(name)) return std::nullopt;
    return std::string(name);
}

std::optional<std::uint64_t> generation_of_file(std::string_view name) {
    for (const std::string_view kind :
         {segment::kSegmentKind, segment::kDeletesKind, segment::kGraphKind}) {
        if (!name.starts_with(kind) || name.size() <= kind.size() + 1) continue;
        std::uint64_t generation = 0;
        const auto [end, error] =
            std::from_chars(name.data() + kind.size() + 1, name.data() + name.size(), generation);
        if (error != std::errc() || store::section_file_name(kind, generation) != name) continue;
        return generation;
    }
    return std::nullopt;
}

std::vector<std::string> segment_files(const Manifest& manifest) {
    std::vector<std::string> names;
    for (const SegmentEntry& segment : manifest.segments) {
        names.push_back(store::section_file_name(segment::kSegmentKind, segment.generation));
    }
    if (manifest.deletes != 0) {
        names.push_back(store::section_file_name(segment::kDeletesKind, manifest.deletes));
    }
    return names;
}

std::vector<std::string> derived_files(const Manifest& manifest) {
    std::vector<std::string> names;
    for (const SegmentEntry& segment : manifest.segments) {
        names.push_back(store::section_file_name(segment::kGraphKind, segment.generation));
    }
    return names;
}

std::vector<std::byte> write_manifest(const Manifest& manifest) {
    const bool segments = needs_segments_format(manifest);
    const std::uint32_t format = segments ? kSegmentsFormat : manifest.format;
    ByteWriter out;
    out.u32(kMagic);
    out.u32(format);
    out.u64(0);  // the checksum's place
    const std::size_t start = out.size();
    out.string(manifest.log);
    out.varint(manifest.version_base);
    write_schema(out, manifest.schema);
    if (format >= kSegmentsFormat) write_segments(out, manifest);
    out.patch_u64(start - 8, store::checksum(out.view().subspan(start), format));
    return out.take();
}

Result<Manifest> read_manifest(std::span<const std::byte> bytes, std::string_view source) {
    ByteReader in(bytes, source);
    BRAID_TRY(const std::uint32_t magic, in.u32("magic number"));
    if (magic != kMagic) return in.corrupt("this is not a manifest");
    BRAID_TRY(const std::uint32_t version, in.u32("version"));
    if (version > kSegmentsFormat) {
        return fail(ErrorCode::Unsupported, std::string(source) + ": format " +
                                                std::to_string(version) +
                                                " was written by a newer braid");
    }
    BRAID_TRY(const std::uint64_t expected, in.u64("checksum"));
    if (store::checksum(in.rest(), version) != expected) return in.corrupt("the checksum is wrong");
    Manifest manifest;
    manifest.format = version;
    BRAID_TRY(manifest.log, in.string("log name"));
    BRAID_TRY(manifest.version_base, in.varint("version base"));
    BRAID_TRY(manifest.schema, read_schema(in));
    if (version >= kSegmentsFormat) BRAID_CHECK(read_segments(in, manifest));
    BRAID_CHECK(in.expect_end("manifest"));
    return manifest;
}

}  // namespace braid::local
