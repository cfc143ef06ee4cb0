#include <string>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/config/socket_place.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"
#include "braid/wire/check_json.hpp"

namespace braid::cli {
namespace {

/// Copies `database` to `path`, interrupted by Ctrl-C.
Result<CheckReport> copy_to(const Session& session, const Database& database,
                            const std::string& path) {
    CallLimits limits;
    limits.stop = session.interrupts.token();
    auto report = database.backup(path, limits);
    if (!report && report.error().code == ErrorCode::Cancelled) {
        return fail(ErrorCode::Cancelled, "interrupted; " + path + " is not a database");
    }
    return report;
}

void tell_copied(const Session& session, const CheckReport& report, std::string_view done,
                 const std::string& path) {
    if (session.json()) {
        Value json = wire::check_to_value(report);
        json.as_object().set("path", Value(path));
        session.out.json(json);
        return;
    }
    for (const std::string& line : report.notes) session.warn(plain(line));
    if (!session.quiet()) {
        session.out.line(std::string(done) + core::count_of(report.chunks, "chunk", "chunks") +
                         " of " + core::count_of(report.collections, "collection", "collections") +
                         " (" + core::byte_size(report.bytes) + ") to " + path + ", and checked.");
    }
}

Result<> run_backup(Session& session) {
    const std::string& path = session.arguments.operands.front();
    session.interrupts.hold();
    constexpr int attempts = 3;
    for (int attempt = 1;; ++attempt) {
        BRAID_TRY(const auto database, session.open_for_reading());
        const auto report = copy_to(session, database, path);
        // Whoever writes to the database may have dropped or rewritten a collection meanwhile.
        if (!report && report.error().code == ErrorCode::Unavailable && attempt < attempts) {
            continue;
        }
        if (!report) return tl::unexpected<Error>(report.error());
        tell_copied(session, *report, "Copied ", path);
        return {};
    }
}

Result<> run_restore(Session& session) {
    BRAID_CHECK(session.need_folder());
    const std::string& source = session.arguments.operands.front();
    if (served_socket(session.data())) {
        return fail(ErrorCode::Locked,
                    "database " + session.data() + " is being served; stop the server first");
    }
    session.interrupts.hold();
    OpenOptions options;
    options.create = false;
    options.read_only = true;
    BRAID_TRY(const auto database, Database::open(source, options));
    CallLimits limits;
    limits.stop = session.interrupts.token();
    BRAID_TRY(const CheckReport checked, database.check(limits));
    if (!checked.problems.empty()) {
        for (const std::string& problem : checked.problems) session.warn(problem);
        return fail(ErrorCode::Corruption,
                    source + " is damaged; nothing was restored: " + checked.problems.front());
    }
    if (checked.collections == 0) {
        return fail(ErrorCode::NotFound, "there is no collection in " + source +
                                             ": is it a backup? Nothing was restored");
    }
    for (const std::string& line : checked.notes) session.note("note: " + plain(line));
    BRAID_TRY(const CheckReport report, copy_to(session, database, session.data()));
    tell_copied(session, report, "Restored ", session.data());
    return {};
}

}  // namespace

const CommandSpec kBackupCommand{
    .name = "backup",
    .operands = "DIR",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "copy the whole database to a new directory",
    .details = R"(DIR must be missing or empty. When the command ends, the copy is on disk and
checked. It is a database like any other, and does not open until it is
complete. The database may be in use or served meanwhile. Each collection is
copied as of one point in time, the same for all if nobody writes.

  braid backup ~/backup/notes-monday --data ~/notes
  braid restore ~/backup/notes-monday --data ~/notes-again)",
    .flags = {},
    .run = run_backup,
    .whole_database = true,
    .former_name = "snapshot",
};

const CommandSpec kRestoreCommand{
    .name = "restore",
    .operands = "DIR",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "restore a database from a backup",
    .details = R"(Checks the backup in DIR, then copies it to --data, which must be missing or
empty.

  braid restore ~/backup/notes-monday --data ~/notes)",
    .flags = {},
    .run = run_restore,
    .whole_database = true,
};

}  // namespace braid::cli
