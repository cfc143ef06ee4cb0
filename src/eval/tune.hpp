#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "braid/eval/compare.hpp"
#include "braid/eval/measures.hpp"
#include "braid/eval/trec.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::eval {

struct TuneOptions {
    Measure measure{MeasureKind::NDcg, 10, 1};
    std::size_t folds = 5;  // at least 2; no more than there are judged queries
    CompareOptions compare;
};

/// What choosing the best of several runs is worth on queries that had no part in the choice.
struct TuneOutcome {
    std::vector<double> means;        // of each run, over all judged queries
    std::size_t best = 0;             // the run with the greatest mean; the first of equal ones
    std::vector<std::size_t> chosen;  // [fold]: the best run on the other folds
    Comparison held_out;  // the first run, and "tuned": each fold's queries by its choice
};

/// [query]: its fold, at random. Folds differ by one query at most. The same on every machine.
std::vector<std::size_t> deal(std::size_t queries, std::size_t folds, std::uint64_t seed);

/// Chooses among runs of the same queries; the first is what is used today. The queries are dealt
/// to folds at random; for each fold the run that is best on all others is chosen, and its lists
/// for the fold's queries make up the run "tuned". Its difference to the first run is therefore
/// what to expect of the choice on new queries. InvalidArgument as `compare`, and for too many or
/// too few folds.
Result<TuneOutcome> tune(const Qrels& qrels, std::span<const Run> runs, const TuneOptions& options);

}  // namespace braid::eval
