#pragma once

#include <span>
#include <string>

#include "braid/eval/compare.hpp"
#include "braid/eval/queries.hpp"
#include "braid/eval/trec.hpp"

namespace braid::eval {

/// What a report is made of. All of it must outlive the call only.
struct ReportInput {
    const Qrels& qrels;
    std::span<const Run> runs;       // those that were compared, in the same order
    const Comparison& comparison;    // of these runs on these judgements
    std::span<const Query> queries;  // texts to show beside the ids; may lack some, or all
};

struct ReportOptions {
    std::string title = "Retrieval evaluation";
    std::string note;  // a line under the title, such as the data set and the date; may be empty
};

/// One HTML page that needs nothing else, neither files nor network: the measures with intervals
/// and significance marks, differences to the baseline, gains and losses per query, recall curves,
/// score distributions and a table of all queries. Plots per query are of the first measure.
std::string html_report(const ReportInput& input, const ReportOptions& options = {});

}  // namespace braid::eval
