#pragma once

#include <optional>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::remote {

// Clauses of a cluster query.
Value term_clause(const std::string& field, Value value);
Value terms_clause(const std::string& field, Array values);
Value all_of(Array clauses);
Value any_of(Array clauses);
Value none_of(Value clause);
Value match_all();
Value match_none();

/// The query that selects what the filter selects. Requires a filter accepted by
/// docs::FilterMatcher.
Value filter_clause(const Filter& filter);

/// What a principal may see and, given a time, what has not expired by then. InvalidArgument if the
/// clearance is not one of the schema's levels.
Result<Array> principal_clauses(const Principal& principal, const Schema& schema,
                                std::optional<Timestamp> now);

/// Namespace, principal, filter and time of a scope: what narrows every read and both kinds of
/// legs, inside the cluster. InvalidArgument as above, and for filters that clash with the schema.
Result<Array> scope_clauses(const ReadScope& scope, const Schema& schema,
                            std::optional<Timestamp> now);

}  // namespace braid::remote
