#pragma once

#include <span>
#include <string_view>

#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::wire {

/// Reads the JSON request that every door shares (docs/request.schema.json), in braid's words or in
/// those it knows from elsewhere ("limit", "alpha", "metadata_filter"); the form `{"text",
/// "namespace", "config": {...}}` is read as if the members of `config` stood beside the others.
/// A member that is null counts as absent.
///
/// InvalidArgument names the key: an unknown one with the nearest known, a wrong type or range with
/// what was expected, and two keys that say the same thing.
Result<Request> request_from_value(const Value& json);

/// The inverse, in braid's own words, without what has its default:
/// request_from_value(request_to_value(r)) equals r.
Value request_to_value(const Request& request);

/// Every key request_from_value reads, in the order of the documentation.
std::span<const std::string_view> request_keys();

}  // namespace braid::wire
