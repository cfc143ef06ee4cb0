#include <array>
#include <string>
#include <vector>

#include "braid/cli/commands/learning.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/query_file.hpp"
#include "braid/cli/commands/request_flags.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/output_file.hpp"
#include "braid/core/numbers.hpp"

namespace braid::cli {
namespace {

constexpr auto kFeaturesFlags = std::to_array<FlagSpec>({
    kQueriesFlag,
    kQueryVectorsFlag,
    kJudgementsFlag,
    kClicksFlag,
    kClickBiasFlag,
    kCandidatesFlag,
    {.name = "out",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "where to write them (default: standard output)"},
});

Result<> run_features(Session& session) {
    const Arguments& arguments = session.arguments;
    BRAID_TRY(Request request, candidates_request(session));
    BRAID_TRY(const std::size_t candidates, candidates_flag(arguments));
    const bool graded = arguments.has("qrels") || arguments.has("clicks");
    Judged judged;
    if (graded) {
        BRAID_TRY(judged, read_judged(session));
    } else {
        BRAID_TRY(judged.file, read_query_file(arguments));
    }
    BRAID_TRY(const auto service, session.service_for_reading());
    session.name_collection(*service, request);
    BRAID_TRY(auto lists, collect(session, *service, request, candidates, judged.file));
    if (graded) lists = eval::judged_lists(std::move(lists), judged.qrels);
    const std::string letor = eval::write_letor(lists);
    std::size_t rows = 0;
    for (const eval::FeatureList& list : lists) rows += list.rows.size();
    const auto path = arguments.text("out");
    if (path && *path != "-") BRAID_CHECK(write_output(*path, letor));
    if (session.json()) {
        Array names;
        for (const rank::Feature& feature : rank::features()) names.emplace_back(feature.name);
        Object out{{"queries", lists.size()},
                   {"rows", rows},
                   {"version", rank::kFeatureVersion},
                   {"features", Value(std::move(names))}};
        if (!path || *path == "-") out.set("letor", Value(letor));
        session.out.json(Value(std::move(out)));
    } else if (!path || *path == "-") {
        session.out.text(letor);
    } else {
        session.note(core::count_of(lists.size(), "query", "queries") + ", " +
                     core::count_of(rows, "row", "rows") + " in " + *path);
    }
    return {};
}

}  // namespace

const CommandSpec kFeaturesCommand{
    .name = "features",
    .operands = "",
    .summary = "write the features of a learned ranking as a LETOR file",
    .details = R"(One line per candidate of each query, in SVMlight's format, for programs
that learn rankings: the judgement of its document (0 without --qrels), the
query's number, the features. They are read from the receipts, so they are what
the stage "rank" sees. Candidates are found by the fusion "auto" unless the
flags name another.

  braid features --queries q.jsonl --qrels qrels.tsv --out wiki.letor)",
    .flags = kFeaturesFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to find the candidates",
    .run = run_features,
};

}  // namespace braid::cli
