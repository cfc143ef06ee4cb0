#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "braid/server/mcp/tools.hpp"
#include "braid/server/rpc/message.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operations.hpp"
#include "braid/value.hpp"

namespace braid::server {

inline constexpr std::string_view kMcpVersionKey = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kModernMcpVersion = "2026-07-28";
/// Revisions that begin with `initialize`, the newest first.
inline constexpr std::array<std::string_view, 4> kLegacyMcpVersions{"2025-11-25", "2025-06-18",
                                                                    "2025-03-26", "2024-11-05"};

struct McpOptions {
    bool allow_writes = false;  // offers the tools that change what is stored
    std::string version = "0";  // of this program, for clients to show
};

/// The Model Context Protocol over a database, whatever carries the messages. Serves both eras: a
/// request with `io.modelcontextprotocol/protocolVersion` in its `_meta` by revision 2026-07-28,
/// without state; others by 2025-11-25 or an earlier revision, after `initialize`. Safe for
/// concurrent use.
class McpServer {
public:
    /// The database must outlive it.
    explicit McpServer(Database& database, service::ServiceOptions service = {},
                       McpOptions options = {});
    McpServer(const McpServer&) = delete;
    McpServer& operator=(const McpServer&) = delete;
    McpServer(McpServer&&) = delete;
    McpServer& operator=(McpServer&&) = delete;
    ~McpServer() = default;

    const Tools& tools() const noexcept { return tools_; }
    const McpOptions& options() const noexcept { return options_; }

private:
    service::Operations operations_;
    Tools tools_;
    McpOptions options_;
};

/// What one client has said so far: the revision it chose with `initialize`, and the requests it is
/// waiting for. One per process on stdio; over HTTP one per session, or one per request in the new
/// era. Safe for concurrent use.
class McpSession {
public:
    /// The server must outlive it.
    explicit McpSession(const McpServer& server) : server_(server) {}

    /// An accepted message: an answer that is ready, work that produces one, or neither.
    struct Accepted {
        std::optional<std::string> reply;
        int error = 0;  // the code of the error in `reply`; 0: none
        /// May run on another thread, once, while the session lives. Returns nothing if the client
        /// has cancelled the request.
        std::function<std::optional<std::string>()> work;
    };

    /// Accepts messages in the order the client sent them. Only tool calls become work. Batches are
    /// refused. Never fails: problems are in the answer.
    Accepted accept(std::string_view body, const service::Caller& caller);
    /// The same for a message that was parsed.
    Accepted accept_parsed(Value json, const service::Caller& caller);

    /// accept(), then the work at once.
    std::optional<std::string> handle(std::string_view body, const service::Caller& caller);

    /// The revision chosen by `initialize`, if it was.
    std::optional<std::string> legacy_version() const;

private:
    enum class Era { Modern, Legacy };
    struct Running {
        std::stop_source stop;
        std::atomic<bool> cancelled{false};
    };

    Accepted take(Value json, const service::Caller& caller);
    void take_notification(const Message& message);
    Accepted take_request(const Message& message, const service::Caller& caller);
    /// What is to serve the request, or why it cannot be served.
    Result<Era> era_of(const Message& message, RpcError& error) const;
    Value initialize(const Value& params);
    Accepted call_tool(const Message& message, Era era, const service::Caller& caller);
    std::optional<std::string> run_tool(const Value& id, Era era, const std::string& name,
                                        const Object& arguments, service::Caller caller,
                                        Running& running);
    Value tool_reply(ToolResult result, Era era) const;
    /// The result with the members that the era requires.
    Value for_era(Object result, Era era, bool cacheable) const;
    Value server_info() const;

    const McpServer& server_;
    mutable std::mutex mutex_;
    std::optional<std::string> legacy_version_;
    std::map<std::string, std::shared_ptr<Running>> running_;  // by id, as JSON
};

}  // namespace braid::server
