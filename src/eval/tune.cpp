#include "braid/eval/tune.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace braid::eval {
namespace {

/// The run with the greatest sum over the queries outside the fold.
std::size_t best_without(std::size_t fold, const std::vector<std::vector<double>>& values,
                         const std::vector<std::size_t>& fold_of) {
    std::size_t best = 0;
    double best_sum = -1;
    for (std::size_t run = 0; run < values.size(); ++run) {
        double sum = 0;
        for (std::size_t q = 0; q < fold_of.size(); ++q) {
            if (fold_of[q] != fold) sum += values[run][q];
        }
        if (sum > best_sum) {
            best = run;
            best_sum = sum;
        }
    }
    return best;
}

}  // namespace

std::vector<std::size_t> deal(std::size_t queries, std::size_t folds, std::uint64_t seed) {
    std::vector<std::size_t> order(queries);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 rng(seed);
    for (std::size_t i = queries; i > 1; --i) std::swap(order[i - 1], order[rng() % i]);
    std::vector<std::size_t> fold_of(queries);
    for (std::size_t i = 0; i < queries; ++i) fold_of[order[i]] = i % folds;
    return fold_of;
}

Result<TuneOutcome> tune(const Qrels& qrels, std::span<const Run> runs,
                         const TuneOptions& options) {
    const std::size_t queries = qrels.queries.size();
    if (options.folds < 2 || options.folds > queries) {
        return invalid_argument(
            "the number of folds must be from 2 to the number of judged queries, " +
            std::to_string(queries));
    }
    if (runs.empty()) return invalid_argument("there is no run to choose from");
    TuneOutcome outcome;
    std::vector<std::vector<double>> values;  // [run][query]
    values.reserve(runs.size());
    for (const Run& run : runs) {
        Evaluation evaluation = evaluate(qrels, run, {&options.measure, 1});
        outcome.means.push_back(evaluation.means.front());
        values.push_back(std::move(evaluation.values.front()));
    }
    const auto fold_of = deal(queries, options.folds, options.compare.seed);
    outcome.best = best_without(options.folds, values, fold_of);  // of no fold: over all queries
    for (std::size_t fold = 0; fold < options.folds; ++fold) {
        outcome.chosen.push_back(best_without(fold, values, fold_of));
    }
    Run tuned{.name = "tuned", .lists = {}};
    std::vector<std::unordered_map<std::string_view, const RankedList*>> lists(runs.size());
    for (std::size_t q = 0; q < queries; ++q) {
        const std::size_t run = outcome.chosen[fold_of[q]];
        if (lists[run].empty()) lists[run] = lists_by_query(runs[run]);
        const auto found = lists[run].find(qrels.queries[q].query);
        if (found != lists[run].end()) tuned.lists.push_back(*found->second);
    }
    const std::vector<Run> pair{runs.front(), std::move(tuned)};
    BRAID_TRY(outcome.held_out, compare(qrels, pair, {&options.measure, 1}, options.compare));
    return outcome;
}

}  // namespace braid::eval
