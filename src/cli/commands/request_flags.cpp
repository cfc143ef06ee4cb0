#include "braid/cli/commands/request_flags.hpp"

#include <array>

#include "braid/apps/vocabulary.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/request_json.hpp"

namespace braid::cli {
namespace {

constexpr auto kRequestFlags = std::to_array<FlagSpec>({
    {.name = "top-k",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "how many hits",
     .key = "top_k",
     .letter = 'k'},
    {.name = "collection",
     .kind = FlagKind::List,
     .value = "NAME",
     .help = "where to search; may be repeated",
     .key = "collections"},
    {.name = "namespace",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "the namespace",
     .key = "namespace"},
    {.name = "topic-id",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "same as --namespace",
     .key = "topicId"},
    {.name = "profile",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "named set of defaults",
     .key = "profile"},
    {.name = "strategy",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "hybrid, dense, sparse or multi_hop",
     .key = "strategy"},
    {.name = "filter",
     .kind = FlagKind::Json,
     .value = "JSON",
     .help = "only chunks that match",
     .key = "filter"},
    {.name = "document",
     .kind = FlagKind::List,
     .value = "ID",
     .help = "only this document; may be repeated",
     .key = "document_ids"},
    {.name = "artifact-type",
     .kind = FlagKind::List,
     .value = "NAME",
     .help = "only this artifact_type",
     .key = "artifact_type"},
    {.name = "sensitivity",
     .kind = FlagKind::List,
     .value = "LEVEL",
     .help = "only this sensitivity",
     .key = "sensitivity"},
    {.name = "category",
     .kind = FlagKind::List,
     .value = "NAME",
     .help = "only this category",
     .key = "category"},
    {.name = "stakes",
     .kind = FlagKind::List,
     .value = "NAME",
     .help = "only these stakes",
     .key = "stakes"},
    {.name = "project",
     .kind = FlagKind::List,
     .value = "NAME",
     .help = "only this project",
     .key = "project"},
    kMosCodeFlag,
    {.name = "created-after",
     .kind = FlagKind::Text,
     .value = "TIME",
     .help = "only later chunks",
     .key = "created_after"},
    {.name = "created-before",
     .kind = FlagKind::Text,
     .value = "TIME",
     .help = "only earlier chunks",
     .key = "created_before"},
    {.name = "fusion",
     .kind = FlagKind::Text,
     .value = "NAME|JSON",
     .help = "rrf, weighted_sum, dbsf, auto; or {\"k\", ...}"},
    {.name = "across",
     .kind = FlagKind::Text,
     .value = "HOW",
     .help = "compare collections by ranks or by scores",
     .key = "across"},
    {.name = "dense-weight",
     .kind = FlagKind::Number,
     .value = "A",
     .help = "weight of the dense leg; the sparse leg has 1 - A",
     .key = "dense_weight"},
    {.name = "alpha",
     .kind = FlagKind::Number,
     .value = "A",
     .help = "same as --dense-weight",
     .key = "alpha"},
    {.name = "weights",
     .kind = FlagKind::Json,
     .value = "JSON",
     .help = "weight of each source",
     .key = "weights"},
    {.name = "bm25",
     .kind = FlagKind::Json,
     .value = "JSON",
     .help = "how words score: {\"k1\", \"b\", \"text_fields\"}",
     .key = "bm25"},
    {.name = "dense-top-k",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "candidates from the dense leg",
     .key = "dense_top_k"},
    {.name = "sparse-top-k",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "candidates from the sparse leg",
     .key = "sparse_top_k"},
    {.name = "k-semantic",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "same as --dense-top-k",
     .key = "kSemantic"},
    {.name = "k-lexical",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "same as --sparse-top-k",
     .key = "kLexical"},
    {.name = "k-context",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "same as --top-k",
     .key = "kContext"},
    {.name = "score-threshold",
     .kind = FlagKind::Number,
     .value = "X",
     .help = "lowest fused score to keep",
     .key = "score_threshold"},
    {.name = "max-hops",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "most hops of multi_hop",
     .key = "max_hops"},
    {.name = "hop-top-k",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "chunks per hop",
     .key = "hop_top_k"},
    {.name = "expand-query", .help = "search other phrasings too", .key = "expand_query"},
    {.name = "use-hyde", .help = "embed a hypothetical answer", .key = "use_hyde"},
    {.name = "query-syntax",
     .help = "search by operators: \"phrase\", +must, -not",
     .key = "query_syntax"},
    {.name = "typos",
     .kind = FlagKind::Text,
     .value = "auto|off",
     .help = "also search words similar to unknown ones",
     .key = "typos"},
    {.name = "keep-duplicates",
     .help = "show near-identical passages of one document too",
     .key = "keep_duplicates"},
    {.name = "stages",
     .kind = FlagKind::Json,
     .value = "JSON",
     .help = "steps after fusion: [{\"name\": {...}}]",
     .key = "stages"},
    {.name = "expand-neighbors",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "add N chunks before and after each hit",
     .key = "expand_neighbors"},
    {.name = "exact", .help = "exact dense search", .key = "exact"},
    {.name = "engine",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "exact: search everything, in memory; to compare",
     .choices = "segment|exact"},
    {.name = "recall",
     .kind = FlagKind::Number,
     .value = "R",
     .help = "share of exact dense hits to find (default: 0.98)",
     .key = "recall"},
    {.name = "explain",
     .help = "show each score's arithmetic and each leg's rank",
     .key = "explain"},
    {.name = "deadline-ms",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "give up after N milliseconds",
     .key = "deadline_ms"},
});

Result<Value> fusion_of(const std::string& text) {
    if (!text.starts_with('{')) return Value(text);
    auto json = json::parse(text);
    if (!json) {
        return invalid_argument("--fusion: not JSON: " + json.error().message);
    }
    return *std::move(json);
}

}  // namespace

std::span<const FlagSpec> request_flags() {
    return kRequestFlags;
}

Result<> put_request_flags(const Arguments& arguments, Object& request) {
    BRAID_TRY(const Object flags, arguments.keyed_values(kRequestFlags));
    for (const auto& [key, value] : flags) request.set(key, value);
    if (const auto text = arguments.text("fusion")) {
        BRAID_TRY(Value fusion, fusion_of(*text));
        request.set("fusion", std::move(fusion));
    }
    return {};
}

Result<Request> caller_request(const Settings& settings, const Object& request) {
    BRAID_TRY(Request read, wire::request_from_value(request, apps::vocabulary()));
    if (read.own_profile || (!read.cursor.empty() && read.profile.empty())) return read;
    BRAID_TRY(read.own_profile, settings.profile(read.profile));
    return read;
}

Result<Request> flags_request(const Session& session, std::string_view query) {
    Object json;
    BRAID_CHECK(put_request_flags(session.arguments, json));
    json.set("query", query);
    return caller_request(session.settings, json);
}

}  // namespace braid::cli
