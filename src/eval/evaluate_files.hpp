#pragma once

#include <string>
#include <vector>

#include "braid/eval/compare.hpp"
#include "braid/eval/queries.hpp"
#include "braid/eval/trec.hpp"
#include "braid/result.hpp"

namespace braid::eval {

/// What `braid eval` is asked for.
struct EvalRequest {
    std::string qrels;              // path
    std::vector<std::string> runs;  // paths; the first is the baseline
    std::string measures;           // as parse_measures reads them; empty: default_measures()
    std::string queries;            // path of the queries' texts, for the report; may be empty
    CompareOptions options;
};

/// Everything that `braid eval` prints is made from this: to_value, to_table, to_query_table and
/// html_report.
struct EvalOutcome {
    Qrels qrels;
    std::vector<Run> runs;
    std::vector<Query> queries;
    Comparison comparison;
};

/// Reads the files, evaluates and compares. A run is named by its file, without folder and
/// extension; runs whose files have the same name, by their paths. Fails if a file cannot be read
/// or parsed, a measure is unknown, or a run is given twice.
Result<EvalOutcome> evaluate_files(const EvalRequest& request);

}  // namespace braid::eval
