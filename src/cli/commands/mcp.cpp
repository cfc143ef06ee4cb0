#include <array>
#include <string>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/config/embedders.hpp"
#include "braid/cli/config/socket_place.hpp"
#include "braid/cli/session.hpp"
#include "braid/server/mcp/agent.hpp"
#include "braid/server/mcp/stdio.hpp"

namespace braid::cli {
namespace {

constexpr auto kMcpFlags = std::to_array<FlagSpec>({
    {.name = "allow-writes", .help = "offer the tools remember, ingest and forget too"},
});

Result<> run_mcp(Session& session) {
    const bool writes = session.arguments.has("allow-writes");
    if (!session.clustered() && served_socket(session.data())) {
        const std::string served = "database " + session.data() + " is being served";
        if (writes) {
            return fail(ErrorCode::Locked, served +
                                               "; let agents write through the server's /mcp " +
                                               "(braid serve --allow-writes)");
        }
        session.warn(served +
                     ": what is stored from now on is seen at the server's /mcp, not here");
    }
    session.interrupts.hold();
    BRAID_TRY(auto database, writes ? session.open_for_writing(true) : session.open_for_reading());
    const server::McpServer server(database, service_options(session.settings),
                                   {.allow_writes = writes, .version = BRAID_VERSION});
    server::McpSession client(server);
    session.note("serving MCP over standard input and output" +
                 std::string(writes ? ", writes allowed" : "") + ": " + session.data());
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
neighbors, list_collections, explain. Without --allow-writes it changes nothing
and does not see what others store after it started. With --as, the agent sees
and stores only what that principal may.

  braid mcp --data ~/notes
  braid mcp --data ~/notes --as '{"clearance": "normal", "scopes": ["sales"]}'
  braid mcp --data ~/notes --allow-writes)",
    .flags = kMcpFlags,
    .run = run_mcp,
};

}  // namespace braid::cli
