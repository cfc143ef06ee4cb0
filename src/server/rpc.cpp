#include "braid/server/rpc.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

#include "braid/core/nearest.hpp"
#include "braid/json/json.hpp"
#include "braid/json/quote.hpp"

namespace braid::server {
namespace {

using OnOperations = Result<Value> (Operations::*)(const Object&, const Caller&) const;
using OnDecisions = Result<Value> (Decisions::*)(const Object&, const Caller&) const;

struct Method {
    std::string_view name;
    OnOperations operation = nullptr;
    OnDecisions decision = nullptr;
};

constexpr auto kMethods = std::to_array<Method>({
    {"braid.retrieve", &Operations::retrieve},
    {"braid.retrieve_batch", &Operations::retrieve_batch},
    {"braid.hybrid_search", &Operations::hybrid_search},
    {"braid.context", &Operations::context},
    {"braid.explain", &Operations::explain},
    {"braid.why_not", &Operations::why_not},
    {"braid.eval", &Operations::evaluate},
    {"braid.add", &Operations::add},
    {"braid.update", &Operations::update},
    {"braid.delete", &Operations::remove},
    {"braid.get", &Operations::get},
    {"braid.scan", &Operations::scan},
    {"braid.document", &Operations::document},
    {"braid.neighbors", &Operations::neighbors},
    {"braid.facets", &Operations::facets},
    {"braid.count", &Operations::count},
    {"braid.collections", &Operations::collections},
    {"braid.describe", &Operations::describe},
    {"braid.create_collection", &Operations::create_collection},
    {"braid.drop_collection", &Operations::drop_collection},
    {"braid.stats", &Operations::stats},
    {"cstp.queryDecisions", nullptr, &Decisions::query},
    {"cstp.indexDecisions", nullptr, &Decisions::index},
});

const Method* find_method(std::string_view name) {
    const auto* const found = std::ranges::find(kMethods, name, &Method::name);
    return found != kMethods.end() ? found : nullptr;
}

RpcError unknown_method(const std::string& name) {
    std::string message = "there is no method " + json::quoted(name);
    if (const auto meant = core::nearest(name, Rpc::methods())) {
        message += "; did you mean \"" + std::string(*meant) + "\"?";
    }
    return {kMethodNotFound, std::move(message), {}};
}

}  // namespace

Rpc::Rpc(Database& database, ServiceOptions options) : operations_(database, std::move(options)) {}

std::vector<std::string_view> Rpc::methods() {
    std::vector<std::string_view> names;
    names.reserve(kMethods.size());
    for (const Method& method : kMethods) names.push_back(method.name);
    return names;
}

std::optional<std::string> Rpc::handle(std::string_view body, const Caller& caller) const {
    try {
        Parsed parsed = parse_message(body, caller.limits);
        if (!parsed.json) return json::print(rpc_failure({}, std::move(parsed.error)));
        return handle_parsed(*std::move(parsed.json), caller);
    } catch (const std::bad_alloc&) {
        return json::print(rpc_failure({}, out_of_memory()));
    }
}

std::optional<std::string> Rpc::handle_parsed(Value json, const Caller& caller) const {
    if (!json.is_array()) {
        const auto reply = answer(std::move(json), caller);
        return reply ? std::optional(json::print(*reply)) : std::nullopt;
    }
    const Value replies = answer_batch(std::move(json.as_array()), caller);
    if (replies.is_array() && replies.as_array().empty()) return std::nullopt;
    return json::print(replies);
}

Value Rpc::answer_batch(Array batch, const Caller& caller) const {
    if (batch.empty()) return rpc_failure({}, {kInvalidRequest, "the batch is empty", {}});
    if (batch.size() > caller.limits.batch) {
        return rpc_failure({}, {kInvalidRequest,
                                "the batch has " + std::to_string(batch.size()) +
                                    " members, the limit is " + std::to_string(caller.limits.batch),
                                {}});
    }
    Array replies;
    replies.reserve(batch.size());
    for (Value& member : batch) {
        if (auto reply = answer(std::move(member), caller)) replies.push_back(*std::move(reply));
    }
    return replies;
}

std::optional<Value> Rpc::answer(Value json, const Caller& caller) const {
    Reading reading = read_message(std::move(json));
    if (reading.is_answer) reading.problem = "a request is expected here, not an answer";
    if (!reading.message) {
        return rpc_failure(std::move(reading.id), {kInvalidRequest, reading.problem, {}});
    }
    const Message& message = *reading.message;
    Value reply;
    if (find_method(message.method) == nullptr) {
        reply = rpc_failure(std::move(reading.id), unknown_method(message.method));
    } else {
        try {
            auto result = call(message, caller);
            reply = result ? rpc_result(std::move(reading.id), *std::move(result))
                           : rpc_failure(std::move(reading.id), rpc_error(result.error()));
        } catch (const std::bad_alloc&) {
            reply = rpc_failure(message.id.value_or(Value()), out_of_memory());
        } catch (const std::exception&) {
            reply =
                rpc_failure(message.id.value_or(Value()), {kInternalError, "internal error", {}});
        }
    }
    if (message.is_notification()) return std::nullopt;
    return reply;
}

Result<Value> Rpc::call(const Message& message, const Caller& caller) const {
    static const Object kNone;
    const Object* params = nullptr;
    if (message.params.is_null()) {
        params = &kNone;
    } else if (message.params.is_object()) {
        params = &message.params.as_object();
    } else {
        const Array& list = message.params.as_array();
        if (list.size() > 1 || (list.size() == 1 && !list.front().is_object())) {
            return fail(ErrorCode::InvalidArgument,
                        "\"params\" must be an object, or a list of one object");
        }
        params = list.empty() ? &kNone : &list.front().as_object();
    }
    const Method& method = *find_method(message.method);
    if (method.operation != nullptr) return (operations_.*method.operation)(*params, caller);
    return (decisions_.*method.decision)(*params, caller);
}

}  // namespace braid::server
