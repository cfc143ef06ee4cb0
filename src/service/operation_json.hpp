#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operations.hpp"
#include "braid/service/requests.hpp"
#include "braid/value.hpp"

namespace braid::core {
struct Vocabulary;
}

/// The JSON forms of operations, for doors that speak JSON: results, and parameters by name; an
/// unknown one is an error that names the nearest known.
namespace braid::service {

/// Reads the parameters of an operation of requests.hpp. `caller` bounds sizes, and supplies the
/// namespace if none is named.
template <class Operation>
Result<Operation> operation_from_params(const Object& params, const core::Vocabulary& vocabulary,
                                        const Caller& caller);
/// The inverse, for operations that Service knows.
template <class Operation>
Object operation_to_params(const Operation& operation);

/// Chooses among functions by operation.
template <class Operation>
struct As {};

/// An operation's result.
template <class Operation>
Value output_to_value(const typename Operation::Output& output);
/// The inverse, for operations that Service knows.
template <class Operation>
Result<typename Operation::Output> output_from_value(const Value& json);

/// From parameters to result.
template <class Operation>
Result<Value> run_json(const Operations& operations, const Object& params, const Caller& caller) {
    BRAID_TRY(auto operation,
              operation_from_params<Operation>(params, operations.database().vocabulary(), caller));
    BRAID_TRY(const auto output, operations.run(std::move(operation), caller));
    return output_to_value<Operation>(output);
}

/// A request (docs/request.schema.json) to an answer (docs/answer.schema.json).
Result<Answer> retrieve_json(const Operations& operations, const Object& params,
                             const Caller& caller);
/// `{"requests": [...]}` to an answer or an error for each, in order.
Result<std::vector<Result<Answer>>> retrieve_batch_json(const Operations& operations,
                                                        const Object& params, const Caller& caller);
/// The same, printed: answers do not become a Value on the way.
Result<std::string> print_retrieve(const Operations& operations, const Object& params,
                                   const Caller& caller);
Result<std::string> print_retrieve_batch(const Operations& operations, const Object& params,
                                         const Caller& caller);

/// An operation by the name that every door knows it by: "stats", "delete". In JSON-RPC the name
/// follows "braid.". Applications have their own.
struct NamedOperation {
    std::string_view name;
    Result<Value> (*run)(const Operations& operations, const Object& params, const Caller& caller);
    bool writes = false;  // changes what is stored, be it only its files
    /// Produces the printed result where there is a shorter way to it; null: there is none.
    Result<std::string> (*print)(const Operations& operations, const Object& params,
                                 const Caller& caller) = nullptr;
};
std::span<const NamedOperation> named_operations() noexcept;

/// Runs one as doors do: an error about a missing collection names those that exist.
Result<Value> run_named(const NamedOperation& named, const Operations& operations,
                        const Object& params, const Caller& caller);
/// The same, printed.
Result<std::string> print_named(const NamedOperation& named, const Operations& operations,
                                const Object& params, const Caller& caller);

/// Members of a result; one that is missing or of another type is empty.
std::string text_in(const Value& json, std::string_view key);
const Array& list_in(const Value& json, std::string_view key);

/// How many requests a call of that operation counts as: a batch counts as many as it holds.
std::size_t requests_in(std::string_view operation, const Object& params) noexcept;

}  // namespace braid::service
