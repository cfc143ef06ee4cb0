#pragma once

#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operations.hpp"
#include "braid/value.hpp"

namespace braid::server {

/// Tools that change what is stored; tool_texts.cpp says what they take and give. None of them lets
/// an agent say that its text is to be trusted: "trust" is refused in "metadata".
Result<Value> remember(const service::Operations& operations, const Object& arguments,
                       const service::Caller& caller);
/// The text is in the arguments: nothing named there is ever opened.
Result<Value> ingest_text(const service::Operations& operations, const Object& arguments,
                          const service::Caller& caller);
Result<Value> forget(const service::Operations& operations, const Object& arguments,
                     const service::Caller& caller);

}  // namespace braid::server
