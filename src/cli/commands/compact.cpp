#include <string>
#include <utility>
#include <vector>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"
#include "braid/service/operation_json.hpp"

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

Result<service::CompactOutcome> compact(const Session& session, const service::Service& service,
                                        const std::string& name) {
    session.out.status(session.quiet() ? "" : "compacting \"" + name + "\"");
    auto report = service.run(service::CompactRequest{name});
    session.out.status({});
    return report;
}

std::string sizes(const CompactReport& report) {
    return core::byte_size(report.bytes_before) + " before, " +
           core::byte_size(report.bytes_after) + " now";
}

Result<> run_compact(Session& session) {
    BRAID_TRY(const auto service, session.service_for_writing(false));
    BRAID_TRY(const std::string name, session.collection_to_read(*service));
    BRAID_TRY(const service::CompactOutcome report, compact(session, *service, name));
    if (session.json()) {
        session.out.json(service::output_to_value<service::CompactRequest>(report));
    } else if (!session.quiet()) {
        session.out.line("Collection \"" + name + "\": " + sizes(report.sizes) + ", " +
                         core::count_of(report.sizes.chunks, "chunk", "chunks") + ".");
    }
    return {};
}

Result<std::vector<std::string>> collections_to_purge(const Session& session,
                                                      const service::Service& service) {
    if (const auto name = session.arguments.text("collection")) return std::vector{*name};
    BRAID_TRY(const auto infos, service.run(service::CollectionsRequest{}));
    std::vector<std::string> names;
    names.reserve(infos.size());
    for (const CollectionInfo& info : infos) names.push_back(info.name);
    return names;
}

Result<> run_purge(Session& session) {
    BRAID_TRY(const auto service, session.service_for_writing(false));
    BRAID_TRY(const auto names, collections_to_purge(session, *service));
    std::vector<service::CompactOutcome> reports;
    for (int round = 1;; ++round) {
        reports.clear();
        for (const std::string& name : names) {
            BRAID_TRY(reports.emplace_back(), compact(session, *service, name));
        }
        if (session.arguments.has("collection")) break;
        BRAID_TRY(const CheckReport checked, service->run(service::CheckRequest{}));
        if (checked.superseded == 0) break;
        if (round == kPurgeRounds) {
            return fail(ErrorCode::Conflict,
                        "the database is being written to: " +
                            core::count_of(checked.superseded, "write was", "writes were") +
                            " superseded meanwhile; purge again once writing stops");
        }
    }
    if (session.json()) {
        Array list;
        for (const service::CompactOutcome& report : reports) {
            list.push_back(service::output_to_value<service::CompactRequest>(report));
        }
        session.out.json(Object{{"collections", std::move(list)}});
    } else if (!session.quiet()) {
        for (const service::CompactOutcome& report : reports) {
            session.out.line("Collection \"" + report.collection + "\": " + sizes(report.sizes) +
                             ".");
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
