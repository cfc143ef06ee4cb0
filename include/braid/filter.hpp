#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "braid/result.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid {

/// A condition on a chunk's fields and metadata, in Mongo's style.
///
/// A field is "chunk_id", "document_id", "chunk_index", "title", "section_title", "created_at",
/// "sensitivity", "visibility_scope", or a dotted path into the metadata, with or without
/// "metadata." in front. `Ne` and `Nin` match a missing field, the others do not. A list matches if
/// one of its elements does. Two RFC 3339 strings compare as times, other strings by bytes; ids,
/// sensitivity and scopes always by bytes.
struct Filter {
    enum class Op {
        And,       // children; no child: matches everything
        Or,        // children; no child: matches nothing
        Not,       // one child
        Eq,        // operand: any value
        Ne,        //
        Gt,        // operand: number, string or boolean
        Gte,       //
        Lt,        //
        Lte,       //
        In,        // operand: array
        Nin,       //
        Exists,    // operand: boolean
        Contains,  // operand: a substring of a string, or an element of a list
        Between,   // operand: [low, high], both inclusive
    };

    Op op = Op::And;
    std::string field{};
    Value operand{};
    std::vector<Filter> children{};

    static Filter all_of(std::vector<Filter> children) {
        return {Op::And, {}, {}, std::move(children)};
    }
    static Filter compare(Op op, std::string field, Value operand) {
        return {op, std::move(field), std::move(operand), {}};
    }
    friend bool operator==(const Filter&, const Filter&) = default;
};

/// Limits of one filter.
struct FilterLimits {
    std::size_t depth = 16;
    std::size_t clauses = 1024;                // comparisons, and each And, Or and Not
    std::size_t list = 10'000;                 // members of one $in or $nin
    std::size_t values = 20'000;               // operands in all, list members included
    std::size_t bytes = std::size_t{1} << 20;  // of field names and strings
};

/// InvalidArgument for an operand of the wrong kind, a Not without exactly one child, or a limit
/// exceeded.
Result<> validate(const Filter& filter, const FilterLimits& limits = {});

/// Reads `{"year": {"$gte": 2020}, "$or": [...]}`. InvalidArgument names the field and the
/// operator.
Result<Filter> parse_filter(const Value& json, const FilterLimits& limits = {});
/// The inverse: parse_filter(filter_to_value(f)) equals f for every valid f.
Value filter_to_value(const Filter& filter);

/// What a read may touch.
struct ReadScope {
    std::string collection{kDefaultCollection};
    std::string namespace_{kDefaultNamespace};
    Principal principal{};
    std::optional<Filter> filter{};
};

/// What to delete: exactly one of the three.
struct DeleteSelector {
    std::vector<std::string> chunk_ids{};
    std::vector<std::string> document_ids{};
    std::optional<Filter> filter{};
};

/// How many chunks have a value.
struct FacetCount {
    Value value;
    std::uint64_t count = 0;

    friend bool operator==(const FacetCount&, const FacetCount&) = default;
};

}  // namespace braid
