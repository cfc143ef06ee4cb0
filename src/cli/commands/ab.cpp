#include <array>
#include <string>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/output_file.hpp"
#include "braid/eval/experiments.hpp"
#include "braid/eval/lines.hpp"

namespace braid::cli {
namespace {

constexpr auto kReportFlags = std::to_array<FlagSpec>({
    {.name = "experiment",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "which one, if the log holds several"},
    {.name = "clicks-out",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "write clicks for \"braid tune\" and \"braid rank train\""},
});

Result<> run_ab_report(Session& session) {
    const Arguments& arguments = session.arguments;
    const std::string& path = arguments.operands.front();
    BRAID_TRY(const std::string text, eval::read_file(path));
    BRAID_TRY(const auto log, eval::parse_experiment_log(text, path));
    if (log.unread > 0) session.warn("the last line of " + path + " is incomplete and was skipped");
    eval::ExperimentOptions options;
    options.experiment = arguments.text_or("experiment", "");
    BRAID_TRY(const auto report, eval::report_experiment(log, options));
    if (const auto clicks = arguments.text("clicks-out")) {
        BRAID_CHECK(write_output(*clicks, eval::clicks_of(log)));
    }
    if (session.json()) {
        session.out.json(eval::to_value(report));
    } else {
        session.out.text(eval::to_text(report));
    }
    return {};
}

}  // namespace

const CommandSpec kAbReportCommand{
    .name = "ab report",
    .operands = "LOG",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "show which side of an experiment got more clicks",
    .details = R"(Reads what "braid serve --ab FILE --ab-log LOG" wrote: for each
side how many answers had a click and how far up, and the difference with its
95 % interval, bootstrapped over the keys; of mixed answers, which side won.

  braid ab report experiment.jsonl
  braid ab report experiment.jsonl --clicks-out clicks.jsonl)",
    .flags = kReportFlags,
    .run = run_ab_report,
};

}  // namespace braid::cli
