#include "braid/cli/commands/mcp_relay.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include "braid/core/base64.hpp"
#include "braid/json/json.hpp"
#include "braid/server/rpc/message.hpp"
#include "braid/service/operation_json.hpp"

namespace braid::cli {
namespace {

constexpr std::string_view kSessionHeader = "Mcp-Session-Id";
constexpr std::string_view kRevisionHeader = "MCP-Protocol-Version";
constexpr std::chrono::minutes kPatience{30};  // the server has deadlines of its own

net::HttpClientOptions options_for(const std::string& socket) {
    net::HttpClientOptions options;
    options.unix_socket = socket;
    options.total_timeout = kPatience;
    return options;
}

Value member(const Value& message, std::string_view key) {
    const Value* const found = message.find(key);
    return found != nullptr ? *found : Value();
}

/// The revision that a request itself names, as those of the new era do.
std::string revision_in(const Value& message) {
    return service::text_in(member(member(message, "params"), "_meta"), server::kMcpVersionKey);
}

/// Plain if a header can hold it, as the revision prescribes.
std::string header_text(const std::string& text) {
    const bool plain =
        std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; }) && !text.empty();
    return plain ? text : "=?base64?" + core::encode_base64(std::as_bytes(std::span(text))) + "?=";
}

}  // namespace

McpRelay::McpRelay(const std::string& socket, const service::Visitor& visitor,
                   const CallLimits& limits)
    : client_(options_for(socket)), limits_(limits) {
    headers_.push_back({"Content-Type", "application/json"});
    headers_.push_back({"Accept", "application/json, text/event-stream"});
    if (visitor != service::Visitor{}) {
        headers_.push_back({std::string(service::kVisitorHeader),
                            json::print(service::visitor_to_value(visitor))});
    }
}

Result<net::HttpResponse> McpRelay::post(std::string_view line, const Value& message) {
    net::HttpRequest request{.method = "POST", .url = "http://localhost/mcp"};
    request.headers = headers_;
    request.body = line;
    const std::string revision = revision_in(message);
    if (revision.empty()) {
        const std::scoped_lock lock(mutex_);
        const bool begins = service::text_in(message, "method") == "initialize";
        if (!begins && !session_.empty()) {
            request.headers.push_back({std::string(kSessionHeader), session_});
        }
        if (!begins && !revision_.empty()) {
            request.headers.push_back({std::string(kRevisionHeader), revision_});
        }
    } else {
        request.headers.push_back({std::string(kRevisionHeader), revision});
        request.headers.push_back({"Mcp-Method", service::text_in(message, "method")});
        const Value params = member(message, "params");
        const std::string name = service::text_in(params, "name");
        if (!name.empty()) request.headers.push_back({"Mcp-Name", header_text(name)});
    }
    return client_.send(request, limits_);
}

Result<bool> McpRelay::allows_writes() {
    const Object meta{
        {std::string(server::kMcpVersionKey), Value(std::string(server::kModernMcpVersion))},
        {"io.modelcontextprotocol/clientCapabilities", Object{}}};
    const Value request = Object{{"jsonrpc", "2.0"},
                                 {"id", 1},
                                 {"method", "tools/list"},
                                 {"params", Object{{"_meta", meta}}}};
    BRAID_TRY(const net::HttpResponse response, post(json::print(request), request));
    BRAID_TRY(const Value answer, json::parse(response.body));
    return std::ranges::any_of(
        service::list_in(member(answer, "result"), "tools"),
        [](const Value& tool) { return service::text_in(tool, "name") == "remember"; });
}

void McpRelay::keep_session(const std::string& line, const net::HttpResponse& response) {
    const std::scoped_lock lock(mutex_);
    session_ = response.header(kSessionHeader).value_or("");
    opening_ = line;
    if (const auto parsed = json::parse(response.body)) {
        revision_ = service::text_in(member(*parsed, "result"), "protocolVersion");
    }
}

Result<net::HttpResponse> McpRelay::post_in_session(const std::string& line, const Value& message) {
    constexpr int not_found = 404;
    std::string session;
    std::string opening;
    {
        const std::scoped_lock lock(mutex_);
        session = session_;
        opening = opening_;
    }
    auto response = post(line, message);
    const bool lost = response && response->status == not_found && !session.empty() &&
                      revision_in(message).empty() &&
                      service::text_in(message, "method") != "initialize";
    if (!lost) return response;
    const std::scoped_lock one_renews(renewing_);
    bool renewed = false;  // by another request meanwhile
    {
        const std::scoped_lock lock(mutex_);
        renewed = session_ != session;
    }
    if (!renewed) {
        BRAID_TRY(const Value first, json::parse(opening));
        BRAID_TRY(const net::HttpResponse opened, post(opening, first));
        keep_session(opening, opened);
        const Value ready = Object{{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}};
        BRAID_CHECK(post(json::print(ready), ready));
    }
    return post(line, message);
}

std::optional<std::string> McpRelay::answer(const std::string& line, const Value& message) {
    const auto response = post_in_session(line, message);
    const Value id = member(message, "id");
    if (!response) {
        if (id.is_null()) return std::nullopt;
        return json::print(
            server::rpc_failure(id, {server::kInternalError,
                                     "the server does not answer: " + response.error().message,
                                     {}}));
    }
    if (service::text_in(message, "method") == "initialize") keep_session(line, *response);
    if (id.is_null() || response->body.empty()) return std::nullopt;
    return response->body;
}

server::McpSession::Accepted McpRelay::accept(std::string_view line) {
    const auto message = json::parse(line);
    if (!message || !message->is_object()) {
        return {.reply = json::print(server::rpc_failure(
                    {}, {message ? server::kInvalidRequest : server::kParseError,
                         message ? "one message at a time: batches are not supported"
                                 : message.error().message,
                         {}})),
                .error = server::kParseError,
                .work = {}};
    }
    const bool asks = message->find("id") != nullptr;
    if (!asks || service::text_in(*message, "method") == "initialize") {
        return {.reply = answer(std::string(line), *message), .error = 0, .work = {}};
    }
    return {.reply = std::nullopt,
            .error = 0,
            .work = [this, text = std::string(line), parsed = *message] {
                return answer(text, parsed);
            }};
}

}  // namespace braid::cli
