#include "braid/server/rpc/message.hpp"

#include <utility>

#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"

namespace braid::server {

RpcError rpc_error(const Error& error) {
    const ErrorFacts& facts = error_facts(error.code);
    return {facts.rpc_code, error.message, Object{{"code", facts.name}}};
}

RpcError out_of_memory() {
    return rpc_error({ErrorCode::ResourceExhausted, "out of memory"});
}

Value rpc_result(Value id, Value result) {
    return Object{{"jsonrpc", "2.0"}, {"id", std::move(id)}, {"result", std::move(result)}};
}

std::string print_rpc_result(const Value& id, std::string_view result) {
    std::string text = R"({"jsonrpc":"2.0","id":)";
    json::print_to(text, id);
    text += R"(,"result":)";
    text += result;
    return text + '}';
}

Value rpc_failure(Value id, RpcError error) {
    Object body{{"code", error.code}, {"message", Value(std::move(error.message))}};
    if (!error.data.is_null()) body.set("data", std::move(error.data));
    return Object{{"jsonrpc", "2.0"}, {"id", std::move(id)}, {"error", std::move(body)}};
}

Reading read_message(Value json) {
    Reading reading;
    if (!json.is_object()) {
        reading.problem = "a message must be an object, got " + json::shown(json);
        return reading;
    }
    Object& object = json.as_object();
    Message message;
    if (Value* const id = object.find("id")) {
        if (id->is_string() || id->is_number()) {
            reading.id = *id;
            message.id = std::move(*id);
        } else {
            reading.problem = "\"id\" must be a string or a number, got " + json::shown(*id);
        }
    }
    const Value* const version = object.find("jsonrpc");
    if (version == nullptr || *version != Value("2.0")) {
        reading.problem = R"("jsonrpc" must be "2.0")";
        return reading;
    }
    Value* const method = object.find("method");
    if (method == nullptr &&
        (object.find("result") != nullptr || object.find("error") != nullptr)) {
        reading.is_answer = true;
        return reading;
    }
    if (!reading.problem.empty()) return reading;
    if (method == nullptr || !method->is_string() || method->as_string().empty()) {
        reading.problem = "\"method\" must be the name of a method";
        return reading;
    }
    message.method = std::move(method->as_string());
    if (Value* const params = object.find("params")) {
        if (!params->is_object() && !params->is_array()) {
            reading.problem = "\"params\" must be an object or a list, got " + json::shown(*params);
            return reading;
        }
        message.params = std::move(*params);
    }
    reading.message = std::move(message);
    return reading;
}

Parsed parse_message(std::string_view body, const service::RequestLimits& limits) {
    if (body.size() > limits.message_bytes) {
        return {std::nullopt,
                {kInvalidRequest,
                 "the message has " + std::to_string(body.size()) + " bytes, the limit is " +
                     std::to_string(limits.message_bytes),
                 {}}};
    }
    json::ParseLimits bounds;
    bounds.max_depth = limits.json_depth;
    bounds.max_bytes = limits.message_bytes;
    auto json = json::parse(body, bounds);
    if (!json) return {std::nullopt, {kParseError, "not JSON: " + json.error().message, {}}};
    return {*std::move(json), {}};
}

}  // namespace braid::server
