#pragma once

#include <string_view>
#include <vector>

#include "braid/core/vocabulary.hpp"
#include "braid/filter.hpp"
#include "braid/json/fields.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"

namespace braid::wire {

/// What the readers of the single keys fill.
struct Reading {
    const core::Vocabulary& vocabulary;
    json::Fields fields;
    Request request;
    std::vector<Filter> clauses;  // of the filter and its shorthands
};

using ReadKey = Result<> (*)(Reading&, std::string_view key);

// The keys that become conditions.

Result<> read_filter(Reading& in, std::string_view key);
/// A field of the key's name: a text, or a list of which one must match.
Result<> read_clause(Reading& in, std::string_view key);
Result<> read_shorthand(Reading& in, const core::FilterShorthand& shorthand);
/// Later, or earlier, than a time.
Result<> read_after(Reading& in, std::string_view key);
Result<> read_before(Reading& in, std::string_view key);
Result<> read_document_ids(Reading& in, std::string_view key);

// The keys that say how ranked lists are fused.

Result<> read_fusion_method(Reading& in, std::string_view key);
Result<> read_fusion_key(Reading& in, std::string_view key);
Result<> read_across(Reading& in, std::string_view key);
Result<> read_dense_weight(Reading& in, std::string_view key);
Result<> read_weights(Reading& in, std::string_view key);
Result<> read_bm25_key(Reading& in, std::string_view key);

}  // namespace braid::wire
