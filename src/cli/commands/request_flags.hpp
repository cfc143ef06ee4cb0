#pragma once

#include <span>
#include <string_view>

#include "braid/cli/args/arguments.hpp"
#include "braid/cli/session.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::cli {

inline constexpr FlagSpec kMosCodeFlag{.name = "mos-code",
                                       .kind = FlagKind::List,
                                       .value = "CODE",
                                       .help = "only this mos_code; may be repeated",
                                       .key = "mos_codes"};

/// Flags that say how to search, of every command that does. The question itself is not among them.
std::span<const FlagSpec> request_flags();

/// Applies what the flags say to the request, in its JSON form.
Result<> put_request_flags(const Arguments& arguments, Object& request);

/// Reads a request and puts the profile it asks for into it, as this run's configuration defines
/// it: whoever answers, the caller's settings are used. NotFound for an unknown profile. The next
/// page of an earlier answer stays as it is.
Result<Request> caller_request(const Settings& settings, const Object& request);

/// The request that the flags make of a question.
Result<Request> flags_request(const Session& session, std::string_view query);

}  // namespace braid::cli
