#include <array>
#include <string>
#include <utility>

#include "braid/cli/commands/input.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/request_flags.hpp"
#include "braid/cli/commands/search_notes.hpp"
#include "braid/cli/session.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/chunk_json.hpp"

namespace braid::cli {
namespace {

constexpr auto kRetrieveFlags = std::to_array<FlagSpec>({
    {.name = "request",
     .kind = FlagKind::Text,
     .value = "FILE|-",
     .help = "the request as JSON; flags override it"},
    {.name = "query-vector",
     .kind = FlagKind::Text,
     .value = "FILE.npy|JSON",
     .help = "the question as a vector"},
});

Result<Object> request_file(const std::string& path) {
    BRAID_TRY(const std::string text, read_input(path));
    const std::string name = path == "-" ? "standard input" : path;
    auto json = json::parse(text);
    if (!json) return invalid_argument(name + ": " + json.error().message);
    if (!json->is_object()) return invalid_argument(name + ": a request must be an object");
    return std::move(json->as_object());
}

/// The request of the file, if there is one, with the flags and the question applied to it.
Result<Request> request_of(const Session& session) {
    const Arguments& arguments = session.arguments;
    Object request;
    const auto path = arguments.text("request");
    if (path) {
        BRAID_TRY(request, request_file(*path));
    }
    BRAID_CHECK(put_request_flags(arguments, request));
    if (const auto text = arguments.text("query-vector")) {
        BRAID_TRY(const auto vector, read_vector(*text, "--query-vector"));
        request.set("query_embedding", wire::vector_to_value(vector));
    }
    if (!arguments.operands.empty()) request.set("query", arguments.joined_operands());
    const bool asks = path || !arguments.operands.empty() || arguments.has("query-vector");
    if (!asks) {
        return invalid_argument("\"" + std::string(arguments.command->name) +
                                "\" needs QUERY, --request or --query-vector");
    }
    return caller_request(session.settings, request);
}

/// If the request names no collection and there is none called "default", the only one is meant.
Result<Answer> answer_to(const Session& session, const service::Service& service,
                         const Request& request) {
    auto answer = service.retrieve(request);
    if (answer || answer.error().code != ErrorCode::NotFound || !request.collections.empty()) {
        return answer;
    }
    Request named = request;
    session.name_collection(service, named);
    return named.collections.empty() ? std::move(answer) : service.retrieve(named);
}

Result<> run_retrieve(Session& session) {
    BRAID_TRY(const Request request, request_of(session));
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const Answer answer, answer_to(session, *service, request));
    show_answer(session, answer, request.explain);
    return {};
}

}  // namespace

const CommandSpec kRetrieveCommand{
    .name = "retrieve",
    .operands = "QUERY",
    .min_operands = 0,
    .max_operands = 1000,
    .summary = "find the passages that answer a question",
    .details = R"(Defaults come from a profile: --profile, else BRAID_PROFILE, else "service" if
RETRIEVAL_TOP_K, RETRIEVAL_VECTOR_WEIGHT or RETRIEVAL_BM25_WEIGHT is set, else
"default", as over HTTP and MCP. Each hit shows which leg found it and at which
rank.

  braid retrieve "when do foxes hunt?" --collection wiki
  braid retrieve fox --strategy sparse -k 3 --filter '{"year": {"$gte": 2020}}'
  echo '{"query": "fox", "top_k": 5}' | braid retrieve --request - --json)",
    .flags = kRetrieveFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to search",
    .run = run_retrieve,
    .paged = true,
};

const CommandSpec kSearchCommand{
    .name = "search",
    .operands = "QUERY",
    .min_operands = 0,
    .max_operands = 1000,
    .summary = "the same as retrieve",
    .details = R"(  braid search "when do foxes hunt?")",
    .flags = kRetrieveFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to search",
    .run = run_retrieve,
    .paged = true,
};

}  // namespace braid::cli
