#include <string>
#include <vector>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"

namespace braid::cli {
namespace {

constexpr FlagSpec kCompactFlags[] = {kCollectionFlag};
constexpr FlagSpec kPurgeFlags[] = {
    {.name = "collection",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "only this one (default: all)"},
};
constexpr int kPurgeRounds = 5;

Result<Value> compact(const Session& session, const service::Service& service,
                      const std::string& name) {
    session.out.status(session.quiet() ? "" : "compacting \"" + name + "\"");
    auto report = service.call("compact", {{"collection", Value(name)}});
    session.out.status({});
    return report;
}

std::string sizes(const Value& report) {
    return core::byte_size(service::number_in(report, "bytes_before")) + " before, " +
           core::byte_size(service::number_in(report, "bytes_after")) + " now";
}

Result<> run_compact(Session& session) {
    BRAID_TRY(const auto service, session.service_for_writing(false));
    BRAID_TRY(const std::string name, session.collection_to_read(*service));
    BRAID_TRY(const Value report, compact(session, *service, name));
    if (session.json()) {
        session.out.json(report);
    } else if (!session.quiet()) {
        session.out.line("Collection \"" + name + "\": " + sizes(report) + ", " +
                         core::count_of(service::number_in(report, "chunks"), "chunk", "chunks") +
                         ".");
    }
    return {};
}

Result<std::vector<std::string>> collections_to_purge(const Session& session,
                                                      const service::Service& service) {
    if (const auto name = session.arguments.text("collection")) return std::vector{*name};
    BRAID_TRY(const Value listed, service.call("collections", {}));
    std::vector<std::string> names;
    for (const Value& info : service::list_in(listed, "collections")) {
        names.push_back(service::text_in(info, "name"));
    }
    return names;
}

Result<> run_purge(Session& session) {
    BRAID_TRY(const auto service, session.service_for_writing(false));
    BRAID_TRY(const auto names, collections_to_purge(session, *service));
    Array reports;
    for (int round = 1;; ++round) {
        reports.clear();
        for (const std::string& name : names) {
            BRAID_TRY(Value report, compact(session, *service, name));
            reports.push_back(std::move(report));
        }
        if (session.arguments.has("collection")) break;
        BRAID_TRY(const Value checked, service->call("check", {}));
        const std::uint64_t left = service::number_in(checked, "superseded");
        if (left == 0) break;
        if (round == kPurgeRounds) {
            return fail(ErrorCode::Conflict,
                        "the database is being written to: " +
                            core::count_of(left, "write was", "writes were") +
                            " made void meanwhile; purge it again when it is quiet");
        }
    }
    if (session.json()) {
        session.out.json(Object{{"collections", std::move(reports)}});
    } else if (!session.quiet()) {
        for (const Value& report : reports) {
            session.out.line("Collection \"" + service::text_in(report, "collection") +
                             "\": " + sizes(report) + ".");
        }
        if (session.arguments.has("collection")) return {};  // only the whole is verified
        session.out.line("Nothing that was deleted or replaced is left in these files.");
    }
    return {};
}

}  // namespace

const CommandSpec kCompactCommand{
    .name = "compact",
    .operands = "",
    .summary = "shrink a collection's files",
    .details = R"(Rewrites the files without deleted and replaced chunks. The collection stays in
use, and no answer changes. "braid check" says how much can be removed.

  braid compact --collection notes)",
    .flags = kCompactFlags,
    .run = run_compact,
};

const CommandSpec kPurgeCommand{
    .name = "purge",
    .operands = "",
    .summary = "remove what was deleted from the files",
    .details = R"(A delete hides chunks at once, but their text stays in the files until those are
rewritten. This rewrites all of them, then verifies that nothing is left ("braid
check --deleted" verifies it again). It does not touch backups and exports, nor
what the file system or the disk itself may keep.

  braid delete --document contract-17 && braid purge)",
    .flags = kPurgeFlags,
    .run = run_purge,
};

}  // namespace braid::cli
