#pragma once

#include <string>

#include "braid/eval/compare.hpp"

namespace braid::eval {

struct TableOptions {
    bool color = false;  // ANSI escapes: green for better, red for worse, dim for side remarks
};

/// The comparison for a terminal: per run the means with significance marks, below them the
/// intervals and the differences to the baseline; under the table a line that explains the marks,
/// and one per run that lacks judged queries. Ends with a newline.
std::string to_table(const Comparison& comparison, const TableOptions& options = {});

/// Every query and run with its values, a line each. Ends with a newline.
std::string to_query_table(const Comparison& comparison, const TableOptions& options = {});

}  // namespace braid::eval
