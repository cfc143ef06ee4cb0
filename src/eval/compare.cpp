#include "braid/eval/compare.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "braid/eval/lines.hpp"

namespace braid::eval {
namespace {

constexpr std::size_t kMinResamples = 100;
constexpr std::size_t kMaxResamples = 1'000'000;
// Two values of one measure this close differ by rounding only.
constexpr double kSame = 1e-12;

Result<> check(const Qrels& qrels, std::span<const Run> runs, std::span<const Measure> measures,
               const CompareOptions& options) {
    const auto refuse = [](std::string why) { return invalid_argument(std::move(why)); };
    if (qrels.queries.empty()) return refuse("there is no judged query to evaluate on");
    if (runs.empty()) return refuse("there is no run to evaluate");
    if (measures.empty()) return refuse("there is no measure to compute");
    if (options.resamples < kMinResamples || options.resamples > kMaxResamples) {
        return refuse("the number of resamples must be from 100 to 1000000");
    }
    if (!(options.confidence > 0.0 && options.confidence < 1.0)) {
        return refuse("the confidence must lie between 0 and 1");
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (runs[i].name == runs[j].name) {
                return refuse("two runs have the name " + shown(runs[i].name));
            }
        }
    }
    return {};
}

/// Column of a run's measure in the matrix of all values.
std::size_t column(const Comparison& comparison, std::size_t run, std::size_t measure) {
    return run * comparison.measures.size() + measure;
}

Matrix values_of(const Comparison& comparison) {
    Matrix values(comparison.queries.size(), comparison.runs.size() * comparison.measures.size());
    for (std::size_t run = 0; run < comparison.runs.size(); ++run) {
        for (std::size_t m = 0; m < comparison.measures.size(); ++m) {
            const std::vector<double>& per_query = comparison.runs[run].evaluation.values[m];
            for (std::size_t q = 0; q < per_query.size(); ++q) {
                values.row(q)[column(comparison, run, m)] = per_query[q];
            }
        }
    }
    return values;
}

void add_intervals(Comparison& comparison) {
    const auto [resamples, confidence, seed] = comparison.options;
    std::vector<std::vector<double>> means =
        bootstrap_means(values_of(comparison), resamples, seed);
    for (std::size_t run = comparison.runs.size(); run-- > 0;) {
        ComparedRun& compared = comparison.runs[run];
        if (run > 0) compared.differences.resize(comparison.measures.size());
        for (std::size_t m = 0; m < comparison.measures.size(); ++m) {
            std::vector<double>& own = means[column(comparison, run, m)];
            if (run > 0) {
                std::vector<double> difference = own;
                const std::vector<double>& baseline = means[column(comparison, 0, m)];
                for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= baseline[i];
                compared.differences[m].interval = percentile_interval(difference, confidence);
            }
            // Sorts: hence the baseline, which the others are paired with, comes last.
            compared.intervals.push_back(percentile_interval(own, confidence));
        }
    }
}

void add_counts(Comparison& comparison, Matrix& differences) {
    const ComparedRun& baseline = comparison.runs.front();
    for (std::size_t run = 1; run < comparison.runs.size(); ++run) {
        ComparedRun& compared = comparison.runs[run];
        for (std::size_t m = 0; m < comparison.measures.size(); ++m) {
            Difference& difference = compared.differences[m];
            difference.mean = compared.evaluation.means[m] - baseline.evaluation.means[m];
            for (std::size_t q = 0; q < comparison.queries.size(); ++q) {
                double gain = compared.evaluation.values[m][q] - baseline.evaluation.values[m][q];
                if (std::abs(gain) <= kSame) gain = 0.0;
                ++(gain > 0.0   ? difference.better
                   : gain < 0.0 ? difference.worse
                                : difference.equal);
                differences.row(q)[column(comparison, run - 1, m)] = gain;
            }
        }
    }
}

void add_differences(Comparison& comparison) {
    const std::size_t others = comparison.runs.size() - 1;
    if (others == 0) return;
    Matrix differences(comparison.queries.size(), others * comparison.measures.size());
    add_counts(comparison, differences);
    // Another stream of random numbers than the bootstrap's.
    const std::vector<double> p_values =
        randomisation_p_values(differences, comparison.options.resamples, ~comparison.options.seed);
    for (std::size_t m = 0; m < comparison.measures.size(); ++m) {
        std::vector<double> family;
        family.reserve(others);
        for (std::size_t run = 0; run < others; ++run) {
            family.push_back(p_values[column(comparison, run, m)]);
        }
        const std::vector<double> adjusted = holm_adjusted(family);
        for (std::size_t run = 0; run < others; ++run) {
            Difference& difference = comparison.runs[run + 1].differences[m];
            difference.p_value = family[run];
            difference.p_adjusted = adjusted[run];
        }
    }
}

Value to_value(const Interval& interval) {
    return Array{interval.low, interval.high};
}

Value to_value(const Difference& difference) {
    return Object{{"difference", difference.mean}, {"interval", to_value(difference.interval)},
                  {"p", difference.p_value},       {"p_adjusted", difference.p_adjusted},
                  {"mark", mark_of(difference)},   {"better", difference.better},
                  {"worse", difference.worse},     {"equal", difference.equal}};
}

Value to_value(const ComparedRun& run, std::span<const Measure> measures) {
    Object means;
    Object intervals;
    Object compared;
    for (std::size_t m = 0; m < measures.size(); ++m) {
        const std::string name = name_of(measures[m]);
        means.set(name, run.evaluation.means[m]);
        intervals.set(name, to_value(run.intervals[m]));
        if (!run.differences.empty()) compared.set(name, to_value(run.differences[m]));
    }
    Object value{{"name", run.name},
                 {"measures", std::move(means)},
                 {"intervals", std::move(intervals)},
                 {"missing_queries", run.evaluation.missing},
                 {"unjudged_queries", run.evaluation.unjudged}};
    if (!compared.empty()) value.set("compared", std::move(compared));
    return value;
}

Value per_query_value(const Comparison& comparison) {
    Array rows;
    rows.reserve(comparison.queries.size());
    for (std::size_t q = 0; q < comparison.queries.size(); ++q) {
        Object values;
        for (std::size_t m = 0; m < comparison.measures.size(); ++m) {
            Array per_run;
            for (const ComparedRun& run : comparison.runs) {
                per_run.emplace_back(run.evaluation.values[m][q]);
            }
            values.set(name_of(comparison.measures[m]), std::move(per_run));
        }
        rows.emplace_back(Object{{"query", comparison.queries[q]}, {"values", std::move(values)}});
    }
    return rows;
}

}  // namespace

std::string_view mark_of(const Difference& difference) {
    if (difference.p_adjusted < 0.001) return "***";
    if (difference.p_adjusted < 0.01) return "**";
    return difference.p_adjusted < 0.05 ? "*" : "";
}

Result<Comparison> compare(const Qrels& qrels, std::span<const Run> runs,
                           std::span<const Measure> measures, const CompareOptions& options) {
    BRAID_CHECK(check(qrels, runs, measures, options));
    Comparison comparison;
    comparison.measures.assign(measures.begin(), measures.end());
    comparison.options = options;
    for (const JudgedQuery& judged : qrels.queries) comparison.queries.push_back(judged.query);
    for (const Run& run : runs) {
        comparison.runs.push_back({run.name, evaluate(qrels, run, measures), {}, {}});
    }
    add_intervals(comparison);
    add_differences(comparison);
    return comparison;
}

bool clearly_better(const Comparison& comparison) {
    return comparison.runs.back().differences.front().interval.low > 0;
}

Value to_value(const Comparison& comparison, bool per_query) {
    Array runs;
    for (const ComparedRun& run : comparison.runs) {
        runs.push_back(to_value(run, comparison.measures));
    }
    Object value{{"runs", std::move(runs)},
                 {"queries", comparison.queries.size()},
                 {"baseline", comparison.runs.front().name},
                 {"confidence", comparison.options.confidence},
                 {"resamples", comparison.options.resamples},
                 {"seed", comparison.options.seed}};
    if (per_query) value.set("per_query", per_query_value(comparison));
    return value;
}

}  // namespace braid::eval
