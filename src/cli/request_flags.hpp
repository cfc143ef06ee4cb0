#pragma once

#include <span>
#include <string_view>

#include "braid/cli/arguments.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::cli {

/// Flags that say how to search, of every command that does. The question itself is not among them.
std::span<const FlagSpec> request_flags();

/// The profile of a question on the command line.
inline constexpr std::string_view kQuestionProfile = "service";

/// Puts what the flags say over the request, in its JSON form.
Result<> put_request_flags(const Arguments& arguments, Object& request);

/// The request that the flags make of a question, from the defaults of a profile.
Result<Request> flags_request(const Arguments& arguments, std::string_view query,
                              std::string_view profile);

}  // namespace braid::cli
