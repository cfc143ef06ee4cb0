#pragma once

#include <span>

#include "braid/cli/arguments.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::cli {

/// Flags that say how to search, of every command that does. The question itself is not among them.
std::span<const FlagSpec> request_flags();

/// Puts what the flags say over the request, in its JSON form.
Result<> put_request_flags(const Arguments& arguments, Object& request);

}  // namespace braid::cli
