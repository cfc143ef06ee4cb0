#include "braid/remote/index_layout.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "braid/core/base64.hpp"
#include "braid/docs/schema_codec.hpp"
#include "braid/remote/answer_parts.hpp"
#include "braid/store/bytes.hpp"

namespace braid::remote {
namespace {

constexpr std::int64_t kFormat = 3;
constexpr std::int64_t kFormatWithoutPlaces = 2;
constexpr std::int64_t kBytesFormat = 4;  // of vectors in 8 bits: an older braid refuses it

/// Upper case in names is escaped by a plus sign, which names cannot contain.
std::string escaped(std::string_view collection, std::string_view plus) {
    std::string name;
    for (const char c : collection) {
        if (c >= 'A' && c <= 'Z') {
            name += plus;
            name += static_cast<char>(c + 32);
        } else {
            name += c;
        }
    }
    return name;
}

Value keyword(bool columns) {
    Object type{{"type", "keyword"}};
    if (!columns) type.set("doc_values", false);
    return type;
}

Value vector_type(const IndexMeta& meta) {
    // One by one, here and below: gcc 12 takes the members of a list for uninitialised.
    Object type{{"type", "knn_vector"}};
    type.set("dimension", meta.dimension);
    type.set("space_type", space_of(meta.schema.vectors.metric));
    type.set("method", Object{{"name", "hnsw"},
                              {"engine", "lucene"},
                              {"parameters", Object{{"m", 16}, {"ef_construction", 128}}}});
    return type;
}

Value meta_value(const IndexMeta& meta) {
    store::ByteWriter out;
    docs::write_schema(out, meta.schema);
    Object members;
    const bool bytes = meta.schema.vectors.precision == Precision::Int8;
    members.set("format", bytes               ? kBytesFormat
                          : meta.keeps_places ? kFormat
                                              : kFormatWithoutPlaces);
    members.set("collection", meta.collection);
    members.set("filling", meta.filling);
    members.set("made", meta.made);
    members.set("schema", core::encode_base64(out.view()));
    return Object{{"braid", std::move(members)}};
}

Value custom_analyzer(std::string_view tokenizer, Array filters) {
    return Object{
        {"type", "custom"}, {"tokenizer", Value(tokenizer)}, {"filter", std::move(filters)}};
}

/// Our terms come analysed: "braid_terms" reads them with their counts, "braid_places" position by
/// position, "braid_pool" several that count as one.
Value analysis_settings() {
    Object tokenizers;
    tokenizers.set("braid_spaces", Object{{"type", "whitespace"}, {"max_token_length", 1'000}});
    tokenizers.set("braid_cells", Object{{"type", "whitespace"}, {"max_token_length", 1'000'000}});
    Object filters;
    filters.set("braid_counts", Object{{"type", "delimited_term_freq"}, {"delimiter", "|"}});
    filters.set("braid_gaps", Object{{"type", "stop"}, {"stopwords", Array{Value(kGap)}}});
    filters.set("braid_besides",
                Object{{"type", "pattern_capture"},
                       {"preserve_original", false},
                       {"patterns", Array{std::string("([^") + kBesides + "]+)"}}});
    Object analyzers;
    analyzers.set("braid_terms", custom_analyzer("braid_spaces", {"braid_counts"}));
    analyzers.set("braid_places", custom_analyzer("braid_cells", {"braid_gaps", "braid_besides"}));
    analyzers.set("braid_pool", custom_analyzer("braid_cells", {"braid_besides"}));
    return Object{{"tokenizer", std::move(tokenizers)},
                  {"filter", std::move(filters)},
                  {"analyzer", std::move(analyzers)}};
}

}  // namespace

std::string index_name(const std::string& prefix, std::string_view collection) {
    return prefix + escaped(collection, "+");
}
std::string index_path(const std::string& prefix, std::string_view collection) {
    return prefix + escaped(collection, "%2B");
}

std::string own_name(const std::string& prefix, const IndexMeta& meta) {
    return prefix + '.' + std::to_string(meta.made);  // no collection's name has a dot
}

std::string placed_term(std::size_t field, std::string_view term) {
    return std::to_string(field) + ':' + std::string(term);
}

WholeWeights whole_weights(const Schema& schema) {
    constexpr int kFinest = 100;
    const auto fits = [&](int scale) {
        return std::ranges::all_of(schema.text_fields, [&](const TextField& field) {
            const double scaled = field.weight * scale;
            return scaled >= 0.5 && std::abs(scaled - std::round(scaled)) < 1e-9 * scale;
        });
    };
    WholeWeights whole;
    while (whole.scale < kFinest && !fits(whole.scale)) ++whole.scale;
    for (const TextField& field : schema.text_fields) {
        const double scaled = std::clamp(std::round(field.weight * whole.scale), 1.0, 1e6);
        whole.weights.push_back(static_cast<int>(scaled));
    }
    return whole;
}

std::string_view space_of(Metric metric) noexcept {
    return metric == Metric::Euclidean ? "l2" : "innerproduct";
}

Result<> check_supported(const Schema& schema) {
    if (schema.bm25.variant == Bm25Variant::Okapi) {
        return fail(ErrorCode::Unsupported,
                    "a cluster does not support the BM25 variant \"okapi\"; use \"lucene\"");
    }
    if (schema.vectors.dimension > kMostDimensions) {
        return fail(ErrorCode::Unsupported, "a cluster holds vectors of at most " +
                                                std::to_string(kMostDimensions) + " dimensions");
    }
    return {};
}

Value index_body(const IndexMeta& meta, const RemoteOptions& options) {
    const Schema& schema = meta.schema;
    Object settings{
        {"number_of_shards", Value(options.shards)},
        {"number_of_replicas", Value(options.replicas)},
        // Undoes what a template of the cluster might have loosened: acknowledged means on disk.
        {"translog", Object{{"durability", "request"}}},
        {"analysis", analysis_settings()},
        {"similarity", Object{{"braid", Object{{"type", "BM25"},
                                               {"k1", schema.bm25.k1 * whole_weights(schema).scale},
                                               {"b", schema.bm25.b}}}}}};
    if (schema.vectors.has_vectors()) settings.set("knn", true);
    return Object{{"settings", Object{{"index", std::move(settings)}}},
                  {"aliases", Object{{own_name(options.prefix, meta), Object{}}}},
                  {"mappings", mapping_body(meta)}};
}

Value mapping_body(const IndexMeta& meta) {
    Object properties{{"ns", keyword(true)},
                      {"id", keyword(true)},
                      {"doc", keyword(true)},
                      {"index", Object{{"type", "long"}}},
                      {"level", Object{{"type", "integer"}}},
                      {"scope", keyword(false)},
                      {"facts", keyword(true)},
                      {"texts", keyword(false)},
                      {"length", Object{{"type", "double"}, {"index", false}}},
                      {"removed", Object{{"type", "long"}}},
                      {"terms", Object{{"type", "text"},
                                       {"index_options", "freqs"},
                                       {"analyzer", "braid_terms"},
                                       {"search_analyzer", "braid_terms"},
                                       {"similarity", "braid"}}}};
    Array searched{"doc", "index", "level", "scope", "facts", "texts", "length", "terms", "vector"};
    if (meta.keeps_places) {
        properties.set("places", Object{{"type", "text"},
                                        {"index_options", "positions"},
                                        {"norms", false},
                                        {"analyzer", "braid_places"},
                                        {"search_analyzer", "braid_places"}});
        properties.set("words", Object{{"type", "keyword"}, {"index", false}});
        searched.emplace_back("places");
        searched.emplace_back("words");
    }
    if (meta.dimension != 0) properties.set("vector", vector_type(meta));
    if (meta.expires) properties.set("expires", Object{{"type", "long"}});
    // What is only searched is not stored a second time.
    return Object{{"dynamic", false},
                  {"_meta", meta_value(meta)},
                  {"_source", Object{{"excludes", std::move(searched)}}},
                  {"properties", std::move(properties)}};
}

Result<IndexMeta> read_mapping(const Value& mappings) {
    const Value* const ours = find_in(mappings, {"_meta", "braid"});
    if (ours == nullptr) return fail(ErrorCode::NotFound, "it does not hold a braid collection");
    const Value* const format = ours->find("format");
    const Value* const name = ours->find("collection");
    const Value* const encoded = ours->find("schema");
    const Value* const filling = ours->find("filling");
    if (format == nullptr || !format->is_int() || name == nullptr || !name->is_string() ||
        encoded == nullptr || !encoded->is_string()) {
        return fail(ErrorCode::Corruption, "it does not record what it holds");
    }
    if (format->as_int() < kFormatWithoutPlaces || format->as_int() > kBytesFormat) {
        return fail(ErrorCode::Unsupported, "it has format " + std::to_string(format->as_int()) +
                                                ", this program reads up to " +
                                                std::to_string(kBytesFormat));
    }
    IndexMeta meta;
    meta.keeps_places = format->as_int() != kFormatWithoutPlaces;
    meta.collection = name->as_string();
    meta.filling = filling != nullptr && filling->is_bool() && filling->as_bool();
    const Value* const made = ours->find("made");
    if (made != nullptr && made->is_int()) meta.made = static_cast<Version>(made->as_int());
    const auto bytes = core::decode_base64(encoded->as_string());
    if (!bytes) return fail(ErrorCode::Corruption, "it does not record its schema");
    const std::string source = "the schema of collection " + meta.collection;
    store::ByteReader in(*bytes, source);
    BRAID_TRY(meta.schema, docs::read_schema(in));
    const Value* const dimension = find_in(mappings, {"properties", "vector", "dimension"});
    if (dimension != nullptr && dimension->is_int() && dimension->as_int() > 0) {
        meta.dimension = static_cast<std::size_t>(dimension->as_int());
    }
    meta.expires = find_in(mappings, {"properties", "expires"}) != nullptr;
    return meta;
}

}  // namespace braid::remote
