#include <string>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"
#include "braid/wire/check_json.hpp"

namespace braid::cli {
namespace {

constexpr FlagSpec kCheckFlags[] = {
    {.name = "deleted", .help = "fail if something deleted is still in the files"},
};

std::string check_summary(const CheckReport& report) {
    std::string out = core::count_of(report.collections, "collection", "collections") + ", " +
                      core::count_of(report.chunks, "chunk", "chunks") + ", " +
                      core::count_of(report.records, "record", "records");
    if (report.superseded > 0) {
        out += " (" + core::count_of(report.superseded, "write", "writes") +
               " superseded by later ones)";
    }
    return out + ", " + core::byte_size(report.bytes);
}

Result<> run_check(Session& session) {
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const CheckReport report, service->run(service::CheckRequest{}));
    if (session.json()) {
        session.out.json(wire::check_to_value(report));
    } else {
        for (const auto* const lines : {&report.problems, &report.unfinished}) {
            for (const std::string& line : *lines) session.out.line(plain(line));
        }
        for (const std::string& line : report.notes) session.note("note: " + plain(line));
    }
    if (!report.problems.empty()) {
        return fail(ErrorCode::Corruption,
                    "the database is damaged: " +
                        core::count_of(report.problems.size(), "problem", "problems") + " in " +
                        check_summary(report));
    }
    const std::uint64_t superseded = report.superseded;
    if (session.arguments.has("deleted") && superseded > 0) {
        return fail(
            ErrorCode::Conflict,
            core::grouped(superseded) +
                (superseded == 1 ? " write that was deleted or replaced, or has expired, is"
                                 : " writes that were deleted or replaced, or have expired, are") +
                " still in the files; \"braid purge\" removes them");
    }
    if (!report.unfinished.empty()) {
        return fail(
            ErrorCode::Unavailable,
            "nothing is damaged in " + check_summary(report) + ", but " +
                core::count_of(report.unfinished.size(), "collection is", "collections are") +
                " unfinished and cannot be read; import again, or drop what is there");
    }
    if (session.json() || session.quiet()) return {};
    session.out.line("Clean: " + check_summary(report) + ".");
    return {};
}

}  // namespace

const CommandSpec kCheckCommand{
    .name = "check",
    .operands = "",
    .summary = "verify that nothing is damaged",
    .details = R"(Reads every file, verifies the order and the checksums of all records, and
compares both indexes and their statistics with the records. Changes nothing.
Prints a line for each problem and exits with 4 if there is one; with 1 if
nothing is damaged but an import is unfinished. Notes on standard error name
what is harmless: writes that a crash interrupted, unknown files.

  braid check --data ~/notes
  braid check --json)",
    .flags = kCheckFlags,
    .run = run_check,
};

}  // namespace braid::cli
