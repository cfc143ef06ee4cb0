#pragma once

#include <string>

#include "braid/result.hpp"
#include "braid/server/caller.hpp"
#include "braid/server/operations.hpp"
#include "braid/value.hpp"

namespace braid::server {

/// The operations as routes run them: parameters to the text of the answer's body.
// They have one type, whatever each does with its parameters.
// NOLINTBEGIN(performance-unnecessary-value-param)

Result<std::string> printed(const Result<Value>& value);

template <Operations::Member kMember>
Result<std::string> call(const Operations& operations, Object params, const Caller& caller) {
    return printed(operations.run(kMember, params, caller));
}

Result<std::string> retrieve(const Operations& operations, Object params, const Caller& caller);
Result<std::string> put_chunk(const Operations& operations, Object params, const Caller& caller);
Result<std::string> patch_chunk(const Operations& operations, Object params, const Caller& caller);
Result<std::string> delete_chunk(const Operations& operations, Object params, const Caller& caller);
Result<std::string> put_document(const Operations& operations, Object params, const Caller& caller);
Result<std::string> delete_document(const Operations& operations, Object params,
                                    const Caller& caller);

// NOLINTEND(performance-unnecessary-value-param)

}  // namespace braid::server
