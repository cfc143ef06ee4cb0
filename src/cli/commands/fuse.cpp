#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/eval/fuse_runs.hpp"
#include "braid/eval/trec.hpp"
#include "braid/fusion/presets.hpp"

namespace braid::cli {
namespace {

constexpr auto kFuseFlags = std::to_array<FlagSpec>({
    {.name = "method",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "rrf (default), weighted_sum or dbsf",
     .choices = "rrf|weighted_sum|dbsf"},
    {.name = "k", .kind = FlagKind::Number, .value = "N", .help = "k of rrf (default: 60)"},
    {.name = "rank-base",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "rrf: rank of the first hit, 0 or 1 (default: 1)"},
    {.name = "weights",
     .kind = FlagKind::Text,
     .value = "A,B",
     .help = "one for each run (default: 1)"},
    {.name = "preset",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "another system's formula: qdrant, elastic, langchain, ..."},
    {.name = "top-k",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "documents per query (default: all)",
     .letter = 'k'},
    {.name = "name", .kind = FlagKind::Text, .value = "TAG", .help = "the run's name"},
});

Result<std::vector<double>> weights_of(const Arguments& arguments, std::size_t runs) {
    std::vector<double> weights;
    const auto text = arguments.text("weights");
    if (!text) return weights;
    std::string_view rest = *text;
    while (true) {
        const std::string_view word = rest.substr(0, rest.find(','));
        double weight = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), weight);
        if (error != std::errc{} || end != word.data() + word.size()) {
            return invalid_argument("--weights: \"" + std::string(word) + "\" is not a number");
        }
        weights.push_back(weight);
        if (word.size() == rest.size()) break;
        rest.remove_prefix(word.size() + 1);
    }
    if (weights.size() != runs) {
        return invalid_argument("--weights: " + std::to_string(weights.size()) + " given for " +
                                std::to_string(runs) + " runs");
    }
    return weights;
}

Result<fusion::Options> fusion_options(const Arguments& arguments, bool weighted) {
    const std::string name = arguments.text_or("method", "rrf");
    const auto method = fusion_by_name(name);
    if (!method) return invalid_argument("--method: unknown \"" + name + "\"");
    fusion::Options options;
    options.method = *method;
    if (const auto preset = arguments.text("preset")) {
        BRAID_TRY(options, fusion::preset_options(*preset, *method));
    }
    const bool rrf = options.method == FusionMethod::Rrf;
    for (const std::string_view flag : {"k", "rank-base"}) {
        if (!rrf && arguments.has(flag)) {
            return invalid_argument("--" + std::string(flag) +
                                    " cannot be used with the method \"" + name + "\"");
        }
    }
    if (weighted && !fusion::uses_weights(options)) {
        const std::string preset(fusion::name_of(options.preset));
        return invalid_argument("--weights cannot be used with the method \"" + name + "\"" +
                                (preset.empty() ? "" : " of " + preset));
    }
    BRAID_TRY(const Value k, arguments.value(kFuseFlags[1]));
    if (k.is_number()) options.k = k.as_double();
    BRAID_TRY(const auto base, arguments.integer("rank-base", 0, 1));
    if (base) options.rank_base = static_cast<int>(*base);
    return options;
}

Result<> run_fuse(Session& session) {
    const Arguments& arguments = session.arguments;
    BRAID_TRY(const auto weights, weights_of(arguments, arguments.operands.size()));
    BRAID_TRY(const fusion::Options options, fusion_options(arguments, !weights.empty()));
    BRAID_TRY(const auto top_k, arguments.integer("top-k", 1, 1'000'000));
    std::vector<eval::Run> runs;
    runs.reserve(arguments.operands.size());
    for (const std::string& path : arguments.operands) {
        BRAID_TRY(eval::Run run, eval::read_run(path));
        runs.push_back(std::move(run));
    }
    BRAID_TRY(eval::Run fused, eval::fuse_runs(runs, weights, options));
    fused.name = arguments.text_or("name", arguments.text_or("method", "rrf"));
    if (top_k) {
        for (eval::RankedList& list : fused.lists) {
            list.hits.resize(std::min(list.hits.size(), static_cast<std::size_t>(*top_k)));
        }
    }
    BRAID_TRY(const std::string text, eval::write_run(fused, eval::ScoreGap::None));
    if (session.json()) {
        session.out.json(Object{
            {"run", Value(fused.name)}, {"queries", fused.lists.size()}, {"trec", Value(text)}});
    } else {
        session.out.text(text);
    }
    return {};
}

}  // namespace

const CommandSpec kFuseCommand{
    .name = "fuse",
    .operands = "RUN...",
    .min_operands = 1,
    .max_operands = 100,
    .summary = "fuse TREC runs with the engine's own formulas",
    .details = R"(Orders each run's hits by score, then by smaller document id; the position is
the rank. Writes the fused run to standard output, scores with all their digits.

  braid fuse --method rrf dense.trec sparse.trec > hybrid.trec
  braid fuse --method weighted_sum --weights 0.7,0.3 dense.trec sparse.trec)",
    .flags = kFuseFlags,
    .run = run_fuse,
};

}  // namespace braid::cli
