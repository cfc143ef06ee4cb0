#include "braid/server/rpc/methods.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "braid/apps/operations.hpp"
#include "braid/core/nearest.hpp"
#include "braid/json/json.hpp"
#include "braid/json/quote.hpp"
#include "braid/server/rpc/idempotency.hpp"

namespace braid::server {
namespace {

constexpr std::string_view kPrefix = "braid.";

/// Null if there is no such method.
const service::NamedOperation* find_method(std::string_view name) {
    if (name.starts_with(kPrefix)) return apps::find_operation(name.substr(kPrefix.size()));
    const auto others = apps::methods();
    const auto found = std::ranges::find(others, name, &service::NamedOperation::name);
    return found != others.end() ? &*found : nullptr;
}

RpcError unknown_method(const std::string& name) {
    std::string message = "there is no method " + json::quoted(name);
    const std::vector<std::string_view> known(Rpc::methods().begin(), Rpc::methods().end());
    if (const auto meant = core::nearest(name, known)) {
        message += "; did you mean \"" + std::string(*meant) + "\"?";
    }
    return {kMethodNotFound, std::move(message), {}};
}

std::string printed_failure(Value id, RpcError error) {
    return json::print(rpc_failure(std::move(id), std::move(error)));
}

}  // namespace

Rpc::Rpc(Database& database, service::ServiceOptions options)
    : operations_(database, std::move(options)) {}

const std::vector<std::string>& Rpc::methods() {
    static const auto kNames = [] {
        std::vector<std::string> names;
        for (const service::NamedOperation& operation : apps::operations()) {
            names.push_back(std::string(kPrefix).append(operation.name));
        }
        for (const service::NamedOperation& method : apps::methods()) {
            names.emplace_back(method.name);
        }
        return names;
    }();
    return kNames;
}

bool Rpc::method_writes(std::string_view name) {
    const service::NamedOperation* const method = find_method(name);
    return method != nullptr && method->writes;
}

std::optional<std::string> Rpc::handle(std::string_view body, const service::Caller& caller) const {
    try {
        Parsed parsed = parse_message(body, caller.limits);
        if (!parsed.json) return printed_failure({}, std::move(parsed.error));
        return reply(*std::move(parsed.json), caller).text;
    } catch (const std::bad_alloc&) {
        return printed_failure({}, out_of_memory());
    }
}

Rpc::Reply Rpc::reply(Value json, const service::Caller& caller) const {
    service::Caller one = caller;  // the members of a batch share what one answer may hold
    one.call = caller.counted();
    Reply reply;
    std::string text = json.is_array() ? answer_batch(std::move(json.as_array()), one, reply)
                                       : answer(std::move(json), one, reply);
    if (!text.empty()) reply.text = std::move(text);
    return reply;
}

bool Rpc::writes(const Value& json) {
    if (json.is_array()) return std::ranges::any_of(json.as_array(), writes);
    const Value* const name = json.find("method");
    return name != nullptr && name->is_string() && method_writes(name->as_string());
}

std::size_t Rpc::requests_in(const Value& json) {
    if (json.is_array()) {
        std::size_t count = 0;
        for (const Value& member : json.as_array()) count += requests_in(member);
        return std::max<std::size_t>(count, 1);
    }
    const Value* const name = json.find("method");
    const Value* params = json.find("params");
    if (name == nullptr || !name->is_string() || params == nullptr) return 1;
    if (params->is_array() && params->as_array().size() == 1) params = &params->as_array().front();
    const service::NamedOperation* const operation = find_method(name->as_string());
    if (operation == nullptr || !params->is_object()) return 1;
    return service::requests_in(operation->name, params->as_object());
}

std::string Rpc::answer_batch(Array batch, const service::Caller& caller, Reply& outcome) const {
    if (batch.empty()) return printed_failure({}, {kInvalidRequest, "the batch is empty", {}});
    if (batch.size() > caller.limits.batch) {
        return printed_failure(
            {}, {kInvalidRequest,
                 "the batch has " + std::to_string(batch.size()) + " members, the limit is " +
                     std::to_string(caller.limits.batch),
                 {}});
    }
    std::string replies;
    for (Value& member : batch) {
        const std::string reply = answer(std::move(member), caller, outcome);
        if (reply.empty()) continue;
        replies += replies.empty() ? '[' : ',';
        replies += reply;
    }
    return replies.empty() ? replies : replies + ']';
}

std::string Rpc::answer(Value json, const service::Caller& caller, Reply& outcome) const {
    Reading reading = read_message(std::move(json));
    if (reading.is_answer) reading.problem = "expected a request, got an answer";
    if (!reading.message) {
        return printed_failure(std::move(reading.id), {kInvalidRequest, reading.problem, {}});
    }
    const Message& message = *reading.message;
    std::string reply;
    if (find_method(message.method) == nullptr) {
        reply = printed_failure(std::move(reading.id), unknown_method(message.method));
    } else {
        try {
            const auto result = call(message, caller);
            if (result) {
                outcome.wrote = outcome.wrote || method_writes(message.method);
                reply = print_rpc_result(reading.id, *result);
            } else {
                outcome.final =
                    outcome.final && is_final(error_facts(result.error().code).http_status);
                reply =
                    printed_failure(std::move(reading.id), rpc_error(caller.told(result.error())));
            }
        } catch (const std::bad_alloc&) {
            outcome.final = false;
            reply = printed_failure(message.id.value_or(Value()), out_of_memory());
        } catch (const std::exception&) {
            outcome.final = false;
            reply = printed_failure(message.id.value_or(Value()),
                                    {kInternalError, "internal error", {}});
        }
    }
    return message.is_notification() ? std::string() : reply;
}

Result<std::string> Rpc::call(const Message& message, const service::Caller& caller) const {
    static const Object kNone;
    const Object* params = nullptr;
    if (message.params.is_null()) {
        params = &kNone;
    } else if (message.params.is_object()) {
        params = &message.params.as_object();
    } else {
        const Array& list = message.params.as_array();
        if (list.size() > 1 || (list.size() == 1 && !list.front().is_object())) {
            return invalid_argument("\"params\" must be an object, or a list of one object");
        }
        params = list.empty() ? &kNone : &list.front().as_object();
    }
    return service::print_named(*find_method(message.method), operations_, *params, caller);
}

}  // namespace braid::server
