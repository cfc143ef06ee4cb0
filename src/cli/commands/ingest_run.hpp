#pragma once

#include "braid/cli/session.hpp"
#include "braid/result.hpp"

namespace braid::cli {

/// `braid ingest`: files to chunks to the database.
Result<> run_ingest(Session& session);

}  // namespace braid::cli
