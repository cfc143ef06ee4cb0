#pragma once

#include <string_view>

#include "braid/value.hpp"

namespace braid::server {

/// What a member of this name is in every request; empty if it differs.
std::string_view text_of_member(std::string_view name);

/// Says of members that have the same meaning in every request what they are, where the schema of
/// the request says nothing of its own.
void describe_members(Value& schema);

}  // namespace braid::server
