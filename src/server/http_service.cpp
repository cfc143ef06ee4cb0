#include "braid/server/http_service.hpp"

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/core/sha256.hpp"
#include "braid/json/json.hpp"
#include "braid/server/bulk.hpp"
#include "braid/server/http_problem.hpp"
#include "braid/server/openapi.hpp"

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

std::string type_of(const IncomingRequest& request) {
    return media_type(request.header("Content-Type").value_or(""));
}

}  // namespace

HttpService::HttpService(Database& database, const HttpServiceOptions& options)
    : limits_(options.limits),
      operations_(database, options.service),
      rpc_(database, options.service),
      mcp_(database, options.service, options.mcp),
      mcp_http_(mcp_, options.mcp_http),
      idempotency_(options.idempotency_bytes),
      metrics_(route_ids()),
      server_metrics_(database, metrics_, options.mcp.version),
      openapi_(json::print(openapi_document(options.mcp.version))) {
    server_metrics_.watch_sessions([this] { return mcp_http_.sessions(); });
    server_metrics_.watch_idempotency([this] { return idempotency_.bytes(); });
}

OutgoingResponse HttpService::refuse(const Exchange& exchange, const Refusal& refusal) {
    metrics_.refused(facts_of(refusal.error).name);
    return respond(refusal, exchange.id);
}

std::size_t HttpService::body_limit(const IncomingRequest& head, const Route& route) const {
    if (route.request.empty()) return kSmallBody;
    if (route.kind == RouteKind::Chunks && is_lines(type_of(head))) return limits_.bulk_bytes;
    return limits_.message_bytes;
}

Result<std::string> HttpService::operate(const IncomingRequest& request, Exchange& exchange,
                                         const Caller& caller) {
    const Route& route = *exchange.match.route;
    if (route.kind == RouteKind::Chunks && is_lines(type_of(request))) {
        BRAID_TRY(const Object params,
                  route_parameters(route, std::move(exchange.match.path), exchange.target, {}));
        BRAID_TRY(const Value done, add_lines(operations_, params, request.body, caller));
        return json::print(done);
    }
    Object body;
    if (!route.request.empty() && !request.body.empty()) {
        json::ParseLimits bounds;
        bounds.max_depth = caller.limits.json_depth;
        bounds.max_bytes = caller.limits.message_bytes;
        BRAID_TRY(Value json, json::parse(request.body, bounds));
        if (!json.is_object()) {
            return invalid_argument("the body must be a JSON object");
        }
        body = std::move(json.as_object());
    }
    BRAID_TRY(Object params, route_parameters(route, std::move(exchange.match.path),
                                              exchange.target, std::move(body)));
    return route.run(operations_, std::move(params), caller);
}

OutgoingResponse HttpService::dispatch(const IncomingRequest& request, Exchange& exchange,
                                       const Caller& caller) {
    const Route& route = *exchange.match.route;
    switch (route.kind) {
        case RouteKind::Operation:
        case RouteKind::Chunks: {
            auto body = operate(request, exchange, caller);
            if (!body) return problem(body.error(), exchange.id);
            return respond(route.success, *std::move(body));
        }
        case RouteKind::Rpc: {
            auto reply = rpc_.handle(request.body, caller);
            return reply ? respond(200, *std::move(reply)) : respond(204, "");
        }
        case RouteKind::Mcp:
            return mcp_http_.handle(request, caller, exchange.identity.owner());
        case RouteKind::Health:
            return respond(200, R"({"status":"ok"})");
        case RouteKind::Ready:
            if (draining_) return refuse(exchange, {DoorError::Draining, "shutting down", {}});
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
    }
    return problem(DoorError::InternalError, "internal error", exchange.id);
}

OutgoingResponse HttpService::once(const IncomingRequest& request, Exchange& exchange,
                                   const Caller& caller) {
    const auto key = request.header("Idempotency-Key");
    if (!key || !exchange.match.route->writes) return dispatch(request, exchange, caller);
    if (key->empty() || key->size() > kMaxIdempotencyKey) {
        return refuse(
            exchange,
            {DoorError::MalformedRequest, "\"Idempotency-Key\" must have 1 to 255 characters", {}});
    }
    const std::string name = exchange.identity.owner() + "\n" + request.method + "\n" +
                             request.target + "\n" + std::string(*key);
    const std::string sent = type_of(request) + "\n" + request.body;
    const std::string hash = core::sha256_hex(std::as_bytes(std::span(sent)));
    auto begun = idempotency_.begin(name, hash);
    using State = IdempotencyStore::State;
    if (begun.state == State::Running) {
        return refuse(exchange, {DoorError::IdempotencyRunning,
                                 "a request with this Idempotency-Key is still at work",
                                 {{"Retry-After", "1"}}});
    }
    if (begun.state == State::Differs) {
        return refuse(
            exchange,
            {DoorError::IdempotencyMismatch, "this Idempotency-Key was used for another body", {}});
    }
    if (begun.state == State::Done && begun.response) {
        begun.response->headers.push_back({"Idempotency-Replayed", "true"});
        return *std::move(begun.response);
    }
    OutgoingResponse response;
    try {
        response = dispatch(request, exchange, caller);
    } catch (...) {
        idempotency_.abandon(name);
        throw;
    }
    // What may succeed the next time must not be remembered as failed.
    if (response.status < 500 && response.status != 429 && response.status != 499) {
        idempotency_.finish(name, response);
    } else {
        idempotency_.abandon(name);
    }
    return response;
}

OutgoingResponse HttpService::serve(const IncomingRequest& request, Exchange& exchange,
                                    const Caller& caller) {
    const Route& route = *exchange.match.route;
    if (request.body.size() > body_limit(request, route)) {
        return refuse(exchange,
                      {DoorError::PayloadTooLarge,
                       "the body may have " + std::to_string(body_limit(request, route)) + " bytes",
                       {}});
    }
    const bool lines = route.kind == RouteKind::Chunks && is_lines(type_of(request));
    if (!route.request.empty() && !lines && !is_json(type_of(request))) {
        return refuse(exchange, {DoorError::UnsupportedMediaType,
                                 "send the body as \"Content-Type: application/json\"",
                                 {{"Accept", "application/json"}}});
    }
    const std::string_view type =
        route.kind == RouteKind::Metrics ? "text/plain" : "application/json";
    if (!route.response.empty() && !accepts(request.header("Accept"), type)) {
        return refuse(exchange,
                      {DoorError::NotAcceptable,
                       "the answer is " + std::string(type) + ", which \"Accept\" does not admit",
                       {}});
    }
    return once(request, exchange, caller);
}

}  // namespace braid::server
