#include "braid/cli/commands/learning.hpp"

#include <charconv>
#include <unordered_set>
#include <utility>

#include "braid/cli/commands/request_flags.hpp"
#include "braid/core/numbers.hpp"
#include "braid/eval/clicks.hpp"

namespace braid::cli {
namespace {

Result<double> click_bias(const Arguments& arguments) {
    const std::string text = arguments.text_or("click-bias", "1");
    double bias = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bias);
    if (error != std::errc() || end != text.data() + text.size() || !(bias >= 0 && bias <= 3)) {
        return invalid_argument("--click-bias must be a number from 0 to 3, got \"" + text + "\"");
    }
    return bias;
}

/// Without the queries that nobody judged.
QueryFile judged_only(QueryFile file, const eval::Qrels& qrels) {
    std::unordered_set<std::string_view> judged;
    for (const eval::JudgedQuery& query : qrels.queries) judged.insert(query.query);
    QueryFile out;
    for (std::size_t i = 0; i < file.queries.size(); ++i) {
        if (!judged.contains(file.queries[i].id)) continue;
        out.queries.push_back(std::move(file.queries[i]));
        if (!file.vectors.empty()) out.vectors.push_back(std::move(file.vectors[i]));
    }
    return out;
}

/// Without the judgements of queries that the file lacks: nobody can search for those. Returns of
/// how many.
std::size_t drop_unknown(eval::Qrels& qrels, const QueryFile& file) {
    std::unordered_set<std::string_view> known;
    for (const eval::Query& query : file.queries) known.insert(query.id);
    return std::erase_if(qrels.queries,
                         [&](const eval::JudgedQuery& one) { return !known.contains(one.query); });
}

}  // namespace

Result<Folding> read_folding(const Arguments& arguments) {
    Folding out;
    BRAID_TRY(out.measure, eval::parse_measure(arguments.text_or("measure", "nDCG@10")));
    BRAID_TRY(const auto folds, arguments.integer("folds", 2, 1000));
    if (folds) out.folds = static_cast<std::size_t>(*folds);
    BRAID_TRY(const auto seed, arguments.integer("seed", 0, INT64_MAX));
    if (seed) out.seed = static_cast<std::uint64_t>(*seed);
    return out;
}

Result<Judged> read_judged(const Session& session) {
    const Arguments& arguments = session.arguments;
    const auto clicks = arguments.text("clicks");
    const auto qrels = arguments.text("qrels");
    Judged out;
    if (clicks) {
        if (qrels || arguments.has("queries") || arguments.has("query-vectors")) {
            return invalid_argument(
                "--clicks replaces --queries, --query-vectors and --qrels: leave those out");
        }
        BRAID_TRY(const double bias, click_bias(arguments));
        BRAID_TRY(const auto impressions, eval::read_clicks(*clicks));
        eval::ClickJudgements judgements = eval::judgements_of(impressions, bias);
        out.from_clicks = true;
        out.qrels = std::move(judgements.qrels);
        out.file.queries = std::move(judgements.queries);
    } else {
        if (!qrels)
            return invalid_argument("judgements are needed: --qrels FILE, or --clicks FILE");
        BRAID_TRY(out.file, read_query_file(arguments));
        if (out.file.queries.empty()) {
            return invalid_argument(arguments.text_or("queries", "") + " holds no query");
        }
        BRAID_TRY(out.qrels, eval::read_qrels(*qrels));
    }
    out.file = judged_only(std::move(out.file), out.qrels);
    if (out.file.queries.empty()) {
        return invalid_argument(qrels.value_or(clicks.value_or("")) +
                                " judges none of the queries");
    }
    const std::size_t unknown = drop_unknown(out.qrels, out.file);
    if (unknown > 0) {
        session.warn(core::count_of(unknown, "judged query is", "judged queries are") + " not in " +
                     arguments.text_or("queries", "") + " and left out");
    }
    return out;
}

Result<Request> candidates_request(const Session& session) {
    BRAID_TRY(Request request, flags_request(session, "-"));
    const bool fuses = !request.strategy || *request.strategy == Strategy::Hybrid;
    if (fuses && !request.fusion.method && !request.fusion.preset && request.weights.empty() &&
        !request.dense_weight) {
        request.fusion.method = FusionMethod::Auto;
    }
    return request;
}

Result<std::size_t> candidates_flag(const Arguments& arguments) {
    BRAID_TRY(const auto given, arguments.integer("candidates", 2, 1000));
    return given ? static_cast<std::size_t>(*given) : std::size_t{100};
}

Result<std::vector<eval::FeatureList>> collect(const Session& session,
                                               const service::Service& service,
                                               const Request& request, std::size_t candidates,
                                               const QueryFile& file) {
    eval::RunRequest run;
    run.request = request;
    run.documents = candidates;
    run.vectors = file.vectors;
    const bool bar = session.out.notes_on_terminal() && !session.quiet();
    run.progress = [&](std::size_t done) {
        if (!bar) return;
        session.out.status(core::grouped(done) + " of " + core::grouped(file.queries.size()) +
                           " queries");
    };
    auto lists = eval::collect_features(file.queries, run, [&](std::span<const Request> requests) {
        return service.retrieve_batch(requests);
    });
    session.out.status({});
    return lists;
}

}  // namespace braid::cli
