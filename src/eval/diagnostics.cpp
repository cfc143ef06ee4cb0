#include "braid/eval/diagnostics.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "braid/eval/measures.hpp"

namespace braid::eval {
namespace {

/// Scores of relevant and of other hits, each rising.
struct Scores {
    std::vector<double> relevant;
    std::vector<double> other;
};

Scores scores_of(const Qrels& qrels, const Run& run) {
    Scores scores;
    const auto lists = lists_by_query(run);
    for (const JudgedQuery& judged : qrels.queries) {
        const auto list = lists.find(judged.query);
        if (list == lists.end()) continue;
        for (const ScoredDocument& hit : list->second->hits) {
            const bool relevant = relevance_in(judged, hit.document) >= 1;
            (relevant ? scores.relevant : scores.other).push_back(hit.score);
        }
    }
    std::sort(scores.relevant.begin(), scores.relevant.end());
    std::sort(scores.other.begin(), scores.other.end());
    return scores;
}

/// Mann and Whitney's statistic as a share of all pairs.
double separation(const Scores& scores) {
    if (scores.relevant.empty() || scores.other.empty()) return 0.5;
    double above = 0.0;
    for (const double score : scores.relevant) {
        const auto [first, last] =
            std::equal_range(scores.other.begin(), scores.other.end(), score);
        above += static_cast<double>(first - scores.other.begin());
        above += 0.5 * static_cast<double>(last - first);
    }
    return above / static_cast<double>(scores.relevant.size()) /
           static_cast<double>(scores.other.size());
}

std::vector<double> shares(const std::vector<double>& scores, double low, double high,
                           std::size_t bins) {
    std::vector<double> share(bins);
    for (const double score : scores) {
        // Halves first: high - low may be beyond the largest double.
        const double place = high > low ? (score / 2 - low / 2) / (high / 2 - low / 2) : 0.0;
        const auto bin = static_cast<std::size_t>(place * static_cast<double>(bins));
        share[std::min(bin, bins - 1)] += 1.0 / static_cast<double>(scores.size());
    }
    return share;
}

}  // namespace

std::vector<double> recall_curve(const Qrels& qrels, const Run& run, std::size_t depth) {
    std::vector<double> curve(depth);
    const auto lists = lists_by_query(run);
    for (const JudgedQuery& judged : qrels.queries) {
        const auto list = lists.find(judged.query);
        const auto relevant =
            std::count_if(judged.judgements.begin(), judged.judgements.end(),
                          [](const Judgement& judgement) { return judgement.relevance >= 1; });
        if (list == lists.end() || relevant == 0) continue;
        const std::vector<std::int32_t> ranked = ranked_relevances(judged, *list->second);
        std::size_t found = 0;
        for (std::size_t i = 0; i < depth; ++i) {
            if (i < ranked.size() && ranked[i] >= 1) ++found;
            curve[i] += static_cast<double>(found) / static_cast<double>(relevant);
        }
    }
    for (double& recall : curve) recall /= static_cast<double>(qrels.queries.size());
    return curve;
}

ScoreDistribution score_distribution(const Qrels& qrels, const Run& run, std::size_t bins) {
    const Scores scores = scores_of(qrels, run);
    ScoreDistribution distribution;
    distribution.relevant_count = scores.relevant.size();
    distribution.other_count = scores.other.size();
    distribution.separation = separation(scores);
    std::vector<double> ends;
    for (const std::vector<double>* kind : {&scores.relevant, &scores.other}) {
        if (!kind->empty()) ends.insert(ends.end(), {kind->front(), kind->back()});
    }
    if (!ends.empty()) {
        distribution.low = *std::min_element(ends.begin(), ends.end());
        distribution.high = *std::max_element(ends.begin(), ends.end());
    }
    distribution.relevant = shares(scores.relevant, distribution.low, distribution.high, bins);
    distribution.other = shares(scores.other, distribution.low, distribution.high, bins);
    return distribution;
}

}  // namespace braid::eval
