#pragma once

#include <string_view>
#include <vector>

#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::core {
struct Vocabulary;
}

namespace braid::wire {

/// Reads the JSON request that every door shares (docs/request.schema.json), by braid's names of
/// the keys or by the vocabulary's; the form `{"text", "namespace", "config": {...}}` is read as if
/// the members of `config` stood beside the others. A member that is null counts as absent.
///
/// InvalidArgument names the key: an unknown one with the nearest known, a wrong type or range with
/// what was expected, and two keys that say the same thing.
Result<Request> request_from_value(const Value& json, const core::Vocabulary& vocabulary);
Result<Request> request_from_value(const Object& json, const core::Vocabulary& vocabulary);

/// The inverse, by braid's own names, without what has its default: reading it gives an equal
/// request, whatever the vocabulary.
Value request_to_value(const Request& request);

/// Every key request_from_value reads. The names borrow from the vocabulary.
std::vector<std::string_view> request_keys(const core::Vocabulary& vocabulary);

}  // namespace braid::wire
