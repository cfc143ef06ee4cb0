#pragma once

#include <string_view>

#include "braid/value.hpp"

namespace braid::server {

/// What a member of this name means in every request; empty if that differs.
std::string_view text_of_member(std::string_view name);

/// Adds descriptions to members that mean the same in every request, where the request's schema has
/// none of its own.
void describe_members(Value& schema);

}  // namespace braid::server
