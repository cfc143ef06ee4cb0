#pragma once

#include <string>

#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operation_json.hpp"
#include "braid/value.hpp"

namespace braid::server {

/// The operations as routes run them: from parameters to the text of the answer's body.
// They all have one type, whatever each does with its parameters.
// NOLINTBEGIN(performance-unnecessary-value-param)

Result<std::string> printed(const Result<Value>& value);

template <class Operation>
Result<std::string> call(const service::Operations& operations, Object params,
                         const service::Caller& caller) {
    return printed(service::run_json<Operation>(operations, params, caller));
}

/// The same for an operation of an application.
template <auto kRun>
Result<std::string> call_app(const service::Operations& operations, Object params,
                             const service::Caller& caller) {
    return printed(service::run_named({"", kRun}, operations, params, caller));
}

Result<std::string> retrieve(const service::Operations& operations, Object params,
                             const service::Caller& caller);
Result<std::string> retrieve_batch(const service::Operations& operations, Object params,
                                   const service::Caller& caller);
Result<std::string> put_chunk(const service::Operations& operations, Object params,
                              const service::Caller& caller);
Result<std::string> patch_chunk(const service::Operations& operations, Object params,
                                const service::Caller& caller);
Result<std::string> delete_chunk(const service::Operations& operations, Object params,
                                 const service::Caller& caller);
Result<std::string> put_document(const service::Operations& operations, Object params,
                                 const service::Caller& caller);
Result<std::string> post_one_document(const service::Operations& operations, Object params,
                                      const service::Caller& caller);
Result<std::string> delete_document(const service::Operations& operations, Object params,
                                    const service::Caller& caller);

// NOLINTEND(performance-unnecessary-value-param)

}  // namespace braid::server
