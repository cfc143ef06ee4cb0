#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "braid/net/http/server.hpp"
#include "braid/server/mcp/agent.hpp"
#include "braid/service/caller.hpp"

namespace braid::server {

struct McpHttpOptions {
    std::size_t max_sessions = 1000;
    std::chrono::seconds session_age{3600};  // without a message
};

/// MCP by Streamable HTTP, in both eras: requests with their revision in `_meta` are served without
/// state, and their headers are checked against the body; `initialize` opens a session, whose id
/// nobody can guess and only its owner can use. Every answer is one JSON object. Safe for
/// concurrent use.
class McpHttp {
public:
    using Clock = std::chrono::steady_clock;

    /// The server must outlive it.
    McpHttp(const McpServer& server, McpHttpOptions options);

    /// A POST with one message, or a DELETE of a session. `owner` is who asks.
    net::OutgoingResponse handle(const net::IncomingRequest& request, const service::Caller& caller,
                                 std::string_view owner, Clock::time_point now = Clock::now());
    std::size_t sessions() const;

private:
    struct Entry {
        std::string id;
        std::string owner;
        std::shared_ptr<McpSession> session;
        Clock::time_point used;
    };

    net::OutgoingResponse post(const net::IncomingRequest& request, const service::Caller& caller,
                               std::string_view owner, Clock::time_point now);
    net::OutgoingResponse modern(const net::IncomingRequest& request, Value json,
                                 const service::Caller& caller);
    net::OutgoingResponse initialize(Value json, const service::Caller& caller,
                                     std::string_view owner, Clock::time_point now);
    net::OutgoingResponse legacy(const net::IncomingRequest& request, Value json,
                                 const service::Caller& caller, std::string_view owner,
                                 Clock::time_point now);
    /// Null if there is none of that id and owner.
    std::shared_ptr<McpSession> find(std::string_view id, std::string_view owner,
                                     Clock::time_point now);
    bool remove(std::string_view id, std::string_view owner);
    void expire(Clock::time_point now);
    /// Makes room for a session of the owner's. Requires that one exists.
    void drop_oldest(std::string_view owner);

    const McpServer& server_;
    const McpHttpOptions options_;
    mutable std::mutex mutex_;
    std::list<Entry> entries_;  // most recently used first
    std::unordered_map<std::string_view, std::list<Entry>::iterator> by_id_;
};

/// The value of an `Mcp-Name` header: plain, or inside `=?base64?...?=`; none if that is malformed.
std::optional<std::string> decode_mcp_header(std::string_view value);

}  // namespace braid::server
