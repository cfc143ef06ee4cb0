#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/progress.hpp"
#include "braid/core/numbers.hpp"
#include "braid/service/operation_json.hpp"
#include "braid/service/operations.hpp"

namespace braid::cli {
namespace {

constexpr auto kReembedFlags = std::to_array<FlagSpec>({
    kCollectionFlag,
    {.name = "embedder",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "another embedder (default: the collection's own)"},
});

/// The one named, otherwise the only one there is, as for commands that read.
Result<std::string> collection_of(const Session& session, const Database& database) {
    if (!session.arguments.has("collection")) {
        BRAID_TRY(const auto all, database.collections());
        if (all.size() == 1) return all.front().name;
    }
    return session.collection();
}

/// By the program that serves the database, which alone may write.
Result<service::ReembedOutcome> reembed_served(Session& session) {
    BRAID_TRY(const auto service, session.service_for_writing(false));
    BRAID_TRY(std::string collection, session.collection_to_read(*service));
    session.out.status(session.quiet() ? "" : "embedding \"" + collection + "\"");
    auto done = service->run(
        service::ReembedRequest{std::move(collection), session.arguments.text("embedder")});
    session.out.status({});
    return done;
}

Result<service::ReembedOutcome> reembed_here(Session& session) {
    session.interrupts.hold();
    BRAID_TRY(auto database, session.open_for_writing(false));
    BRAID_TRY(std::string collection, collection_of(session, database));
    const auto info = database.describe(collection);
    if (!info) {
        const service::Operations operations(database);
        return tl::unexpected(operations.with_collections(info.error(), {}));
    }
    service::ReembedOutcome done{
        std::move(collection),
        session.arguments.text_or("embedder", info->schema.vectors.embedder),
        {}};
    Progress progress(session.out, !session.quiet() && session.out.notes_on_terminal(), 0);
    CallLimits limits;
    limits.stop = session.interrupts.token();
    auto report = database.reembed(
        done.collection, done.embedder,
        [&](std::uint64_t chunks, std::uint64_t total) {
            progress.update({.chunks = chunks, .bytes_done = chunks, .bytes = total});
        },
        limits);
    progress.clear();
    BRAID_TRY(done.report, std::move(report));
    return done;
}

Result<> run_reembed(Session& session) {
    BRAID_TRY(const service::ReembedOutcome done,
              session.server_socket() ? reembed_served(session) : reembed_here(session));
    const ReembedReport& report = done.report;
    for (const std::string& warning : report.warnings) session.warn(warning);
    if (session.json()) {
        session.out.json(service::output_to_value<service::ReembedRequest>(done));
    } else if (!session.quiet()) {
        session.out.line("Collection \"" + done.collection + "\" now has vectors from \"" +
                         done.embedder + "\": " + core::grouped(report.embedded) + " of " +
                         core::count_of(report.chunks, "chunk", "chunks") +
                         (report.embedded == 1 ? " was embedded." : " were embedded."));
    }
    return {};
}

}  // namespace

const CommandSpec kReembedCommand{
    .name = "reembed",
    .operands = "",
    .summary = "recompute a collection's vectors",
    .details = R"(The collection stays in use. After an interruption it continues where it
stopped. If a server has the database open, the server does the work.

  braid reembed --collection wiki --embedder bge-small-en-v1.5)",
    .flags = kReembedFlags,
    .run = run_reembed,
    .whole_database = true,
};

}  // namespace braid::cli
