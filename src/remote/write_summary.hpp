#pragma once

#include <span>
#include <string>

#include "braid/collection.hpp"
#include "braid/remote/bulk.hpp"
#include "braid/result.hpp"

namespace braid::remote {

/// Says only that a chunk has changed.
Version new_version();

/// The write as a whole: what was done, or why not all of it.
Result<WriteReport> sum_up(std::span<const BulkOperation> operations,
                           std::span<const BulkOutcome> outcomes, Version version);

}  // namespace braid::remote
