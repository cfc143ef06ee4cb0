#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string_view>

#include "braid/result.hpp"
#include "braid/server/mcp/agent.hpp"
#include "braid/service/caller.hpp"

namespace braid::server {

struct StdioOptions {
    int input = 0;             // file descriptors
    int output = 1;            //
    std::size_t workers = 2;   // tools that run at the same time
    std::size_t waiting = 64;  // calls read ahead; beyond that, reading waits
    std::stop_token stop;      // ends the reading
};

/// Takes in a line, as McpSession::accept does.
using AcceptLine = std::function<McpSession::Accepted(std::string_view line)>;

/// Speaks MCP over two descriptors, one message per line, until the input ends or a stop is
/// requested; then answers what was asked, and returns. A line longer than `most_bytes` is skipped
/// and answered with an error. IoError if reading or writing fails; a reader that has gone away is
/// not an error.
Result<> serve_stdio(const AcceptLine& accept, std::size_t most_bytes,
                     const StdioOptions& options = {});
/// The same for a session, within the caller's limits.
Result<> serve_stdio(McpSession& session, const service::Caller& caller,
                     const StdioOptions& options = {});

}  // namespace braid::server
