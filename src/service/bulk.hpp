#pragma once

#include <string_view>

#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operations.hpp"
#include "braid/value.hpp"

namespace braid::service {

/// Adds one chunk per line of JSON, each on its own: a bad one does not keep the others out.
/// `params` holds "collection" and "namespace", the destination of chunks that name none. Returns
/// `{"collection", "created", "written", "replaced", "failed", "results"}`, with a result for each
/// line that is not blank: `{"line": 1, "chunk_id"}`, with "warnings" or with "error" `{"code",
/// "message"}`.
Result<Value> add_lines(const Operations& operations, const Object& params, std::string_view body,
                        const Caller& caller);

}  // namespace braid::service
