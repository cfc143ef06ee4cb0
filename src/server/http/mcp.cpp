#include "braid/server/http/mcp.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "braid/json/json.hpp"
#include "braid/json/quote.hpp"
#include "braid/server/auth/api_keys.hpp"
#include "braid/server/http/exchange.hpp"
#include "braid/server/http/target.hpp"
#include "braid/server/rpc/message.hpp"

namespace braid::server {
namespace {

constexpr int kHeaderMismatch = -32020;
constexpr std::string_view kSessionHeader = "Mcp-Session-Id";
constexpr std::string_view kVersionHeader = "MCP-Protocol-Version";

net::OutgoingResponse refuse(int status, int code, std::string message, Value id = {}) {
    return respond(status, json::print(rpc_failure(std::move(id), {code, std::move(message), {}})));
}

/// What the transport reports about an error in the answer.
int modern_status(int error) {
    switch (error) {
        case 0:
        case kInternalError:
            return 200;
        case kMethodNotFound:
            return 404;
        default:
            return 400;
    }
}

Value id_of(const Value& message) {
    const Value* const id = message.find("id");
    return id != nullptr && (id->is_string() || id->is_number()) ? *id : Value();
}

std::string_view text_of(const Value* value) {
    return value != nullptr && value->is_string() ? std::string_view(value->as_string())
                                                  : std::string_view();
}

const Value* version_of(const Value& message) {
    const Value* const params = message.find("params");
    const Value* const meta = params != nullptr ? params->find("_meta") : nullptr;
    return meta != nullptr ? meta->find(kMcpVersionKey) : nullptr;
}

/// What a header must repeat; none if the method has no name.
std::optional<std::string_view> name_of(const Value& message) {
    const std::string_view method = text_of(message.find("method"));
    const Value* const params = message.find("params");
    if (params == nullptr) return std::nullopt;
    if (method == "tools/call" || method == "prompts/get") return text_of(params->find("name"));
    if (method == "resources/read") return text_of(params->find("uri"));
    return std::nullopt;
}

/// What is wrong with the headers of a modern request; empty if nothing is.
std::string header_problem(const net::IncomingRequest& request, const Value& message) {
    const auto compare = [&](std::string_view header, std::string_view body,
                             bool encoded) -> std::string {
        const auto given = request.header(header);
        if (!given) return "Header mismatch: " + std::string(header) + " is missing";
        const auto value = encoded ? decode_mcp_header(*given) : std::string(*given);
        if (value == body) return {};
        return "Header mismatch: " + std::string(header) + " is " + json::quoted(*given) +
               ", the body says " + json::quoted(body);
    };
    std::string problem = compare(kVersionHeader, text_of(version_of(message)), false);
    if (problem.empty()) problem = compare("Mcp-Method", text_of(message.find("method")), false);
    const auto name = name_of(message);
    if (problem.empty() && name) problem = compare("Mcp-Name", *name, true);
    return problem;
}

bool is_notification(const Value& message) {
    return message.find("id") == nullptr && message.find("method") != nullptr;
}

std::string finish(McpSession::Accepted accepted) {
    if (accepted.work) return accepted.work().value_or("");
    return std::move(accepted.reply).value_or("");
}

}  // namespace

std::optional<std::string> decode_mcp_header(std::string_view value) {
    constexpr std::string_view begin = "=?base64?";
    constexpr std::string_view end = "?=";
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (!value.starts_with(begin) || !value.ends_with(end) ||
        value.size() < begin.size() + end.size()) {
        return std::string(value);
    }
    value = value.substr(begin.size(), value.size() - begin.size() - end.size());
    while (value.ends_with('=')) value.remove_suffix(1);
    std::string out;
    unsigned bits = 0;
    unsigned count = 0;
    for (const char c : value) {
        const std::size_t digit = digits.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        bits = ((bits << 6U) | static_cast<unsigned>(digit)) & 0xFFFFFFU;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        out.push_back(static_cast<char>((bits >> count) & 0xFFU));
    }
    return out;
}

McpHttp::McpHttp(const McpServer& server, McpHttpOptions options)
    : server_(server), options_(options) {}

net::OutgoingResponse McpHttp::handle(const net::IncomingRequest& request,
                                      const service::Caller& caller, std::string_view owner,
                                      Clock::time_point now) {
    if (request.method != "DELETE") return post(request, caller, owner, now);
    const auto id = request.header(kSessionHeader);
    if (!id) return refuse(400, kInvalidRequest, "Mcp-Session-Id is missing");
    if (!remove(*id, owner)) return refuse(404, kInvalidRequest, "there is no such session");
    return respond(204, "");
}

net::OutgoingResponse McpHttp::post(const net::IncomingRequest& request,
                                    const service::Caller& caller, std::string_view owner,
                                    Clock::time_point now) {
    Parsed parsed = parse_message(request.body, caller.limits);
    if (!parsed.json) return respond(400, json::print(rpc_failure({}, std::move(parsed.error))));
    Value json = *std::move(parsed.json);
    if (!json.is_object()) {
        return refuse(400, kInvalidRequest, "one message at a time: batches are not supported");
    }
    const std::string_view method = text_of(json.find("method"));
    const auto header = request.header(kVersionHeader);
    if (version_of(json) != nullptr || header == kModernMcpVersion) {
        return modern(request, std::move(json), caller);
    }
    if (method == "initialize") return initialize(std::move(json), caller, owner, now);
    if (header && std::ranges::find(kLegacyMcpVersions, *header) == kLegacyMcpVersions.end()) {
        return refuse(400, kInvalidRequest,
                      "MCP-Protocol-Version " + json::quoted(*header) + " is not supported",
                      id_of(json));
    }
    return legacy(request, std::move(json), caller, owner, now);
}

net::OutgoingResponse McpHttp::modern(const net::IncomingRequest& request, Value json,
                                      const service::Caller& caller) {
    McpSession session(server_);
    if (is_notification(json)) {
        session.accept_parsed(std::move(json), caller);
        return respond(202, "");
    }
    const Value id = id_of(json);
    // Without a revision in the body there is nothing to compare; the session reports what is
    // missing.
    if (!text_of(version_of(json)).empty()) {
        if (std::string problem = header_problem(request, json); !problem.empty()) {
            return refuse(400, kHeaderMismatch, std::move(problem), id);
        }
    }
    McpSession::Accepted accepted = session.accept_parsed(std::move(json), caller);
    const int status = modern_status(accepted.error);
    return respond(status, finish(std::move(accepted)));
}

net::OutgoingResponse McpHttp::initialize(Value json, const service::Caller& caller,
                                          std::string_view owner, Clock::time_point now) {
    auto session = std::make_shared<McpSession>(server_);
    McpSession::Accepted accepted = session->accept_parsed(std::move(json), caller);
    if (!session->legacy_version()) return respond(400, finish(std::move(accepted)));
    auto id = random_token();
    if (!id) return refuse(500, kInternalError, id.error().message);
    {
        const std::lock_guard lock(mutex_);
        expire(now);
        if (entries_.size() >= options_.max_sessions) drop_oldest(owner);
        entries_.push_front({*id, std::string(owner), std::move(session), now});
        by_id_.emplace(entries_.front().id, entries_.begin());
    }
    net::OutgoingResponse response = respond(200, finish(std::move(accepted)));
    response.headers.push_back({std::string(kSessionHeader), *std::move(id)});
    return response;
}

net::OutgoingResponse McpHttp::legacy(const net::IncomingRequest& request, Value json,
                                      const service::Caller& caller, std::string_view owner,
                                      Clock::time_point now) {
    const Value id = id_of(json);
    const auto given = request.header(kSessionHeader);
    if (!given) {
        return refuse(400, kInvalidRequest,
                      "begin with \"initialize\" and send its Mcp-Session-Id, or name the revision "
                      "in \"_meta\" and MCP-Protocol-Version",
                      id);
    }
    const auto session = find(*given, owner, now);
    if (session == nullptr) return refuse(404, kInvalidRequest, "there is no such session", id);
    const bool asks = json.find("method") != nullptr && json.find("id") != nullptr;
    McpSession::Accepted accepted = session->accept_parsed(std::move(json), caller);
    if (!accepted.reply && !accepted.work) return respond(202, "");
    const int status = !asks && accepted.error != 0 ? 400 : 200;
    std::string body = finish(std::move(accepted));
    // Cancelled meanwhile: no answer is due.
    return body.empty() ? respond(202, "") : respond(status, std::move(body));
}

std::shared_ptr<McpSession> McpHttp::find(std::string_view id, std::string_view owner,
                                          Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    expire(now);
    const auto found = by_id_.find(id);
    if (found == by_id_.end() || found->second->owner != owner) return nullptr;
    found->second->used = now;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->session;
}

bool McpHttp::remove(std::string_view id, std::string_view owner) {
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find(id);
    if (found == by_id_.end() || found->second->owner != owner) return false;
    const auto entry = found->second;
    by_id_.erase(found);
    entries_.erase(entry);
    return true;
}

void McpHttp::expire(Clock::time_point now) {
    while (!entries_.empty() && now - entries_.back().used > options_.session_age) {
        by_id_.erase(entries_.back().id);
        entries_.pop_back();
    }
}

void McpHttp::drop_oldest(std::string_view owner) {
    // The owner's own sessions first: nobody can push out others' by opening many.
    auto oldest = std::prev(entries_.end());
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        if (entry->owner == owner) oldest = entry;
    }
    by_id_.erase(oldest->id);
    entries_.erase(oldest);
}

std::size_t McpHttp::sessions() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

}  // namespace braid::server
