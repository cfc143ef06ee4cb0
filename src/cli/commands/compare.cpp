#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/query_file.hpp"
#include "braid/cli/commands/request_flags.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/output_file.hpp"
#include "braid/eval/overlap.hpp"
#include "braid/eval/run_queries.hpp"
#include "braid/json/json.hpp"

namespace braid::cli {
namespace {

constexpr std::int64_t kMaxCompared = 1000;
constexpr std::size_t kDefaultCompared = 10;
constexpr std::size_t kDefaultShown = 10;

constexpr auto kCompareFlags = std::to_array<FlagSpec>({
    kQueriesFlag,
    kQueryVectorsFlag,
    {.name = "against",
     .kind = FlagKind::Text,
     .value = "JSON",
     .help = "what the second way changes: {\"fusion\": \"auto\"}"},
    {.name = "show",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "how many queries to show (default: 10)"},
    {.name = "html", .kind = FlagKind::Text, .value = "FILE", .help = "write a page too"},
});

/// What both ways have in common, and the flags that say it.
constexpr auto kOwnKeys =
    std::to_array<std::pair<std::string_view, const char*>>({{"query", "--queries"},
                                                             {"query_embedding", "--query-vectors"},
                                                             {"top_k", "--top-k"},
                                                             {"cursor", "--queries"}});

/// The flags' request, and the same with the keys of --against in it.
Result<std::array<Request, 2>> two_requests(const Session& session) {
    const auto text = session.arguments.text("against");
    if (!text) return invalid_argument("\"compare\" needs --against '{\"key\": value}'");
    const auto other = json::parse(*text);
    if (!other || !other->is_object()) {
        return invalid_argument("--against must be a JSON object of keys of a request");
    }
    Object json;
    BRAID_CHECK(put_request_flags(session.arguments, json));
    json.set("query", "-");  // each query takes its place
    BRAID_TRY(Request first, caller_request(session.settings, json));
    for (const auto& [key, value] : other->as_object()) {
        for (const auto& [own, flag] : kOwnKeys) {
            if (key == own) {
                return invalid_argument("--against may not have \"" + key + "\": " + flag +
                                        " says it for both");
            }
        }
        json.set(key, value);
    }
    BRAID_TRY(Request second, caller_request(session.settings, json));
    return std::array{std::move(first), std::move(second)};
}

Result<> run_compare(Session& session) {
    const Arguments& arguments = session.arguments;
    BRAID_TRY(const QueryFile file, read_query_file(arguments));
    BRAID_TRY(const auto depth, arguments.integer("top-k", 1, kMaxCompared));
    BRAID_TRY(const auto show, arguments.integer("show", 0, kMaxCompared));
    const std::size_t shown = show ? static_cast<std::size_t>(*show) : kDefaultShown;
    BRAID_TRY(const auto requests, two_requests(session));
    BRAID_TRY(const auto service, session.service_for_reading());
    std::array<eval::Run, 2> runs;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        eval::RunRequest request;
        request.request = requests[i];
        session.name_collection(*service, request.request);
        request.name = i == 0 ? "now" : arguments.text_or("against", "");
        request.vectors = file.vectors;
        request.documents = depth ? static_cast<std::size_t>(*depth) : kDefaultCompared;
        BRAID_TRY(auto outcome,
                  eval::run_queries(file.queries, request, [&](std::span<const Request> asked) {
                      return service->retrieve_batch(asked);
                  }));
        runs[i] = std::move(outcome.run);
    }
    const auto overlap = eval::overlap_of(
        runs[0], runs[1], depth ? static_cast<std::size_t>(*depth) : kDefaultCompared);
    if (const auto path = arguments.text("html")) {
        BRAID_CHECK(write_output(*path, eval::html_page(overlap, file.queries, shown)));
    }
    if (session.json()) {
        session.out.json(eval::to_value(overlap, shown));
    } else {
        session.out.text(eval::to_text(overlap, file.queries, shown));
    }
    return {};
}

}  // namespace

const CommandSpec kCompareCommand{
    .name = "compare",
    .operands = "",
    .summary = "compare two ways to search, without judgements",
    .details = R"(Searches every query twice: as the flags say, and with the keys of --against
instead. Says how much of the lists is the same and how far documents moved,
and shows the queries that differ most. It cannot say which way is better:
that takes judgements ("braid eval", "braid tune").

  braid compare --queries q.jsonl --against '{"fusion": "auto"}'
  braid compare --queries q.tsv --strategy dense --against
      '{"strategy": "hybrid"}' --html differences.html)",
    .flags = kCompareFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to search the first time",
    .run = run_compare,
};

}  // namespace braid::cli
