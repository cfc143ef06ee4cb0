#include "braid/server/http/responder.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/core/sha256.hpp"
#include "braid/json/json.hpp"
#include "braid/server/http/documents.hpp"
#include "braid/server/http/openapi.hpp"
#include "braid/server/http/operations.hpp"
#include "braid/server/http/problem.hpp"
#include "braid/server/page/page.hpp"
#include "braid/service/bulk.hpp"

namespace braid::server {
namespace {

using net::IncomingRequest;
using net::OutgoingResponse;

constexpr std::size_t kSmallBody = std::size_t{64} << 10;  // of requests that need none
constexpr std::size_t kMaxIdempotencyKey = 255;

std::vector<std::string_view> route_ids() {
    std::vector<std::string_view> ids;
    ids.reserve(routes().size());
    for (const Route& route : routes()) ids.push_back(route.id);
    return ids;
}

bool is_json(std::string_view type) {
    return type.empty() || type == "application/json" || type == "application/json-rpc" ||
           type.ends_with("+json");
}

bool is_lines(std::string_view type) {
    return type == "application/x-ndjson" || type == "application/ndjson" ||
           type == "application/jsonl" || type == "application/x-jsonlines";
}

/// Why writes are refused, in words suitable for anybody: no names of collections or files.
std::optional<std::string> storage_trouble(const BackendHealth& health) {
    if (health.refusing.empty()) return std::nullopt;
    if (health.refusing.front().cause.code == ErrorCode::ReadOnly) {
        return "writes are refused: the lock or a file of the database was removed or replaced, "
               "so another program may be writing; searches still work, restart the server";
    }
    const bool full =
        std::ranges::all_of(health.refusing, [](const BackendHealth::Refusal& refusal) {
            return refusal.cause.code == ErrorCode::StorageFull;
        });
    return full ? "writes are refused: no space left; searches still work"
                : "writes are refused since a storage error; searches still work";
}

std::string type_of(const IncomingRequest& request) {
    return media_type(request.header("Content-Type").value_or(""));
}

/// Whether the body is files rather than JSON.
bool holds_files(const Route& route, const IncomingRequest& request) {
    return route.kind == RouteKind::Documents && !is_json(type_of(request));
}

/// The operation behind a route, as far as it takes several requests.
std::string_view batched_operation(const Route& route) {
    return route.id == "retrieveBatch" ? "retrieve_batch" : route.id;
}

/// Roughly what a body takes once it is parsed: small values take much more than their text. Lines
/// are parsed one by one, but their content is kept.
std::size_t parsed_size(std::string_view body, bool lines) {
    if (body.size() <= kSmallBody) return 0;
    if (lines) return 2 * body.size();
    std::size_t values = 1;
    std::size_t members = 0;
    for (const char c : body) {
        values += c == ',' || c == '[' || c == '{' ? 1 : 0;
        members += c == ':' ? 1 : 0;
    }
    // Lists grow by half or more beyond what they hold.
    return body.size() + (values * sizeof(Value) + members * sizeof(std::string)) / 2 * 3;
}

std::string_view page_file_of(const Object& path) {
    const Value* const name = path.find("file");
    return name != nullptr ? std::string_view(name->as_string()) : kPageDocument;
}

Result<Object> read_body(const Route& route, const IncomingRequest& request,
                         const service::RequestLimits& limits) {
    if (route.request.empty() || request.body.empty()) return Object();
    json::ParseLimits bounds;
    bounds.max_depth = limits.json_depth;
    bounds.max_bytes = limits.message_bytes;
    BRAID_TRY(Value json, json::parse(request.body, bounds));
    if (!json.is_object()) return invalid_argument("the body must be a JSON object");
    return std::move(json.as_object());
}

}  // namespace

HttpResponder::HttpResponder(Database& database, const HttpResponderOptions& options)
    : limits_(options.limits),
      memory_(options.memory),
      check_rate_(options.check_rate),
      operations_(database, options.service),
      rpc_(database, options.service),
      mcp_(database, options.service, options.mcp),
      mcp_http_(mcp_, options.mcp_http),
      idempotency_(options.idempotency_bytes),
      metrics_(route_ids()),
      server_metrics_(database, metrics_, options.mcp.version),
      openapi_(json::print(openapi_document(options.mcp.version, options.limits))) {
    server_metrics_.watch_sessions([this] { return mcp_http_.sessions(); });
    server_metrics_.watch_memory(memory_);
    server_metrics_.watch_idempotency([this] { return idempotency_.bytes(); });
}

OutgoingResponse HttpResponder::refuse(const Exchange& exchange, const Refusal& refusal) {
    metrics_.refused(facts_of(refusal.error).name);
    return respond(refusal, exchange.id);
}

std::size_t HttpResponder::body_limit(const IncomingRequest& head, const Route& route) const {
    if (route.request.empty()) return kSmallBody;
    if (route.kind == RouteKind::Chunks && is_lines(type_of(head))) return limits_.bulk_bytes;
    if (holds_files(route, head)) return limits_.bulk_bytes;
    return limits_.message_bytes;
}

std::optional<Refusal> HttpResponder::check_batch(const Exchange& exchange,
                                                  std::size_t requests) const {
    return requests > 1 && check_rate_ ? check_rate_(exchange.identity, requests - 1)
                                       : std::nullopt;
}

void HttpResponder::announce(std::string address) {
    const std::scoped_lock lock(address_mutex_);
    address_ = std::move(address);
}

std::string HttpResponder::health(const IncomingRequest& request) const {
    Object told{{"status", "ok"}};
    if (request.peer == "unix") {
        const std::scoped_lock lock(address_mutex_);
        if (!address_.empty()) told.set("address", address_);
    }
    return json::print(told);
}

OutgoingResponse HttpResponder::operate(const IncomingRequest& request, Exchange& exchange,
                                        const service::Caller& caller) {
    const Route& route = *exchange.match.route;
    const bool lines = route.kind == RouteKind::Chunks && is_lines(type_of(request));
    const bool files = holds_files(route, request);
    auto body =
        lines || files ? Result<Object>(Object()) : read_body(route, request, caller.limits);
    if (!body) return problem(caller.told(body.error()), exchange.id);
    auto params =
        route_parameters(route, std::move(exchange.match.path), exchange.target, *std::move(body));
    if (!params) return problem(caller.told(params.error()), exchange.id);
    if (auto refusal =
            check_batch(exchange, service::requests_in(batched_operation(route), *params))) {
        return refuse(exchange, *refusal);
    }
    const auto run = [&]() -> Result<std::string> {
        if (lines) return printed(service::add_lines(operations_, *params, request.body, caller));
        if (files) {
            return printed(post_files(operations_, *params,
                                      request.header("Content-Type").value_or(""), request.body,
                                      caller));
        }
        return route.run(operations_, *std::move(params), caller);
    };
    auto text = run();
    if (!text) return problem(caller.told(text.error()), exchange.id);
    return respond(route.success, *std::move(text));
}

OutgoingResponse HttpResponder::call(const IncomingRequest& request, const Exchange& exchange,
                                     const service::Caller& caller) {
    Parsed parsed = parse_message(request.body, caller.limits);
    if (!parsed.json) return respond(200, json::print(rpc_failure({}, std::move(parsed.error))));
    if (auto refusal = check_batch(exchange, Rpc::requests_in(*parsed.json))) {
        return refuse(exchange, *refusal);
    }
    const bool writes = Rpc::writes(*parsed.json);
    const auto work = [&]() -> Done {
        Rpc::Reply reply = rpc_.reply(*std::move(parsed.json), caller);
        return {reply.text ? respond(200, *std::move(reply.text)) : respond(204, ""),
                reply.wrote || reply.final};
    };
    return writes ? once(request, exchange, work) : work().response;
}

OutgoingResponse HttpResponder::dispatch(const IncomingRequest& request, Exchange& exchange,
                                         const service::Caller& caller) {
    const Route& route = *exchange.match.route;
    switch (route.kind) {
        case RouteKind::Operation:
        case RouteKind::Chunks:
        case RouteKind::Documents: {
            if (!route.writes) return operate(request, exchange, caller);
            return once(request, exchange, [&]() -> Done {
                OutgoingResponse response = operate(request, exchange, caller);
                const bool final = is_final(response.status);
                return {std::move(response), final};
            });
        }
        case RouteKind::Rpc:
            return call(request, exchange, caller);
        case RouteKind::Mcp:
            return mcp_http_.handle(request, caller, exchange.identity.owner());
        case RouteKind::Health:
            return respond(200, health(request));
        case RouteKind::Ready:
            if (draining_) return refuse(exchange, {DoorError::Draining, "shutting down", {}});
            if (auto trouble = storage_trouble(operations_.database().health())) {
                return refuse(exchange, {DoorError::WritesRefused, *std::move(trouble), {}});
            }
            return respond(200, R"({"status":"ok"})");
        case RouteKind::Metrics:
            if (!exchange.identity.sees_all_collections()) {
                return problem(
                    {ErrorCode::PermissionDenied, "metrics are for callers who may see everything"},
                    exchange.id);
            }
            return respond(200, server_metrics_.text(), kMetricsType);
        case RouteKind::OpenApi:
            return respond(200, openapi_);
        case RouteKind::Page:
            if (auto file = serve_page(request, page_file_of(exchange.match.path))) return *file;
            return refuse(exchange, {DoorError::NoSuchRoute, "the page has no such file", {}});
    }
    return problem(DoorError::InternalError, "internal error", exchange.id);
}

OutgoingResponse HttpResponder::once(const IncomingRequest& request, const Exchange& exchange,
                                     const std::function<Done()>& work) {
    const auto key = request.header("Idempotency-Key");
    if (!key) return work().response;
    if (key->empty() || key->size() > kMaxIdempotencyKey) {
        return refuse(
            exchange,
            {DoorError::MalformedRequest, "\"Idempotency-Key\" must have 1 to 255 characters", {}});
    }
    const std::string name = exchange.identity.owner() + "\n" + request.method + "\n" +
                             request.target + "\n" + std::string(*key);
    const std::string sent = type_of(request) + "\n" + request.body;
    const std::string hash = core::sha256_hex(sent);
    auto begun = idempotency_.begin(name, hash);
    using State = IdempotencyStore::State;
    if (begun.state == State::Running) {
        return refuse(exchange, {DoorError::IdempotencyRunning,
                                 "a request with this Idempotency-Key is still running",
                                 {{"Retry-After", "1"}}});
    }
    if (begun.state == State::Differs) {
        return refuse(exchange,
                      {DoorError::IdempotencyMismatch,
                       "this Idempotency-Key was used before, for a request with another body",
                       {}});
    }
    if (begun.state == State::Done && begun.response) {
        begun.response->headers.push_back({"Idempotency-Replayed", "true"});
        return *std::move(begun.response);
    }
    Done done;
    try {
        done = work();
    } catch (...) {
        idempotency_.abandon(name);
        throw;
    }
    if (done.final) {
        idempotency_.finish(name, done.response);
    } else {
        idempotency_.abandon(name);
    }
    return std::move(done.response);
}

OutgoingResponse HttpResponder::serve(const IncomingRequest& request, Exchange& exchange,
                                      const service::Caller& caller) {
    const Route& route = *exchange.match.route;
    if (request.body.size() > body_limit(request, route)) {
        return refuse(exchange, {DoorError::PayloadTooLarge,
                                 "the body may have at most " +
                                     std::to_string(body_limit(request, route)) + " bytes",
                                 {}});
    }
    const bool lines = route.kind == RouteKind::Chunks && is_lines(type_of(request));
    const bool files = holds_files(route, request);
    if (!route.request.empty() && !lines && !files && !is_json(type_of(request))) {
        return refuse(exchange, {DoorError::UnsupportedMediaType,
                                 "send the body as \"Content-Type: application/json\"",
                                 {{"Accept", "application/json"}}});
    }
    const std::string_view type =
        route.kind == RouteKind::Metrics ? "text/plain" : "application/json";
    if (!route.response.empty() && route.kind != RouteKind::Page &&
        !accepts(request.header("Accept"), type)) {
        return refuse(exchange,
                      {DoorError::NotAcceptable,
                       "the answer is " + std::string(type) + ", which \"Accept\" does not allow",
                       {}});
    }
    std::optional<HeldBytes> parsing;
    if (memory_ && !parsing.emplace(memory_).grow_to(parsed_size(request.body, lines || files))) {
        return refuse(exchange, {DoorError::Overloaded,
                                 "requests and answers use all the memory set aside for them",
                                 {{"Retry-After", "1"}}});
    }
    return dispatch(request, exchange, caller);
}

}  // namespace braid::server
