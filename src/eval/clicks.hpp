#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "braid/eval/queries.hpp"
#include "braid/eval/trec.hpp"
#include "braid/result.hpp"

namespace braid::eval {

/// One answer that somebody saw.
struct Impression {
    std::string query;
    std::vector<std::string> shown;    // documents, best first
    std::vector<std::string> clicked;  // some of them
};

/// Reads lines of `{"query", "shown": [ids], "clicked": [ids]}`. InvalidArgument names the line
/// that is not one, clicks on what was not shown, and a file without a single click.
Result<std::vector<Impression>> parse_clicks(std::string_view text, std::string_view source);
Result<std::vector<Impression>> read_clicks(const std::string& path);

/// Queries and judgements that clicks amount to.
struct ClickJudgements {
    std::vector<Query> queries;  // each text once, numbered in order of appearance
    Qrels qrels;                 // of those with a click
};

/// People look at the first hit more often than at the tenth: a click at rank r counts r^bias
/// times (inverse propensity weighting; Joachims et al., WSDM 2017), 0 takes clicks as they are. A
/// document's judgement is three times the sum of its clicks over how often it was shown, rounded,
/// from 1 to 30. What was shown and never clicked is judged 0. What was never shown stays
/// unjudged: judgements of clicks favour what was shown.
ClickJudgements judgements_of(const std::vector<Impression>& impressions, double bias);

}  // namespace braid::eval
