#pragma once

#include <span>
#include <string>
#include <string_view>

#include "braid/eval/compare.hpp"
#include "braid/eval/trec.hpp"

namespace braid::eval {

/// The table of all queries, with its controls and, as JSON for the script, the values of all
/// measures. `texts` are the queries' texts, in the comparison's order, empty where unknown.
std::string query_table(const Qrels& qrels, const Comparison& comparison,
                        std::span<const std::string_view> texts);

}  // namespace braid::eval
