#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/eval/measures.hpp"
#include "braid/eval/resample.hpp"
#include "braid/eval/trec.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::eval {

struct CompareOptions {
    std::size_t resamples = 10'000;  // 100 … 1,000,000
    double confidence = 0.95;        // above 0, below 1
    std::uint64_t seed = 1;
};

/// A run against the baseline, on one measure and the same queries.
struct Difference {
    double mean = 0.0;        // above 0: better than the baseline
    Interval interval;        // paired bootstrap
    double p_value = 1.0;     // two-sided paired randomisation test
    double p_adjusted = 1.0;  // Holm's correction over the runs compared on this measure
    std::size_t better = 0;   // queries
    std::size_t worse = 0;
    std::size_t equal = 0;
};

/// "***" if the adjusted p-value is below 0.001, "**" below 0.01, "*" below 0.05, else "".
std::string_view mark_of(const Difference& difference);

struct ComparedRun {
    std::string name;
    Evaluation evaluation;
    std::vector<Interval> intervals;      // [measure], of the means
    std::vector<Difference> differences;  // [measure]; empty for the baseline
};

/// Runs side by side on the same judged queries. The first run is the baseline.
struct Comparison {
    std::vector<Measure> measures;
    std::vector<std::string> queries;
    std::vector<ComparedRun> runs;
    CompareOptions options;
};

/// Evaluates and compares runs. InvalidArgument if there are no queries, runs or measures, two runs
/// have the same name, or an option is out of range. The same arguments give the same result.
Result<Comparison> compare(const Qrels& qrels, std::span<const Run> runs,
                           std::span<const Measure> measures, const CompareOptions& options = {});

/// Whether the last run is better than the baseline beyond chance: by the first measure, the
/// interval of their difference lies above 0.
bool clearly_better(const Comparison& comparison);

/// `{"runs": [{"name", "measures": {"nDCG@10": 0.7}, "intervals": {"nDCG@10": [0.6, 0.8]},
/// "missing_queries", "unjudged_queries", "compared": {"nDCG@10": {"difference", "interval", "p",
/// "p_adjusted", "mark", "better", "worse", "equal"}}}], "queries": 300, "baseline", "confidence",
/// "resamples", "seed"}`. The baseline has no "compared". With `per_query` there is also
/// `"per_query": [{"query": "q1", "values": {"nDCG@10": [0.5, 0.6]}}]`, a number per run.
Value to_value(const Comparison& comparison, bool per_query = false);

}  // namespace braid::eval
