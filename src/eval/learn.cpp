#include "braid/eval/learn.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_set>
#include <utility>

#include "braid/eval/tune.hpp"

namespace braid::eval {
namespace {

/// Numbers of trees to choose from.
constexpr std::array<std::size_t, 8> kSteps{0, 10, 20, 40, 70, 100, 150, 200};
/// Queries that trees need at least: of fewer they learn by heart.
constexpr std::size_t kFewestForTrees = 30;
constexpr int kHighestGrade = 30;
constexpr std::size_t kPoints = 16;          // of a curve of partial dependence
constexpr std::size_t kDescribedRows = 400;  // rows that it is averaged over

std::vector<FeatureList> lists_where(std::span<const FeatureList> lists, auto&& wanted) {
    std::vector<FeatureList> out;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        if (wanted(i)) out.push_back(lists[i]);
    }
    return out;
}

Qrels judgements_for(std::span<const FeatureList> lists, const Qrels& qrels) {
    std::unordered_set<std::string_view> wanted;
    for (const FeatureList& list : lists) wanted.insert(list.query);
    Qrels out;
    for (const JudgedQuery& query : qrels.queries) {
        if (wanted.contains(query.query)) out.queries.push_back(query);
    }
    return out;
}

Result<rank::Model> model_of(const rank::Weights& weights, std::vector<rank::Tree> trees,
                             std::size_t count) {
    trees.resize(std::min(count, trees.size()));
    return rank::Model::create(
        {.prior = weights.prior, .linear = weights.linear, .trees = std::move(trees), .made = {}});
}

/// Where the trees of a way start, and all there is where it has none.
Result<rank::Weights> weights_of(const LearnWay& way, const rank::TrainingData& data) {
    if (!way.weights || data.rows.empty()) return rank::Weights{way.trees.prior, {}};
    return rank::learn_weights(data, *way.weights);
}

bool grows_trees(const LearnWay& way, const rank::TrainingData& data) {
    return way.trees.trees > 0 && data.queries.size() >= kFewestForTrees;
}

Result<std::vector<rank::Tree>> trees_of(const LearnWay& way, const rank::Weights& weights,
                                         const rank::TrainingData& data, const Learner& learner) {
    if (!grows_trees(way, data)) return std::vector<rank::Tree>{};
    rank::TrainingOptions options = way.trees;
    options.prior = weights.prior;
    options.linear = weights.linear;
    return learner(data, options);
}

bool any_relevant(std::span<const FeatureList> lists) {
    return std::ranges::any_of(lists, [](const FeatureList& list) {
        return std::ranges::any_of(list.rows,
                                   [](const FeatureRow& row) { return row.relevance > 0; });
    });
}

/// How to learn, found on these lists alone.
class Chooser {
public:
    Chooser(const Qrels& qrels, const LearnOptions& options, const Learner& learner)
        : qrels_(qrels), options_(options), learner_(learner) {}

    Result<LearnChoice> choose(std::span<const FeatureList> lists) const {
        const std::size_t folds = std::min(options_.inner_folds, lists.size());
        if (folds < 2) return LearnChoice{};
        const auto fold_of = deal(lists.size(), folds, options_.compare.seed + 1);
        // [way][step]: the sum over queries that the models had not seen.
        std::vector<std::array<double, kSteps.size()>> sums(options_.ways.size());
        for (std::size_t fold = 0; fold < folds; ++fold) {
            const auto seen = lists_where(lists, [&](std::size_t i) { return fold_of[i] != fold; });
            const auto unseen =
                lists_where(lists, [&](std::size_t i) { return fold_of[i] == fold; });
            if (!any_relevant(seen)) continue;
            const Qrels qrels = judgements_for(unseen, qrels_);
            for (std::size_t way = 0; way < options_.ways.size(); ++way) {
                BRAID_CHECK(add(seen, unseen, qrels, options_.ways[way], sums[way]));
            }
        }
        LearnChoice best;
        double most = sums.front().front();
        for (std::size_t way = 0; way < sums.size(); ++way) {
            for (std::size_t step = 0; step < kSteps.size(); ++step) {
                if (sums[way][step] <= most) continue;
                most = sums[way][step];
                best = {way, kSteps[step]};
            }
        }
        return best;
    }

private:
    Result<> add(std::span<const FeatureList> seen, std::span<const FeatureList> unseen,
                 const Qrels& qrels, const LearnWay& way,
                 std::array<double, kSteps.size()>& sums) const {
        const rank::TrainingData data = training_data(seen);
        BRAID_TRY(const rank::Weights weights, weights_of(way, data));
        BRAID_TRY(const auto trees, trees_of(way, weights, data, learner_));
        const std::size_t steps = grows_trees(way, data) ? kSteps.size() : 1;
        for (std::size_t step = 0; step < steps; ++step) {
            BRAID_TRY(const rank::Model model, model_of(weights, trees, kSteps[step]));
            const Run run = ranked_run(unseen, &model, "learned");
            const Evaluation found = evaluate(qrels, run, {&options_.measure, 1});
            for (const double value : found.values.front()) sums[step] += value;
        }
        return {};
    }

    const Qrels& qrels_;
    const LearnOptions& options_;
    const Learner& learner_;
};

Result<rank::Model> learn_by(std::span<const FeatureList> lists, const LearnChoice& choice,
                             const LearnOptions& options, const Learner& learner) {
    LearnWay way = options.ways[choice.way];
    way.trees.trees = static_cast<int>(choice.trees);
    const rank::TrainingData data = training_data(lists);
    BRAID_TRY(const rank::Weights weights, weights_of(way, data));
    BRAID_TRY(auto trees, trees_of(way, weights, data, learner));
    return model_of(weights, std::move(trees), choice.trees);
}

}  // namespace

std::vector<LearnWay> usual_ways(bool with_trees) {
    LearnWay careful;
    careful.trees.trees = with_trees ? static_cast<int>(kSteps.back()) : 0;
    careful.trees.leaves = 6;
    careful.trees.learning_rate = 0.05;
    careful.trees.prior = 10;
    std::vector<LearnWay> ways{careful};
    for (const double l2 : {0.3, 0.1, 0.03, 0.01, 0.003}) {
        LearnWay& way = ways.emplace_back();
        way.weights = {.prior = careful.trees.prior, .l2 = l2};
        way.trees.trees = 0;
    }
    if (!with_trees) return ways;
    LearnWay bold = careful;
    bold.trees.leaves = 12;
    bold.trees.prior = 4;
    LearnWay corrected = careful;
    corrected.weights = {.prior = careful.trees.prior, .l2 = 0.03};
    ways.insert(ways.end(), {bold, corrected});
    return ways;
}

rank::TrainingData training_data(std::span<const FeatureList> lists) {
    rank::TrainingData data;
    bool weighted = false;
    for (const FeatureList& list : lists) {
        // A query without a relevant candidate, or with nothing else, teaches nothing.
        const auto relevant = std::ranges::count_if(
            list.rows, [](const FeatureRow& row) { return row.relevance > 0; });
        if (relevant == 0 || static_cast<std::size_t>(relevant) == list.rows.size()) continue;
        data.queries.push_back(static_cast<std::int32_t>(list.rows.size()));
        for (const FeatureRow& row : list.rows) {
            data.rows.push_back(row.features);
            data.grades.push_back(std::clamp(row.relevance, 0, kHighestGrade));
            data.weights.push_back(row.weight);
            weighted = weighted || row.weight != 1;
        }
    }
    if (!weighted) data.weights.clear();
    return data;
}

Run ranked_run(std::span<const FeatureList> lists, const rank::Model* model, std::string name) {
    Run run{std::move(name), {}};
    std::vector<rank::Vector> vectors;
    for (const FeatureList& list : lists) {
        vectors.clear();
        for (const FeatureRow& row : list.rows) vectors.push_back(row.features);
        std::vector<std::size_t> order(list.rows.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (model != nullptr) {
            const std::vector<double> scores = model->scores(vectors);
            std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
                if (scores[a] != scores[b]) return scores[a] > scores[b];
                return list.rows[a].chunk < list.rows[b].chunk;
            });
        }
        RankedList& ranked = run.lists.emplace_back();
        ranked.query = list.query;
        std::unordered_set<std::string_view> seen;
        for (const std::size_t i : order) {
            if (!seen.insert(list.rows[i].document).second) continue;
            // Places instead of scores: measures round scores, and must not change the order.
            ranked.hits.push_back(
                {list.rows[i].document, -static_cast<double>(ranked.hits.size())});
        }
    }
    return run;
}

Result<LearnOutcome> learn(std::span<const FeatureList> lists, const Qrels& qrels,
                           const LearnOptions& options, const Learner& learner) {
    if (options.folds < 2 || options.folds > lists.size()) {
        return invalid_argument(
            "the number of folds must be from 2 to the number of judged queries, " +
            std::to_string(lists.size()));
    }
    if (options.ways.empty()) return invalid_argument("no way of learning was given");
    if (!any_relevant(lists)) {
        return invalid_argument(
            "no relevant document is among the candidates: there is nothing to learn");
    }
    const Chooser chooser(qrels, options, learner);
    const auto fold_of = deal(lists.size(), options.folds, options.compare.seed);
    Run learned{"learned", {}};
    std::vector<LearnChoice> chosen;
    for (std::size_t fold = 0; fold < options.folds; ++fold) {
        const auto seen = lists_where(lists, [&](std::size_t i) { return fold_of[i] != fold; });
        const auto unseen = lists_where(lists, [&](std::size_t i) { return fold_of[i] == fold; });
        LearnChoice choice;
        if (any_relevant(seen)) {
            BRAID_TRY(choice, chooser.choose(seen));
        }
        BRAID_TRY(const rank::Model model, learn_by(seen, choice, options, learner));
        chosen.push_back(choice);
        std::ranges::move(ranked_run(unseen, &model, "learned").lists,
                          std::back_inserter(learned.lists));
    }
    // Judged queries without candidates count as 0 on both sides.
    const std::array<Run, 2> runs{ranked_run(lists, nullptr, "fused"), std::move(learned)};
    BRAID_TRY(Comparison held_out, compare(qrels, runs, {&options.measure, 1}, options.compare));
    BRAID_TRY(const LearnChoice last, chooser.choose(lists));
    BRAID_TRY(rank::Model model, learn_by(lists, last, options, learner));
    return LearnOutcome{std::move(held_out), std::move(chosen), last, std::move(model)};
}

Object describe_model(const rank::Model& model, std::span<const FeatureList> lists) {
    std::vector<rank::Vector> rows;
    for (const FeatureList& list : lists) {
        for (const FeatureRow& row : list.rows) rows.push_back(row.features);
    }
    rank::Vector mean{};
    rank::Vector importance{};
    for (const rank::Vector& row : rows) {
        const rank::Contributions parts = model.contributions(row);
        for (std::size_t f = 0; f < rank::kFeatures; ++f) {
            mean[f] += parts.features[f] / static_cast<double>(rows.size());
        }
    }
    for (const rank::Vector& row : rows) {
        const rank::Contributions parts = model.contributions(row);
        for (std::size_t f = 0; f < rank::kFeatures; ++f) {
            importance[f] +=
                std::abs(parts.features[f] - mean[f]) / static_cast<double>(rows.size());
        }
    }
    std::vector<std::size_t> order(rank::kFeatures);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t f) { return importance[f]; });
    std::vector<rank::Vector> sample;
    const std::size_t every = std::max<std::size_t>(1, rows.size() / kDescribedRows);
    for (std::size_t i = 0; i < rows.size(); i += every) sample.push_back(rows[i]);
    Object shares;
    Object dependence;
    for (const std::size_t f : order) {
        if (importance[f] == 0) continue;
        shares.set(rank::features()[f].name, importance[f]);
        std::vector<double> values;
        for (const rank::Vector& row : rows) values.push_back(row[f]);
        std::ranges::sort(values);
        Array curve;
        std::optional<double> before;
        for (std::size_t point = 0; point < kPoints; ++point) {
            const double value = values[point * (values.size() - 1) / (kPoints - 1)];
            if (before == value) continue;
            before = value;
            std::vector<rank::Vector> moved = sample;
            for (rank::Vector& row : moved) row[f] = value;
            double sum = 0;
            for (const double score : model.scores(moved)) sum += score;
            curve.emplace_back(Array{value, sum / static_cast<double>(moved.size())});
        }
        dependence.set(rank::features()[f].name, Value(std::move(curve)));
    }
    return {{"importance", Value(std::move(shares))}, {"dependence", Value(std::move(dependence))}};
}

}  // namespace braid::eval
