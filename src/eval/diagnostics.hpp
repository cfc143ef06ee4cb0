#pragma once

#include <cstddef>
#include <vector>

#include "braid/eval/trec.hpp"

namespace braid::eval {

/// Mean recall at each cutoff from 1 to `depth`: element k - 1 is what R@k gives.
std::vector<double> recall_curve(const Qrels& qrels, const Run& run, std::size_t depth);

/// How the scores of the relevant documents (judged 1 or more) that a run retrieved lie among the
/// scores of its other hits, over all judged queries together.
struct ScoreDistribution {
    double low = 0.0;  // least and greatest score of either kind
    double high = 0.0;
    std::vector<double> relevant;  // share of the relevant hits per bin of equal width
    std::vector<double> other;
    std::size_t relevant_count = 0;
    std::size_t other_count = 0;
    /// The chance that a relevant hit scores above another one (equal scores count half); 0.5 if
    /// there are none of either kind.
    double separation = 0.5;
};

ScoreDistribution score_distribution(const Qrels& qrels, const Run& run, std::size_t bins);

}  // namespace braid::eval
