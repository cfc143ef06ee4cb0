#pragma once

#include <string>

#include "braid/cli/session.hpp"
#include "braid/result.hpp"
#include "braid/service/service.hpp"

namespace braid::cli {

/// Waits until nothing is pending in a collection: no flush, no merge, no graph. Cancelled if
/// interrupted.
Result<> wait_until_settled(const Session& session, const service::Service& service,
                            const std::string& collection);

}  // namespace braid::cli
