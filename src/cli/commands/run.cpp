#include <array>
#include <optional>
#include <string>
#include <vector>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/query_file.hpp"
#include "braid/cli/commands/request_flags.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/output_file.hpp"
#include "braid/cli/view/progress.hpp"
#include "braid/core/numbers.hpp"
#include "braid/eval/run_queries.hpp"
#include "braid/json/json.hpp"

namespace braid::cli {
namespace {

constexpr std::int64_t kMaxDocuments = 10'000;
constexpr std::size_t kDefaultDocuments = 100;

constexpr auto kRunFlags = std::to_array<FlagSpec>({
    kQueriesFlag,
    kQueryVectorsFlag,
    {.name = "out",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "the run, with its timings in FILE.json"},
    {.name = "name",
     .kind = FlagKind::Text,
     .value = "TAG",
     .help = "the run's name (default: the strategy)"},
});

Result<eval::RunRequest> run_request(const Session& session) {
    const Arguments& arguments = session.arguments;
    BRAID_TRY(const auto documents, arguments.integer("top-k", 1, kMaxDocuments));
    eval::RunRequest request;
    // Each query takes the place of "-".
    BRAID_TRY(request.request, flags_request(session, "-"));
    request.documents = documents ? static_cast<std::size_t>(*documents) : kDefaultDocuments;
    request.name = arguments.text_or("name", arguments.text_or("strategy", "braid"));
    return request;
}

Result<> write(Session& session, const eval::RunOutcome& outcome) {
    BRAID_TRY(const std::string run, eval::write_run(outcome.run));
    Value timings = eval::timings_to_value(outcome);
    const auto path = session.arguments.text("out");
    if (!path || *path == "-") {
        if (session.json()) {
            timings.as_object().set("trec", Value(run));
            session.out.json(timings);
        } else {
            session.out.text(run);
        }
        return {};
    }
    BRAID_CHECK(write_output(*path, run));
    BRAID_CHECK(write_output(*path + ".json", json::print(timings) + "\n"));
    if (session.json()) {
        timings.as_object().set("out", Value(*path));
        session.out.json(timings);
        return {};
    }
    session.note(core::count_of(outcome.timings.size(), "query", "queries") + " in " +
                 core::fixed(outcome.seconds, 2) + " s; run in " + *path + ", timings in " + *path +
                 ".json");
    return {};
}

Result<> run_run(Session& session) {
    BRAID_TRY(QueryFile file, read_query_file(session.arguments));
    const std::vector<eval::Query>& queries = file.queries;
    BRAID_TRY(eval::RunRequest request, run_request(session));
    request.vectors = std::move(file.vectors);
    BRAID_TRY(const auto service, session.service_for_reading());
    session.name_collection(*service, request.request);
    const bool bar = session.out.notes_on_terminal() && !session.quiet();
    request.progress = [&](std::size_t done) {
        if (bar) {
            session.out.status(core::grouped(done) + " of " + core::grouped(queries.size()) +
                               " queries");
        }
    };
    const auto answer = [&](std::span<const Request> requests) {
        return service->retrieve_batch(requests);
    };
    auto outcome = eval::run_queries(queries, request, answer);
    session.out.status({});
    if (!outcome) return tl::unexpected(std::move(outcome).error());
    for (const auto& [text, count] : outcome->warnings) {
        session.warn(text + " (" + core::count_of(count, "query", "queries") + ")");
    }
    return write(session, *outcome);
}

}  // namespace

const CommandSpec kRunCommand{
    .name = "run",
    .operands = "",
    .summary = "search a file of queries and write a TREC run",
    .details = R"(A run ranks documents, each once, by its best chunk, with strictly decreasing
scores. --top-k says how many per query (default: 100). "braid eval" measures
runs, "braid fuse" fuses them.

  braid run --collection wiki --queries q.jsonl --strategy sparse --out a.trec
  braid run --queries q.tsv --query-vectors q.npy --fusion dbsf --out dbsf.trec)",
    .flags = kRunFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to search",
    .run = run_run,
};

}  // namespace braid::cli
