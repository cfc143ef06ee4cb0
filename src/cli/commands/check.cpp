#include <string>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"

namespace braid::cli {
namespace {

constexpr FlagSpec kCheckFlags[] = {
    {.name = "deleted", .help = "fail if something deleted is still in the files"},
};

std::string check_summary(const Value& report) {
    const auto counted = [&](std::string_view key, const char* one, const char* many) {
        return core::count_of(service::number_in(report, key), one, many);
    };
    std::string out = counted("collections", "collection", "collections") + ", " +
                      counted("chunks", "chunk", "chunks") + ", " +
                      counted("records", "record", "records");
    if (service::number_in(report, "superseded") > 0) {
        out += " (" + counted("superseded", "write", "writes") + " made void by later ones)";
    }
    return out + ", " + core::byte_size(service::number_in(report, "bytes"));
}

Result<> run_check(Session& session) {
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const Value report, service->call("check", {}));
    const Array& problems = service::list_in(report, "problems");
    const Array& unfinished = service::list_in(report, "unfinished");
    if (session.json()) {
        session.out.json(report);
    } else {
        for (const Array* const lines : {&problems, &unfinished}) {
            for (const Value& line : *lines) {
                session.out.line(plain(line.is_string() ? line.as_string() : ""));
            }
        }
        for (const Value& line : service::list_in(report, "notes")) {
            session.note("note: " + plain(line.is_string() ? line.as_string() : ""));
        }
    }
    if (!problems.empty()) {
        return fail(
            ErrorCode::Corruption,
            "the database is damaged: " + core::count_of(problems.size(), "problem", "problems") +
                " in " + check_summary(report));
    }
    const std::uint64_t superseded = service::number_in(report, "superseded");
    if (session.arguments.has("deleted") && superseded > 0) {
        return fail(
            ErrorCode::Conflict,
            core::grouped(superseded) +
                (superseded == 1 ? " write that was deleted or replaced, or has expired, is"
                                 : " writes that were deleted or replaced, or have expired, are") +
                " still in the files; \"braid purge\" removes them");
    }
    if (!unfinished.empty()) {
        return fail(ErrorCode::Unavailable,
                    "nothing is damaged in " + check_summary(report) + ", but " +
                        core::count_of(unfinished.size(), "collection is", "collections are") +
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
