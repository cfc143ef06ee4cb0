#include <string>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/config/socket_place.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"

namespace braid::cli {
namespace {

Value repair_to_value(const RepairReport& report) {
    Array repaired;
    for (const RepairReport::Repaired& one : report.repaired) {
        repaired.emplace_back(Object{{"collection", Value(one.collection)},
                                     {"records", one.records},
                                     {"chunks", one.chunks},
                                     {"kept", Value(one.kept)},
                                     {"lost", Array(one.lost.begin(), one.lost.end())}});
    }
    return Object{{"repaired", std::move(repaired)},
                  {"unrepairable", Array(report.unrepairable.begin(), report.unrepairable.end())}};
}

void show_repair(Output& out, const RepairReport& report) {
    for (const RepairReport::Repaired& one : report.repaired) {
        for (const std::string& line : one.lost) out.line(plain(line));
        const bool rebuilt = one.records + one.chunks > 0;
        out.line("Collection \"" + one.collection + "\" is repaired" +
                 (rebuilt ? ": " + core::count_of(one.records, "record", "records") +
                                " could be read, " + core::count_of(one.chunks, "chunk", "chunks") +
                                " of them live."
                          : ".") +
                 (one.kept.empty() ? "" : " What was damaged is kept as " + plain(one.kept) + "."));
    }
    if (report.repaired.empty() && report.unrepairable.empty()) out.line("Nothing is damaged.");
}

Result<> run_repair(Session& session) {
    BRAID_CHECK(session.need_folder());
    if (served_socket(session.data())) {
        return fail(ErrorCode::Locked,
                    "database " + session.data() + " is being served; stop the server first");
    }
    session.interrupts.hold();
    BRAID_TRY(const RepairReport report, Database::repair(session.data()));
    if (session.json()) {
        session.out.json(repair_to_value(report));
    } else {
        show_repair(session.out, report);
    }
    for (const std::string& line : report.unrepairable) session.warn(plain(line));
    if (!report.unrepairable.empty()) {
        return fail(ErrorCode::Corruption,
                    core::count_of(report.unrepairable.size(), "collection", "collections") +
                        " cannot be repaired");
    }
    if (report.repaired.empty()) return {};
    // A script that runs it must learn that there was damage.
    return fail(ErrorCode::Corruption,
                core::count_of(report.repaired.size(), "collection was", "collections were") +
                    " damaged, and rebuilt from what could be read");
}

}  // namespace

const CommandSpec kRepairCommand{
    .name = "repair",
    .operands = "",
    .summary = "rebuild damaged collections from what is readable",
    .details = R"(For a database that "braid check" finds damaged and that nobody has open.
Rebuilds each damaged collection from every readable record, including those
after the damage, names what is lost, and keeps what was damaged. Restores a
lost manifest from its copy. Does not touch intact collections. Restoring a
backup, if there is one, loses less. Exits with 4 if something was damaged,
with 0 if nothing was.

  braid check || braid repair)",
    .flags = {},
    .run = run_repair,
    .whole_database = true,
};

}  // namespace braid::cli
