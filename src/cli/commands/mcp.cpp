#include <array>
#include <string>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/mcp_relay.hpp"
#include "braid/cli/config/embedders.hpp"
#include "braid/cli/session.hpp"
#include "braid/server/mcp/agent.hpp"
#include "braid/server/mcp/stdio.hpp"

namespace braid::cli {
namespace {

constexpr auto kMcpFlags = std::to_array<FlagSpec>({
    {.name = "allow-writes", .help = "offer the tools remember, ingest and forget too"},
});

/// Through the program that serves the database: only it writes, and its agents see what it sees.
Result<> relay(Session& session, const std::string& socket, bool writes) {
    CallLimits limits;
    limits.stop = session.interrupts.token();
    McpRelay server(socket, session.visitor, limits);
    BRAID_TRY(const bool offered, server.allows_writes());
    if (writes && !offered) {
        return fail(ErrorCode::Locked, "database " + session.data() +
                                           " is served by a program that does not let agents "
                                           "write; restart it with --allow-writes");
    }
    session.note("serving MCP over standard input and output through the server at " + socket +
                 (offered ? ", writes allowed" : ""));
    server::StdioOptions options;
    options.stop = session.interrupts.token();
    return server::serve_stdio([&](std::string_view line) { return server.accept(line); },
                               service::Caller().limits.message_bytes, options);
}

Result<> run_mcp(Session& session) {
    const bool writes = session.arguments.has("allow-writes");
    session.interrupts.hold();
    if (const auto socket = session.server_socket()) return relay(session, *socket, writes);
    BRAID_TRY(auto database, writes ? session.open_for_writing(true) : session.open_for_reading());
    const server::McpServer server(database, service_options(session.settings),
                                   {.allow_writes = writes, .version = BRAID_VERSION});
    server::McpSession client(server);
    session.note("serving MCP over standard input and output" +
                 std::string(writes ? ", writes allowed" : "") + ": " + session.place());
    server::StdioOptions options;
    options.stop = session.interrupts.token();
    service::Caller caller;
    caller.principal = session.visitor.principal;
    caller.namespaces = session.visitor.namespaces;
    caller.is_remote = !session.visitor.sees_everything();
    return server::serve_stdio(client, caller, options);
}

}  // namespace

const CommandSpec kMcpCommand{
    .name = "mcp",
    .operands = "",
    .summary = "serve agents over the Model Context Protocol",
    .details = R"(Reads one JSON message per line from standard input and answers on standard
output; an MCP client starts it. Tools: hybrid_search, memory_search, get,
neighbors, list_collections, explain. Where a server has the database open, it
answers: what is stored there is seen at once, and tools that write are offered
if it offers them. Otherwise, without --allow-writes this changes nothing, and
sees what others store within a second or so. With --as, the agent sees and
stores only what that principal may.

  braid mcp --data ~/notes
  braid mcp --data ~/notes --as '{"clearance": "normal", "scopes": ["sales"]}'
  braid mcp --data ~/notes --allow-writes)",
    .flags = kMcpFlags,
    .run = run_mcp,
};

}  // namespace braid::cli
