#include <array>
#include <cstdint>
#include <string>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/progress.hpp"
#include "braid/core/numbers.hpp"
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

/// The one that is named, else the only one there is, as where a command reads.
Result<std::string> collection_of(const Session& session, const Database& database) {
    if (!session.arguments.has("collection")) {
        BRAID_TRY(const auto all, database.collections());
        if (all.size() == 1) return all.front().name;
    }
    return session.collection();
}

Result<> run_reembed(Session& session) {
    session.interrupts.hold();
    BRAID_TRY(auto database, session.open_for_writing(false));
    BRAID_TRY(const std::string collection, collection_of(session, database));
    const auto info = database.describe(collection);
    if (!info) {
        const service::Operations operations(database);
        return tl::unexpected(operations.with_collections(info.error(), {}));
    }
    const std::string embedder =
        session.arguments.text_or("embedder", info->schema.vectors.embedder);
    Progress progress(session.out, !session.quiet() && session.out.notes_on_terminal(), 0);
    CallLimits limits;
    limits.stop = session.interrupts.token();
    const auto report = database.reembed(
        collection, embedder,
        [&](std::uint64_t done, std::uint64_t total) {
            progress.update({.chunks = done, .bytes_done = done, .bytes = total});
        },
        limits);
    progress.clear();
    if (!report) return tl::unexpected<Error>(report.error());
    for (const std::string& warning : report->warnings) session.warn(warning);
    if (session.json()) {
        session.out.json(Object{{"collection", Value(collection)},
                                {"embedder", Value(embedder)},
                                {"embedded", report->embedded},
                                {"chunks", report->chunks}});
    } else if (!session.quiet()) {
        session.out.line("Collection \"" + collection + "\" has vectors of \"" + embedder +
                         "\" now: " + core::grouped(report->embedded) + " of " +
                         core::count_of(report->chunks, "chunk", "chunks") +
                         (report->embedded == 1 ? " was embedded." : " were embedded."));
    }
    return {};
}

}  // namespace

const CommandSpec kReembedCommand{
    .name = "reembed",
    .operands = "",
    .summary = "recompute a collection's vectors",
    .details = R"(The collection stays in use. After an interruption it continues where it
stopped.

  braid reembed --collection wiki --embedder bge-small-en-v1.5)",
    .flags = kReembedFlags,
    .run = run_reembed,
    .whole_database = true,
};

}  // namespace braid::cli
