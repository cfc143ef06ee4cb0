#include "braid/server/http/app.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <utility>

#include "braid/server/http/exchange.hpp"
#include "braid/server/http/gate.hpp"
#include "braid/server/http/missing.hpp"
#include "braid/server/http/problem.hpp"
#include "braid/server/http/responder.hpp"
#include "braid/server/http/routes.hpp"
#include "braid/server/http/watch.hpp"

namespace braid::server {
namespace {

using Clock = std::chrono::steady_clock;
using net::IncomingRequest;
using net::OutgoingResponse;

/// How many times a text is in memory before it is sent: as a chunk, in JSON, and printed.
constexpr std::size_t kCopies = 3;

bool leads_to_open(const RouteMatch& match) {
    return match.route != nullptr && is_open(*match.route);
}

/// What "Content-Length" says; 0 if it cannot be read.
std::uint64_t declared_length(const IncomingRequest& head) {
    const std::string_view text = head.header("Content-Length").value_or("0");
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error == std::errc::result_out_of_range) return UINT64_MAX;
    return error == std::errc() && end == text.data() + text.size() ? length : 0;
}

std::string joined(std::span<const std::string_view> words) {
    std::string text;
    for (const std::string_view word : words) (text += text.empty() ? "" : ", ") += word;
    return text;
}

}  // namespace

struct HttpApp::State {
    State(Database& database, HttpAppOptions given)
        : options(std::move(given)),
          gate({options.keys, options.hosts, options.origins, options.requests_per_second}),
          watching{options.log, options.log_format, options.log_texts, options.slow_query,
                   options.audit},
          responder(database,
                    {.service = options.service,
                     .limits = options.limits,
                     .mcp = {.allow_writes = options.allow_writes, .version = options.version},
                     .mcp_http = {options.mcp_sessions, options.mcp_session_age},
                     .idempotency_bytes = options.idempotency_bytes,
                     .memory = options.memory,
                     .check_rate = [this](const Identity& identity, std::size_t count) {
                         return gate.check_rate(identity, count);
                     }}) {
        responder.server_metrics().guard(
            [this](const IncomingRequest& head) { return gate.check_address(head); });
    }

    Exchange begin(const IncomingRequest& head) { return begin_exchange(head, ++counter); }
    /// Why the request's head is refused, if it is; fills in the exchange.
    std::optional<OutgoingResponse> check_head(const IncomingRequest& head, Exchange& exchange);
    OutgoingResponse refuse(const Exchange& exchange, const Refusal& refusal);
    OutgoingResponse preflight(const IncomingRequest& head) const;
    void add_headers(const IncomingRequest& head, const Exchange& exchange,
                     OutgoingResponse& response) const;
    void finish(const IncomingRequest& request, const Exchange& exchange, const Watch& watch,
                Clock::time_point started, const OutgoingResponse& response) const;
    service::Caller caller_of(const IncomingRequest& request, const Exchange& exchange,
                              Watch& watch) const;

    HttpAppOptions options;
    HttpGate gate;
    WatchOptions watching;
    HttpResponder responder;
    /// Starts at a different number in every process.
    std::atomic<std::uint64_t> counter{
        static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count())};
};

OutgoingResponse HttpApp::State::refuse(const Exchange& exchange, const Refusal& refusal) {
    responder.metrics().refused(facts_of(refusal.error).name);
    return respond(refusal, exchange.id);
}

OutgoingResponse HttpApp::State::preflight(const IncomingRequest& head) const {
    OutgoingResponse response = respond(204, "");
    response.headers.push_back(
        {"Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, HEAD"});
    if (const auto wanted = head.header("Access-Control-Request-Headers")) {
        response.headers.push_back({"Access-Control-Allow-Headers", std::string(*wanted)});
    }
    response.headers.push_back({"Access-Control-Max-Age", "600"});
    return response;
}

std::optional<OutgoingResponse> HttpApp::State::check_head(const IncomingRequest& head,
                                                           Exchange& exchange) {
    if (auto refusal = gate.check_address(head)) return refuse(exchange, *refusal);
    if (head.method == "OPTIONS" && gate.shared_with(head)) return preflight(head);
    auto target = parse_target(head.target);
    if (!target) {
        return refuse(exchange, {DoorError::MalformedRequest, target.error().message, {}});
    }
    exchange.target = *std::move(target);
    exchange.match = find_route(head.method, exchange.target);
    if (exchange.match.allowed.empty()) {
        if (auto shown = serve_missing(head)) {
            responder.metrics().refused(facts_of(DoorError::NoSuchRoute).name);
            return shown;
        }
    }
    if (!leads_to_open(exchange.match)) {
        if (auto refusal = gate.identify(head, exchange.identity)) {
            return refuse(exchange, *refusal);
        }
    }
    if (exchange.match.allowed.empty()) {
        return refuse(exchange,
                      {DoorError::NoSuchRoute,
                       "there is nothing at this address; GET /v1/openapi.json lists the routes",
                       {}});
    }
    if (exchange.match.route == nullptr) {
        return refuse(exchange, {DoorError::MethodNotAllowed,
                                 "this address accepts " + joined(exchange.match.allowed),
                                 {{"Allow", joined(exchange.match.allowed)}}});
    }
    return std::nullopt;
}

void HttpApp::State::add_headers(const IncomingRequest& head, const Exchange& exchange,
                                 OutgoingResponse& response) const {
    auto& headers = response.headers;
    headers.push_back({"X-Request-Id", exchange.id});
    if (!exchange.traceparent.empty()) headers.push_back({"traceparent", exchange.traceparent});
    const bool kept = std::ranges::any_of(
        headers, [](const net::HttpHeader& header) { return header.name == "Cache-Control"; });
    if (!kept) headers.push_back({"Cache-Control", "no-store"});
    headers.push_back({"X-Content-Type-Options", "nosniff"});
    if (auto origin_allowed = gate.shared_with(head)) {
        headers.push_back({"Access-Control-Allow-Origin", *std::move(origin_allowed)});
        headers.push_back(
            {"Access-Control-Expose-Headers", "X-Request-Id, Mcp-Session-Id, Retry-After"});
        headers.push_back({"Vary", "Origin"});
    }
}

void HttpApp::State::finish(const IncomingRequest& request, const Exchange& exchange,
                            const Watch& watch, Clock::time_point started,
                            const OutgoingResponse& response) const {
    watch.finish({.request_id = exchange.id,
                  .trace_id = exchange.trace ? std::string_view(exchange.trace->trace_id)
                                             : std::string_view(),
                  .peer = request.peer,
                  .key = exchange.identity.principal.name,
                  .route = exchange.route_id(),
                  .method = request.method,
                  .target = request.target,
                  .status = response.status,
                  .took = Clock::now() - started,
                  .request_bytes = request.body.size(),
                  .response_bytes = request.method == "HEAD" ? 0 : response.body.size()});
}

service::Caller HttpApp::State::caller_of(const IncomingRequest& request, const Exchange& exchange,
                                          Watch& watch) const {
    service::Caller caller;
    caller.principal = exchange.identity.principal;
    caller.namespaces = exchange.identity.namespaces;
    if (const ApiKey* const key = exchange.identity.key) {
        caller.may = [key](service::Access access, std::string_view collection) {
            return key->grants.allow(access, collection);
        };
        const auto& granted = key->grants.by_pattern;
        caller.grants.assign(granted.begin(), granted.end());
    }
    caller.limits = options.limits;
    caller.call.deadline = Clock::now() + options.max_deadline;
    caller.call.stop = request.gone;
    caller.call.traceparent = exchange.traceparent;
    caller.call.bytes =
        std::make_shared<ByteBudget>(options.limits.answer_bytes, options.memory, kCopies);
    caller.observer = &watch;
    caller.is_remote = request.peer != "unix";
    caller.experiment_key = request.header("X-Braid-User").value_or(std::string_view());
    return caller;
}

HttpApp::HttpApp(Database& database, HttpAppOptions options)
    : state_(std::make_unique<State>(database, std::move(options))) {}

HttpApp::~HttpApp() = default;

std::optional<OutgoingResponse> HttpApp::admit(IncomingRequest& head, std::size_t& body_limit) {
    const auto started = Clock::now();
    const auto admitted = std::make_shared<Exchange>(state_->begin(head));
    Exchange& exchange = *admitted;
    auto refused = state_->check_head(head, exchange);
    if (!refused && !leads_to_open(exchange.match)) {
        if (auto refusal = state_->gate.check_rate(exchange.identity)) {
            refused = state_->refuse(exchange, *refusal);
        }
    }
    if (!refused) {
        const std::size_t limit = state_->responder.body_limit(head, *exchange.match.route);
        body_limit = limit;
        if (declared_length(head) <= limit) {
            head.admitted = admitted;
            return std::nullopt;
        }
        refused = state_->refuse(
            exchange, {DoorError::PayloadTooLarge,
                       "the body may have at most " + std::to_string(limit) + " bytes here",
                       {}});
    }
    state_->add_headers(head, exchange, *refused);
    const Watch watch(state_->responder.metrics(), state_->watching);
    state_->finish(head, exchange, watch, started, *refused);
    return refused;
}

OutgoingResponse HttpApp::handle(const IncomingRequest& request) {
    if (request.admitted == nullptr) return refuse(500, "internal error");
    const auto started = Clock::now();
    Exchange& exchange = *static_cast<Exchange*>(request.admitted.get());
    Watch watch(state_->responder.metrics(), state_->watching);
    OutgoingResponse response;
    state_->responder.metrics().started();
    try {
        if (!leads_to_open(exchange.match) &&
            state_->responder.metrics().running() >
                static_cast<std::int64_t>(state_->options.max_running)) {
            response = state_->refuse(
                exchange,
                {DoorError::Overloaded, "too many requests are running", {{"Retry-After", "1"}}});
        } else {
            response = state_->responder.serve(request, exchange,
                                               state_->caller_of(request, exchange, watch));
        }
    } catch (const std::bad_alloc&) {
        response = problem({ErrorCode::ResourceExhausted, "out of memory"}, exchange.id);
    } catch (const std::exception&) {
        response = problem(DoorError::InternalError, "internal error", exchange.id);
    }
    state_->responder.metrics().ended();
    state_->add_headers(request, exchange, response);
    state_->finish(request, exchange, watch, started, response);
    if (state_->options.memory) {
        response.held = std::make_shared<HeldBytes>(state_->options.memory);
        response.held->grow_anyway_to(response.body.capacity());
    }
    return response;
}

OutgoingResponse HttpApp::refuse(int status, std::string_view reason) {
    DoorError error = DoorError::MalformedRequest;
    for (const DoorErrorFacts& facts : kDoorErrors) {
        if (facts.http_status != status) continue;
        error = facts.error;
        break;
    }
    const Exchange exchange = state_->begin({});
    OutgoingResponse response = state_->refuse(exchange, {error, std::string(reason), {}});
    if (status == 503) response.headers.push_back({"Retry-After", "1"});
    state_->add_headers({}, exchange, response);
    const Watch watch(state_->responder.metrics(), state_->watching);
    state_->finish({}, exchange, watch, Clock::now(), response);
    return response;
}

net::HttpHandler& HttpApp::metrics_handler() {
    return state_->responder.server_metrics();
}

void HttpApp::watch(std::function<net::HttpServer::Counters()> transport) {
    state_->responder.server_metrics().watch_transport(std::move(transport));
}

void HttpApp::announce(std::string address) {
    state_->responder.announce(std::move(address));
}

void HttpApp::drain() {
    state_->responder.drain();
}

}  // namespace braid::server
