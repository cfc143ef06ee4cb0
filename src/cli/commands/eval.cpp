#include <array>
#include <string>
#include <vector>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/output_file.hpp"
#include "braid/eval/evaluate_files.hpp"
#include "braid/eval/report.hpp"
#include "braid/eval/table.hpp"

namespace braid::cli {
namespace {

constexpr auto kEvalFlags = std::to_array<FlagSpec>({
    {.name = "qrels",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "judgements: a TREC or BEIR file"},
    {.name = "measures",
     .kind = FlagKind::Text,
     .value = "A,B",
     .help = "nDCG@k AP RR@k P@k R@k Success@k Judged@k, (rel=n) too"},
    {.name = "per-query", .help = "also print the values of every query"},
    {.name = "html",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "write a report with plots as one self-contained page"},
    {.name = "queries",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "the queries' texts, for the report"},
    {.name = "resamples",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "resamples of the bootstrap (default: 10000)"},
    {.name = "seed", .kind = FlagKind::Integer, .value = "N", .help = "seed of the bootstrap"},
});

Result<eval::EvalRequest> eval_request(const Session& session) {
    const Arguments& arguments = session.arguments;
    const auto qrels = arguments.text("qrels");
    if (!qrels) return invalid_argument("\"eval\" needs --qrels FILE");
    eval::EvalRequest request;
    request.qrels = *qrels;
    request.runs = arguments.operands;
    request.measures = arguments.text_or("measures", "");
    request.queries = arguments.text_or("queries", "");
    BRAID_TRY(const auto resamples, arguments.integer("resamples", 100, 1'000'000));
    if (resamples) request.options.resamples = static_cast<std::size_t>(*resamples);
    BRAID_TRY(const auto seed, arguments.integer("seed", 0, INT64_MAX));
    if (seed) request.options.seed = static_cast<std::uint64_t>(*seed);
    return request;
}

Result<> run_eval(Session& session) {
    BRAID_TRY(const eval::EvalRequest request, eval_request(session));
    BRAID_TRY(const eval::EvalOutcome outcome, eval::evaluate_files(request));
    const bool per_query = session.arguments.has("per-query");
    if (const auto path = session.arguments.text("html")) {
        const std::string page = eval::html_report(
            {outcome.qrels, outcome.runs, outcome.comparison, outcome.queries}, {});
        BRAID_CHECK(write_output(*path, page));
        session.note("The report is in " + *path + ".");
    }
    if (session.json()) {
        session.out.json(eval::to_value(outcome.comparison, per_query));
        return {};
    }
    const eval::TableOptions options{.color = session.out.style().colored()};
    session.out.text(eval::to_table(outcome.comparison, options));
    if (per_query) {
        session.out.line();
        session.out.text(eval::to_query_table(outcome.comparison, options));
    }
    return {};
}

}  // namespace

const CommandSpec kEvalCommand{
    .name = "eval",
    .operands = "RUN...",
    .min_operands = 1,
    .max_operands = 100,
    .summary = "measure TREC runs against judgements",
    .details = R"(Measures have the names and values of ir-measures. Means are over all judged
queries. The first run is the baseline: the others are compared with it by a
paired bootstrap and a randomisation test over the same queries.

  braid eval --qrels qrels/test.tsv dense.trec sparse.trec hybrid.trec
  braid eval --qrels q.txt --measures "nDCG@10,P(rel=2)@5" run.trec --per-query
  braid eval --qrels q.txt a.trec b.trec --html report.html --queries q.jsonl)",
    .flags = kEvalFlags,
    .run = run_eval,
    .paged = true,
};

}  // namespace braid::cli
