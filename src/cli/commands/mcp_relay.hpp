#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "braid/net/client/http_client.hpp"
#include "braid/result.hpp"
#include "braid/server/mcp/agent.hpp"
#include "braid/service/visitor.hpp"
#include "braid/types.hpp"

namespace braid::cli {

/// Passes what an MCP client says on standard input to the program that serves the database, and
/// its answers back: what is stored there is visible at once. Safe for concurrent use, except
/// `accept`, which takes messages in the order they come.
class McpRelay {
public:
    McpRelay(const std::string& socket, const service::Visitor& visitor, const CallLimits& limits);

    /// Whether the server offers the tools that write. Unavailable if it does not answer.
    Result<bool> allows_writes();

    /// As McpSession::accept. Requests become work, but for `initialize`, which gives the session.
    server::McpSession::Accepted accept(std::string_view line);

private:
    Result<net::HttpResponse> post(std::string_view line, const Value& message);
    /// The same; a server that was started anew does not know the session: it gets another.
    Result<net::HttpResponse> post_in_session(const std::string& line, const Value& message);
    /// Takes the session that the answer to `initialize` names.
    void keep_session(const std::string& line, const net::HttpResponse& response);
    /// The server's answer; if there is none, the reason as a JSON-RPC error. None if no answer is
    /// due.
    std::optional<std::string> answer(const std::string& line, const Value& message);

    net::HttpClient client_;
    std::vector<net::HttpHeader> headers_;
    CallLimits limits_;
    std::mutex mutex_;
    std::string session_;   // of the older revisions, guarded as is the next
    std::string revision_;  // that `initialize` chose
    std::string opening_;   // the line with `initialize`
    std::mutex renewing_;
};

}  // namespace braid::cli
