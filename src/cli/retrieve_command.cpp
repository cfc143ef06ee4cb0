#include <array>
#include <string>

#include "braid/cli/answer_view.hpp"
#include "braid/cli/commands.hpp"
#include "braid/cli/input.hpp"
#include "braid/cli/session.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/answer_json.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/request_json.hpp"

namespace braid::cli {
namespace {

constexpr std::string_view kServiceProfile = "service";

constexpr auto kFlags = std::to_array<FlagSpec>({
    {.name = "request",
     .kind = FlagKind::Text,
     .value = "FILE|-",
     .help = "the request as JSON; flags stand above it"},
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
    {.name = "profile",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "defaults to start from (default: service)",
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
    {.name = "mos-code",
     .kind = FlagKind::List,
     .value = "CODE",
     .help = "only this mos_code; may be repeated",
     .key = "mos_codes"},
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
    {.name = "dense-weight",
     .kind = FlagKind::Number,
     .value = "A",
     .help = "weight of the dense leg; the other has 1 - A",
     .key = "dense_weight"},
    {.name = "weights",
     .kind = FlagKind::Json,
     .value = "JSON",
     .help = "weight of each source",
     .key = "weights"},
    {.name = "dense-top-k",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "candidates of the dense leg",
     .key = "dense_top_k"},
    {.name = "sparse-top-k",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "candidates of the sparse leg",
     .key = "sparse_top_k"},
    {.name = "score-threshold",
     .kind = FlagKind::Number,
     .value = "X",
     .help = "least fused score",
     .key = "score_threshold"},
    {.name = "max-hops",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "of multi_hop",
     .key = "max_hops"},
    {.name = "hop-top-k",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "chunks per hop",
     .key = "hop_top_k"},
    {.name = "expand-query", .help = "search other phrasings too", .key = "expand_query"},
    {.name = "use-hyde", .help = "embed a hypothetical answer", .key = "use_hyde"},
    {.name = "query-syntax", .help = "read the query language", .key = "query_syntax"},
    {.name = "query-vector",
     .kind = FlagKind::Text,
     .value = "FILE.npy|JSON",
     .help = "the question as a vector"},
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
    {.name = "explain", .help = "show the arithmetic of every score", .key = "explain"},
    {.name = "deadline-ms",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "give up after N milliseconds",
     .key = "deadline_ms"},
    {.name = "cursor",
     .kind = FlagKind::Text,
     .value = "TEXT",
     .help = "the next page of an earlier answer",
     .key = "cursor"},
});

tl::unexpected<Error> bad(std::string message) {
    return fail(ErrorCode::InvalidArgument, std::move(message));
}

/// Words of one command line are one question.
std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

Result<Object> request_file(const std::string& path) {
    BRAID_TRY(const std::string text, read_input(path));
    const std::string name = path == "-" ? "standard input" : path;
    auto json = json::parse(text);
    if (!json) return bad(name + ": " + json.error().message);
    if (!json->is_object()) return bad(name + ": a request must be an object");
    return std::move(json->as_object());
}

Result<> add_fusion(const Arguments& arguments, Object& request) {
    const auto text = arguments.text("fusion");
    if (!text) return {};
    if (!text->starts_with('{')) {
        request.set("fusion", *text);
        return {};
    }
    auto json = json::parse(*text);
    if (!json) return bad("--fusion: not JSON: " + json.error().message);
    request.set("fusion", *std::move(json));
    return {};
}

/// The request of the file, if there is one, with the flags and the question put over it.
Result<Request> request_of(const Arguments& arguments) {
    Object request;
    const auto path = arguments.text("request");
    if (path) {
        BRAID_TRY(request, request_file(*path));
    } else {
        request.set("profile", kServiceProfile);
    }
    BRAID_TRY(const Object flags, arguments.keyed_values(kFlags));
    for (const auto& [key, value] : flags) request.set(key, value);
    BRAID_CHECK(add_fusion(arguments, request));
    if (const auto text = arguments.text("query-vector")) {
        BRAID_TRY(const auto vector, read_vector(*text, "--query-vector"));
        request.set("query_embedding", wire::vector_to_value(vector));
    }
    if (!arguments.operands.empty()) request.set("query", joined(arguments.operands));
    const bool asks = path || !arguments.operands.empty() || arguments.has("query-vector") ||
                      arguments.has("cursor");
    if (!asks) return bad("\"retrieve\" needs QUERY, --request or --query-vector");
    return wire::request_from_value(request);
}

Result<> run_retrieve(Session& session) {
    BRAID_TRY(const Request request, request_of(session.arguments));
    BRAID_TRY(const auto database, session.open_for_reading());
    BRAID_TRY(const Answer answer, database.retrieve(request));
    if (session.json()) {
        session.out.json(wire::answer_to_value(answer));
        return {};
    }
    AnswerViewOptions options;
    options.width = session.out.width();
    options.style = session.out.style();
    options.explain = request.explain;
    options.schema = [&](const std::string& collection) -> Result<Schema> {
        BRAID_TRY(CollectionInfo info, database.describe(collection));
        return std::move(info.schema);
    };
    for (const std::string& line : answer_lines(answer, options)) session.out.line(line);
    return {};
}

}  // namespace

const CommandSpec kRetrieveCommand{
    .name = "retrieve",
    .operands = "QUERY",
    .min_operands = 0,
    .max_operands = 1000,
    .summary = "find the passages that answer a question",
    .details = R"(A question on the command line uses the profile "service" (RETRIEVAL_TOP_K,
RETRIEVAL_VECTOR_WEIGHT, RETRIEVAL_BM25_WEIGHT); a request in JSON the profile
it names, else "default". Each hit says which leg found it at which rank.

  braid retrieve "when do foxes hunt?" --collection wiki
  braid retrieve fox --strategy sparse -k 3 --filter '{"year": {"$gte": 2020}}'
  echo '{"query": "fox", "top_k": 5}' | braid retrieve --request - --json)",
    .flags = kFlags,
    .run = run_retrieve,
};

}  // namespace braid::cli
