#pragma once

#include <span>
#include <string>

#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::core {
struct Vocabulary;
}

namespace braid::wire {

/// Reads a profile of a configuration file: `{"base": "service", "top_k": 5}`.
/// What is absent comes from `base`, one of `known`; without it from the known profile of the same
/// name, else from Profile's own defaults. InvalidArgument for an unknown key or base, or a value
/// that does not fit.
Result<Profile> profile_from_value(const std::string& name, const Value& json,
                                   std::span<const Profile> known);
/// Reads the profile that a request brings with it: the same members and "name", which answers
/// show; "base" is a built-in profile or one of the vocabulary. Without a base it has Profile's own
/// defaults.
Result<Profile> own_profile_from_value(const Value& json, const core::Vocabulary& vocabulary);
/// Profile's members and "name", as own_profile_from_value reads them.
Value own_profile_to_value(const Profile& profile);
/// The inverse, complete, without `base`.
Value profile_to_value(const Profile& profile);

}  // namespace braid::wire
