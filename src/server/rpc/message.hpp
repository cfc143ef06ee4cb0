#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/value.hpp"

namespace braid::server {

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;

/// The error object of a JSON-RPC answer.
struct RpcError {
    int code = kInternalError;
    std::string message;
    Value data;  // null: left out
};

/// From the one table of errors: the code, the message, and `{"code": "not_found"}` as data.
RpcError rpc_error(const Error& error);
RpcError out_of_memory();

/// `{"jsonrpc": "2.0", "id": ..., "result": ...}`
Value rpc_result(Value id, Value result);
/// The same, printed, from a result that is printed already.
std::string print_rpc_result(const Value& id, std::string_view result);
/// The same with "error"; a null id says that the request's own could not be read.
Value rpc_failure(Value id, RpcError error);

/// A request, or a notification if it has no id.
struct Message {
    std::optional<Value> id;  // string or number
    std::string method;
    Value params;  // object, array, or null if absent

    bool is_notification() const noexcept { return !id; }
};

/// The outcome of reading: a message, an answer (result or error) to somebody else's request, or
/// what is wrong, with the id if that much could be read.
struct Reading {
    std::optional<Message> message;
    bool is_answer = false;
    Value id;
    std::string problem;
};

/// Checks the envelope of one JSON-RPC message.
Reading read_message(Value json);

/// Parses within the caller's limits; an error has kParseError, or kInvalidRequest if it is too
/// long.
struct Parsed {
    std::optional<Value> json;
    RpcError error;
};
Parsed parse_message(std::string_view body, const service::RequestLimits& limits);

}  // namespace braid::server
