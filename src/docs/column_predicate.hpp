#pragma once

#include <vector>

#include "braid/docs/column.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"

namespace braid::docs {

/// One comparison of a filter, worked out for every value of a column once.
struct ColumnPredicate {
    Bits one;                  // codes that match as the value of a row
    Bits element;              // codes that match as an element of a list
    std::vector<Value> whole;  // lists that match as they are

    /// For every operator but And, Or, Not and Exists; that of Ne and Nin is the one of Eq and In.
    /// `are_names`: operands are never times. Requires a valid filter.
    static Result<ColumnPredicate> create(const Column& column, const Filter& filter,
                                          bool are_names);
};

}  // namespace braid::docs
