#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "braid/cli/commands/learning.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/query_file.hpp"
#include "braid/cli/commands/request_flags.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/output_file.hpp"
#include "braid/cli/view/table.hpp"
#include "braid/core/clock.hpp"
#include "braid/core/numbers.hpp"
#include "braid/core/rfc3339.hpp"
#include "braid/engine/embedder_settings.hpp"
#include "braid/eval/learn.hpp"
#include "braid/eval/rank_page.hpp"
#include "braid/eval/table.hpp"
#include "braid/rank/lightgbm_model.hpp"
#include "braid/rank/model_json.hpp"
#include "braid/service/service.hpp"

namespace braid::cli {
namespace {

constexpr auto kTrainFlags = std::to_array<FlagSpec>({
    kQueriesFlag,
    kQueryVectorsFlag,
    kJudgementsFlag,
    kClicksFlag,
    kClickBiasFlag,
    kCandidatesFlag,
    kMeasureFlag,
    kFoldsFlag,
    kFoldSeedFlag,
    {.name = "dry-run", .kind = FlagKind::Switch, .help = "measure only; store nothing"},
});

constexpr auto kShowFlags = std::to_array<FlagSpec>({
    kCollectionFlag,
    {.name = "html",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "write a page with plots of partial dependence"},
});

constexpr auto kDropFlags = std::to_array<FlagSpec>({kCollectionFlag});

/// None if it was not fetched: weights need no library.
Result<std::optional<rank::Lightgbm>> load_lightgbm(const Session& session) {
    const std::string named = session.settings.text("lightgbm");
    if (!named.empty()) return rank::Lightgbm::load(named);
    const auto library = engine::find_lightgbm();
    if (!library) return std::nullopt;
    return rank::Lightgbm::load(*library);
}

/// How many features have a weight, besides the fused score.
std::size_t weights_in(const rank::Model& model) {
    return rank::kFeatures - static_cast<std::size_t>(std::ranges::count(model.linear(), 0.0));
}

/// What the model's file says about itself.
Object made_of(const eval::LearnOutcome& outcome, const eval::LearnOptions& options,
               const std::vector<eval::FeatureList>& lists, const std::string& embedder,
               bool from_clicks) {
    const eval::ComparedRun& learned = outcome.held_out.runs.back();
    const eval::Difference& gain = learned.differences.front();
    Object made{{"at", Value(core::print_rfc3339(core::system_now()))},
                {"embedder", Value(embedder)},
                {"from", Value(from_clicks ? "clicks" : "judgements")},
                {"queries", lists.size()},
                {"weights", weights_in(outcome.model)},
                {"trees", outcome.model.trees().size()},
                {"measure", Value(eval::name_of(options.measure))},
                {"fused", outcome.held_out.runs.front().evaluation.means.front()},
                {"learned", learned.evaluation.means.front()},
                {"gain", Value(Array{gain.interval.low, gain.mean, gain.interval.high})}};
    for (auto& [key, value] : eval::describe_model(outcome.model, lists)) made.set(key, value);
    return made;
}

void show_outcome(Session& session, const eval::LearnOutcome& outcome, bool from_clicks) {
    session.out.line("On queries held out from training (" + std::to_string(outcome.chosen.size()) +
                     " folds):");
    session.out.line();
    session.out.text(eval::to_table(outcome.held_out, {.color = session.out.style().colored()}));
    session.out.line();
    if (from_clicks) {
        session.out.line(
            "The judgements come from clicks, weighted by rank. What was never shown counts\nas "
            "irrelevant: the true gain may be larger or smaller.");
    }
}

Result<> run_train(Session& session) {
    const Arguments& arguments = session.arguments;
    BRAID_TRY(eval::LearnOptions options, folding_options<eval::LearnOptions>(arguments));
    BRAID_TRY(Request request, candidates_request(session));
    BRAID_TRY(const std::size_t candidates, candidates_flag(arguments));
    BRAID_TRY(const Judged judged, read_judged(session));
    BRAID_TRY(const auto lightgbm, load_lightgbm(session));
    if (!lightgbm) {
        session.note(
            "LightGBM's library was not found (tools/fetch_lightgbm): weights are tried, "
            "trees are not.");
    }
    options.ways = eval::usual_ways(lightgbm.has_value());
    const bool stores = !arguments.has("dry-run");
    BRAID_TRY(const auto service,
              stores ? session.service_for_writing(false) : session.service_for_reading());
    session.name_collection(*service, request);
    BRAID_TRY(const std::string collection, session.collection_to_read(*service));
    BRAID_TRY(const Schema schema, service->schema(collection));
    BRAID_TRY(auto lists, collect(session, *service, request, candidates, judged.file));
    lists = eval::judged_lists(std::move(lists), judged.qrels);
    const auto learner = [&](const rank::TrainingData& data,
                             const rank::TrainingOptions& way) -> Result<std::vector<rank::Tree>> {
        if (data.rows.empty()) return std::vector<rank::Tree>{};
        BRAID_TRY(const std::string text, lightgbm->train(data, way));
        return rank::read_lightgbm(text);
    };
    BRAID_TRY(const auto outcome, eval::learn(lists, judged.qrels, options, learner));
    const bool better = eval::clearly_better(outcome.held_out);
    Object made = made_of(outcome, options, lists, schema.vectors.embedder, judged.from_clicks);
    if (better && stores) {
        BRAID_TRY(const rank::Model model, rank::Model::create({.prior = outcome.model.prior(),
                                                                .linear = outcome.model.linear(),
                                                                .trees = outcome.model.trees(),
                                                                .made = made}));
        BRAID_CHECK(service->run(service::SetRankerRequest{collection, rank::write_model(model)}));
    }
    if (session.json()) {
        session.out.json(Object{{"collection", Value(collection)},
                                {"clearly_better", better},
                                {"stored", better && stores},
                                {"held_out", eval::to_value(outcome.held_out)},
                                {"made", Value(std::move(made))}});
    } else {
        show_outcome(session, outcome, judged.from_clicks);
    }
    if (!better) {
        return fail(ErrorCode::Conflict,
                    "nothing was stored: the learned ranking is not clearly better than the fused "
                    "one (the interval of the difference includes 0); judge more queries");
    }
    if (session.json()) return {};
    if (!stores) {
        session.out.line("Clearly better; nothing was stored (--dry-run).");
        return {};
    }
    session.out.line("Stored in collection \"" + collection + "\". To use it:");
    session.out.line("  braid retrieve QUERY --fusion auto --stages '[\"rank\"]'");
    return {};
}

Result<service::RankerReport> stored_ranker(const Session& session) {
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(std::string collection, session.collection_to_read(*service));
    BRAID_TRY(auto found, service->run(service::RankerRequest{std::move(collection)}));
    if (found.model.empty()) {
        return fail(ErrorCode::NotFound, "collection \"" + found.collection +
                                             "\" has no learned ranking; \"braid rank train\" "
                                             "makes one");
    }
    return found;
}

std::string number_in(const Object& made, std::string_view key, int decimals) {
    const Value* const value = made.find(key);
    if (value == nullptr || !value->is_number()) return "?";
    return core::fixed(value->as_double(), decimals);
}

std::string summary_of(const Object& made) {
    std::string out =
        "Learnt from " + std::string(made.find("from") != nullptr && made.find("from")->is_string()
                                         ? made.find("from")->as_string()
                                         : "?");
    out += " of " + number_in(made, "queries", 0) + " queries: ";
    if (made.find("weights") != nullptr) out += number_in(made, "weights", 0) + " weights, ";
    out += number_in(made, "trees", 0) +
           " trees. On held-out queries: " + number_in(made, "learned", 4) + ", fused alone " +
           number_in(made, "fused", 4) + ".";
    return out;
}

Result<> run_show(Session& session) {
    BRAID_TRY(const service::RankerReport stored, stored_ranker(session));
    const std::string& collection = stored.collection;
    BRAID_TRY(const rank::Model model, rank::read_model(stored.model));
    const Object& made = model.made();
    const std::vector<eval::FeatureEffect> effects = eval::effects_in(made);
    if (const auto path = session.arguments.text("html")) {
        BRAID_CHECK(write_output(
            *path, eval::rank_page("Learned ranking of " + collection, summary_of(made), effects)));
    }
    if (session.json()) {
        session.out.json(Object{{"collection", Value(collection)},
                                {"prior", model.prior()},
                                {"weights", weights_in(model)},
                                {"trees", model.trees().size()},
                                {"made", Value(made)}});
        return {};
    }
    session.out.line(summary_of(made));
    session.out.line();
    Table table({{.name = "feature", .whole = true},
                 {.name = "importance", .right = true},
                 {.name = "score, from its lowest value to its highest"}});
    for (const eval::FeatureEffect& effect : effects) {
        table.add({effect.name, core::fixed(effect.importance, 4), eval::sparkline(effect)});
    }
    table.print(session.out);
    session.out.line();
    session.out.line("The fused score itself, from 0 to 1 among the candidates, counts " +
                     core::fixed(model.prior(), 1) + " times.");
    return {};
}

Result<> run_rank_drop(Session& session) {
    BRAID_TRY(const auto service, session.service_for_writing(false));
    BRAID_TRY(const std::string collection, session.collection_to_read(*service));
    BRAID_CHECK(service->run(service::SetRankerRequest{collection, {}}));
    if (session.json()) {
        session.out.json(Object{{"collection", Value(collection)}, {"stored", false}});
    } else {
        session.out.line("Collection \"" + collection + "\" no longer has a learned ranking.");
    }
    return {};
}

}  // namespace

const CommandSpec kRankTrainCommand{
    .name = "rank train",
    .operands = "",
    .summary = "learn a ranking from judgements or clicks",
    .details = R"(Weights of the features of "braid features", trees over them (LambdaMART), or
both: they correct the fused score, and never rank a chunk lower because a leg
scores it higher. What to expect is measured by nested cross-validation, by
query. Stored with the collection if it is clearly better than the fused
ranking; the stage "rank" uses it. Trees need LightGBM's library
(tools/fetch_lightgbm, or BRAID_LIGHTGBM); weights need none.

  braid rank train --collection wiki --queries q.jsonl --qrels qrels.tsv
  braid rank train --collection wiki --clicks clicks.jsonl

A line of clicks:
  {"query": "...", "shown": [document ids], "clicked": [some of them]}
A click at rank r counts r times (--click-bias): fewer people look there.)",
    .flags = kTrainFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to find the candidates",
    .run = run_train,
};

const CommandSpec kRankShowCommand{
    .name = "rank show",
    .operands = "",
    .summary = "show what a learned ranking looks at",
    .details = R"(Each feature's mean part in a score, and how the score moves with it.

  braid rank show --collection wiki --html ranking.html)",
    .flags = kShowFlags,
    .run = run_show,
};

const CommandSpec kRankDropCommand{
    .name = "rank drop",
    .operands = "",
    .summary = "delete a collection's learned ranking",
    .details = "",
    .flags = kDropFlags,
    .run = run_rank_drop,
};

}  // namespace braid::cli
