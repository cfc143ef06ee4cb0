#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "braid/result.hpp"

namespace braid::core {

/// What an error says about a collection that does not exist.
std::string unknown_collection(std::string_view name);
/// NotFound, saying that.
tl::unexpected<Error> no_collection(std::string_view name);

/// The collection's name if that is all that `message` says. Doors that know who asks add the
/// collections that one may see.
std::optional<std::string> unknown_collection_in(std::string_view message);

/// The same with the nearest of those there are, and their names, ten at most.
std::string unknown_collection(std::string_view name, std::span<const std::string_view> known);

}  // namespace braid::core
