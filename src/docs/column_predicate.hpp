#pragma once

#include "braid/docs/column.hpp"
#include "braid/docs/comparison.hpp"
#include "braid/result.hpp"

namespace braid::docs {

/// One comparison of a filter, evaluated once for every value of a column.
struct ColumnPredicate {
    Bits one;      // codes that match as the value of a row
    Bits element;  // codes that match as an element of a list

    /// Not for Exists; for Ne and Nin, the codes that Eq and In would match.
    static Result<ColumnPredicate> create(const Column& column, const Comparison& comparison);
};

}  // namespace braid::docs
