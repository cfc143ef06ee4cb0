#pragma once

#include <span>
#include <string_view>

#include "braid/service/operation_json.hpp"

namespace braid::apps {

/// All that can be asked for by name: the service's operations, then those of the applications.
std::span<const service::NamedOperation> operations();
/// What JSON-RPC knows by a name of its own, without a prefix: "cstp.queryDecisions".
std::span<const service::NamedOperation> methods() noexcept;
/// An operation, not a method; null if there is none of that name.
const service::NamedOperation* find_operation(std::string_view name) noexcept;

}  // namespace braid::apps
