#include "braid/eval/tune.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "braid/cli/commands/input.hpp"
#include "braid/cli/commands/learning.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/query_file.hpp"
#include "braid/cli/commands/request_flags.hpp"
#include "braid/cli/commands/tune_settings.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/output_file.hpp"
#include "braid/cli/view/progress.hpp"
#include "braid/cli/view/table.hpp"
#include "braid/core/numbers.hpp"
#include "braid/eval/run_queries.hpp"
#include "braid/eval/table.hpp"
#include "braid/json/json.hpp"
#include "braid/service/service.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kUncutDocuments = 100;  // of a measure without a cutoff
constexpr std::size_t kShown = 10;
constexpr auto kTuneFlags = std::to_array<FlagSpec>({
    kQueriesFlag,
    kQueryVectorsFlag,
    kJudgementsFlag,
    kClicksFlag,
    kClickBiasFlag,
    kMeasureFlag,
    kFoldsFlag,
    kFoldSeedFlag,
    {.name = "write",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "put the recommended profile into a config.json"},
});

/// What every setting found, and the mean time of an answer.
struct Found {
    std::vector<eval::Run> runs;
    std::vector<double> milliseconds;  // without embedding the query, which all have in common
};

double mean_time(const std::vector<Timings>& timings) {
    double sum = 0;
    for (const Timings& one : timings) sum += one.total_ms;
    return timings.empty() ? 0 : sum / static_cast<double>(timings.size());
}

/// Searches all queries with every setting.
Result<Found> search(const Session& session, const service::Service& service, const QueryFile& file,
                     const std::vector<Trial>& settings, const eval::Measure& measure) {
    const bool bar = session.out.notes_on_terminal() && !session.quiet();
    Found found;
    found.runs.reserve(settings.size());
    const auto run = [&](const Trial& setting) {
        if (bar) session.out.status(setting.name);
        eval::RunRequest request;
        request.request = setting.request;
        session.name_collection(service, request.request);
        request.name = setting.name;
        request.vectors = file.vectors;
        request.documents =
            measure.cutoff > 0 ? static_cast<std::size_t>(measure.cutoff) : kUncutDocuments;
        auto outcome = eval::run_queries(
            file.queries, request,
            [&](std::span<const Request> requests) { return service.retrieve_batch(requests); });
        session.out.status({});
        return outcome;
    };
    // A warm-up: the first search loads files, and embeds the queries for the others.
    (void)run(settings.front());
    for (const Trial& setting : settings) {
        auto outcome = run(setting);
        if (!outcome) return fail(setting.name, std::move(outcome).error());
        if (outcome->incomplete > 0) {
            const auto cause = std::ranges::max_element(outcome->warnings, {},
                                                        [](const auto& one) { return one.second; });
            session.warn(setting.name + ": " +
                         core::count_of(outcome->incomplete, "answer is", "answers are") +
                         " incomplete" +
                         (cause == outcome->warnings.end() ? "" : ": " + cause->first));
        }
        found.milliseconds.push_back(mean_time(outcome->timings));
        // Ranks instead of scores: measures and answers break ties differently.
        for (eval::RankedList& list : outcome->run.lists) {
            for (std::size_t i = 0; i < list.hits.size(); ++i) {
                list.hits[i].score = -static_cast<double>(i);
            }
        }
        found.runs.push_back(std::move(outcome->run));
    }
    return found;
}

/// What choosing a fusion gains over the better leg alone, on queries not used for the choice. None
/// if there is only one leg.
Result<std::optional<eval::TuneOutcome>> against_better_leg(const std::vector<Trial>& settings,
                                                            const std::vector<eval::Run>& runs,
                                                            const std::vector<double>& means,
                                                            const eval::Qrels& qrels,
                                                            const eval::TuneOptions& options) {
    if (std::ranges::none_of(settings, &Trial::fuses)) return std::nullopt;
    std::size_t leg = kSparseAlone;  // the best that is one
    for (std::size_t i = kSparseAlone; i < settings.size(); ++i) {
        if (!settings[i].fuses() && means[i] > means[leg]) leg = i;
    }
    std::vector<eval::Run> compared{runs[leg]};
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (settings[i].fuses()) compared.push_back(runs[i]);
    }
    BRAID_TRY(auto outcome, eval::tune(qrels, compared, options));
    return outcome;
}

/// All that was found out.
struct Findings {
    const std::vector<Trial>& settings;
    const Found& found;
    const eval::TuneOutcome& outcome;
    const std::optional<eval::TuneOutcome>& fusion;  // against_better_leg()
    const eval::Measure& measure;

    bool fusion_helps() const { return fusion && eval::clearly_better(fusion->held_out); }
    /// Whether the best setting is a fusion that cannot be told from a single leg.
    bool fuses_in_vain() const { return settings[outcome.best].fuses() && !fusion_helps(); }
    /// Whether the best setting should replace the present one.
    bool recommends() const {
        return outcome.best != 0 && eval::clearly_better(outcome.held_out) && !fuses_in_vain();
    }
    /// The best setting, in the form of config.json.
    Object profiles() const {
        const Trial& best = settings[outcome.best];
        const std::string name =
            best.request.own_profile ? best.request.own_profile->name : best.request.profile;
        return {{name.empty() ? "default" : name, Value(best.profile)}};
    }
};

Value to_value(const Findings& findings) {
    const auto& [settings, found, outcome, fusion, measure] = findings;
    Array tried;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        tried.emplace_back(Object{{"name", Value(settings[i].name)},
                                  {"mean", outcome.means[i]},
                                  {"milliseconds", found.milliseconds[i]},
                                  {"profile", Value(settings[i].profile)}});
    }
    Array chosen;
    for (const std::size_t run : outcome.chosen) chosen.emplace_back(settings[run].name);
    Object out{{"measure", Value(eval::name_of(measure))},
               {"settings", Value(std::move(tried))},
               {"best", Value(settings[outcome.best].name)},
               {"chosen", Value(std::move(chosen))},
               {"clearly_better", eval::clearly_better(outcome.held_out)},
               {"fusion_helps", findings.fusion_helps()},
               {"recommended", findings.recommends()},
               {"held_out", eval::to_value(outcome.held_out)}};
    if (fusion) out.set("against_better_leg", eval::to_value(fusion->held_out));
    return out;
}

/// The best settings, and always the one in use.
void show_settings(Output& out, const Findings& findings) {
    const auto& [settings, found, outcome, fusion, measure] = findings;
    std::vector<std::size_t> order(settings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t i) { return outcome.means[i]; });
    Table table({{.name = "setting", .whole = true},
                 {.name = eval::name_of(measure), .right = true},
                 {.name = "ms", .right = true}});
    for (std::size_t place = 0; place < order.size(); ++place) {
        const std::size_t i = order[place];
        if (place >= kShown && i != 0) continue;
        table.add({settings[i].name, core::fixed(outcome.means[i], 4),
                   core::fixed(found.milliseconds[i], 2)});
    }
    table.print(out);
}

void show(Session& session, const Findings& findings) {
    const std::vector<Trial>& settings = findings.settings;
    const eval::TuneOutcome& outcome = findings.outcome;
    show_settings(session.out, findings);
    const std::size_t folds = outcome.chosen.size();
    session.out.line();
    session.out.line("On held-out queries (" + std::to_string(folds) + " folds):");
    session.out.line();
    session.out.text(eval::to_table(outcome.held_out, {.color = session.out.style().colored()}));
    session.out.line();
    const Trial& best = settings[outcome.best];
    if (!findings.fusion) {
        session.out.line("The collection has no vectors: there is one leg, and nothing to fuse.");
    }
    if (outcome.best == 0) {
        session.out.line("No setting is better than the current one.");
        return;
    }
    const auto votes = std::ranges::count(outcome.chosen, outcome.best);
    session.out.line("Best: " + best.name + "; " + std::to_string(votes) + " of " +
                     std::to_string(folds) + " folds chose it.");
    if (!eval::clearly_better(outcome.held_out)) {
        session.out.line(
            "The gain may be chance: the interval of the difference includes 0. Keep the\ncurrent "
            "setting, or judge more queries.");
        return;
    }
    if (findings.fuses_in_vain()) {
        const eval::ComparedRun& leg = findings.fusion->held_out.runs.front();
        const auto& gain = findings.fusion->held_out.runs.back().differences.front();
        session.out.line("No fusion is recommended: compared with " + leg.name +
                         " alone it gains " + core::fixed(gain.mean, 4) +
                         ",\nwith an interval from " + core::fixed(gain.interval.low, 4) + " to " +
                         core::fixed(gain.interval.high, 4) + ".");
        return;
    }
    session.out.line("To use it, put this into config.json:");
    session.out.line("  \"profiles\": " + json::print(Value(findings.profiles())));
}

/// The file that --write names; empty if there is none yet.
Result<Object> read_config(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
        const auto folder = std::filesystem::absolute(path, error).parent_path();
        if (std::filesystem::is_directory(folder, error)) return Object();
        return fail(ErrorCode::NotFound, "there is no folder \"" + folder.string() + "\"");
    }
    BRAID_TRY(const std::string text, read_input(path));
    auto config = json::parse(text);
    if (!config) return fail(path, std::move(config).error());
    if (!config->is_object()) return invalid_argument(path + " does not hold a JSON object");
    const Value* const profiles = config->find("profiles");
    if (profiles != nullptr && !profiles->is_object()) {
        return invalid_argument(path + ": \"profiles\" is not an object");
    }
    return std::move(config->as_object());
}

/// Puts the profile beside those already in the file.
Result<> write_profile(const std::string& path, const Object& profiles) {
    BRAID_TRY(Object config, read_config(path));
    const Value* const known = config.find("profiles");
    Object all = known == nullptr ? Object() : known->as_object();
    for (const auto& [name, profile] : profiles) all.set(name, profile);
    config.set("profiles", Value(std::move(all)));
    return write_output(path, json::print(Value(std::move(config))) + "\n");
}

Result<Schema> schema_of(const Session& session, const service::Service& service) {
    BRAID_TRY(const std::string collection, session.collection_to_read(service));
    return service.schema(collection);
}

/// Whether words score as a request says: in a cluster they score as the collection says.
Result<bool> words_vary(const Session& session, const service::Service& service, const Request& now,
                        const QueryFile& file) {
    if (file.queries.empty()) return true;
    Request request = now;
    session.name_collection(service, request);
    request.strategy = Strategy::Sparse;
    request.fusion = {};
    request.weights.clear();
    request.dense_weight.reset();
    request.query = file.queries.front().text;
    request.bm25.k1 = 1;
    BRAID_TRY(const Answer answer, service.retrieve(request));
    return std::ranges::find(answer.unused, "bm25") == answer.unused.end();
}

Result<> run_tune(Session& session) {
    const Arguments& arguments = session.arguments;
    BRAID_TRY(const Judged judged, read_judged(session));
    const eval::Qrels& qrels = judged.qrels;
    BRAID_TRY(const eval::TuneOptions options, folding_options<eval::TuneOptions>(arguments));
    BRAID_TRY(const Request now, flags_request(session, "-"));
    const auto path = arguments.text("write");
    if (path) BRAID_CHECK(read_config(*path));  // before minutes of searching
    if (judged.from_clicks) {
        session.warn(
            "the judgements come from clicks, weighted by rank; what was never "
            "shown counts as irrelevant, which favours the setting that was in use");
    }
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const Schema schema, schema_of(session, *service));
    BRAID_TRY(const bool vary, words_vary(session, *service, now, judged.file));
    const std::vector<Trial> settings = settings_to_try(now, schema, vary);
    BRAID_TRY(const Found found, search(session, *service, judged.file, settings, options.measure));
    BRAID_TRY(const auto outcome, eval::tune(qrels, found.runs, options));
    BRAID_TRY(const auto fusion,
              against_better_leg(settings, found.runs, outcome.means, qrels, options));
    const Findings findings{settings, found, outcome, fusion, options.measure};
    if (session.json()) {
        session.out.json(to_value(findings));
    } else {
        show(session, findings);
    }
    if (!path || !findings.recommends()) return {};
    BRAID_CHECK(write_profile(*path, findings.profiles()));
    session.note("the profile was written to " + *path);
    return {};
}

}  // namespace

const CommandSpec kTuneCommand{
    .name = "tune",
    .operands = "",
    .summary = "choose fusion, weights and BM25 on judged queries",
    .details = R"(Tries rrf (k 60 and 10) and weighted_sum with dense weights from 0.1 to 0.9, 50
and 200 candidates from each leg, dbsf, auto, and each leg alone; for words
several k1 and b of BM25 and weights of the text fields, alone and fused. The
choice is measured by cross-validation: each fold of the queries is searched
with the setting that is best on the others. The result is a profile, if one is
clearly better than the current setting, and, if it fuses, clearly better than
the better leg alone; --write puts it into a config.json. Times are those of the
search without embedding the query.

  braid tune --collection wiki --queries q.jsonl --qrels qrels.tsv
  braid tune --queries q.tsv --qrels q.txt --measure R@100 --folds 10
  braid tune --collection wiki --clicks clicks.jsonl)",
    .flags = kTuneFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to search now",
    .run = run_tune,
};

}  // namespace braid::cli
